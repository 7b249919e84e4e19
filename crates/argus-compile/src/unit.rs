//! One object to be made, and its command line.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use argus_abi::{CoreType, RuntimeKind};
use argus_chip::Chip;

use crate::error::CompileError;
use crate::generation::Generation;
use crate::toolchain::{Kind, Toolchain};

/// A source and what it is compiled for.
#[derive(Clone, Debug)]
pub struct Unit {
    pub source: PathBuf,
    pub role: Role,
    pub generation: Generation,
    pub chip: &'static Chip,
    pub runtime: RuntimeKind,
    /// Looked at after the tool's own headers.
    pub include_dirs: Vec<PathBuf>,
    /// As after `-D`: `NAME` or `NAME=VALUE`.
    pub defines: Vec<String>,
    /// The directory that the scene lies in. Objects know files below it by their names in it, so a copy of the
    /// directory gives the same objects.
    pub root: Option<PathBuf>,
    /// For a debugger: nothing is optimised, everything can be seen, and files have their full names.
    pub debug: bool,
}

/// What an object is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    Kernel(CoreType),
    Orchestration,
}

impl Role {
    /// The file with the part of an object that is ours.
    pub(crate) fn support(self) -> &'static str {
        match self {
            Role::Kernel(_) => "argus/support/kernel.cpp",
            Role::Orchestration => "argus/support/orchestration.cpp",
        }
    }
}

impl Unit {
    /// The directory of headers for this generation, chip and runtime. Nothing else tells a source what it is compiled
    /// for: the public build has no define for it.
    pub(crate) fn front(&self, headers: &Path) -> Result<PathBuf, CompileError> {
        let (generation, arch, runtime) = (self.generation.name(), self.chip.hardware, self.runtime.short());
        let front = headers.join(generation).join(arch).join(runtime);
        if front.is_dir() {
            return Ok(front);
        }
        Err(CompileError::NoHeaders { generation, runtime, arch })
    }

    /// Everything after the compiler's name that decides what code comes out, without input and output.
    pub(crate) fn arguments(
        &self,
        toolchain: &Toolchain,
        headers: &Path,
    ) -> Result<Vec<OsString>, CompileError> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |text: &str| arguments.push(text.into());
        // The same bits on every machine: no contraction, no assumptions about floats.
        for flag in ["-std=c++20", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing", "-pthread"] {
            add(flag);
        }
        for flag in if self.debug { ["-O0", "-g3"] } else { ["-O2", "-g1"] } {
            add(flag);
        }
        add(match toolchain.kind {
            // Objects with the same names must not share anything.
            Kind::Gcc => "-fno-gnu-unique",
            // Existing sources put wide numbers into lists of narrow ones; g++ only warns of it.
            Kind::Clang => "-Wno-c++11-narrowing",
        });
        // Attributes that only the vendor's compiler knows.
        for flag in ["-Wno-attributes", "-Wno-ignored-attributes"] {
            add(flag);
        }
        if let Role::Kernel(core_type) = self.role {
            // The last one is for kernels that include nothing; headers define it themselves.
            for define in ["-D__CPU_SIM", "-DNDEBUG", "-DPTO_CPU_MAX_THREADS=1", "-D__aicore__="] {
                add(define);
            }
            add(match core_type {
                CoreType::Aiv => "-D__DAV_VEC__",
                CoreType::Aic => "-D__DAV_CUBE__",
            });
            add("-include");
            arguments.push(headers.join("argus/support/kernel_entry.h").into());
        }
        let mut add = |text: &str| arguments.push(text.into());
        for define in &self.defines {
            add(&format!("-D{define}"));
        }
        let front = self.front(headers)?;
        let ours = [headers, &front];
        for directory in ours.into_iter().chain(self.include_dirs.iter().map(PathBuf::as_path)) {
            arguments.push("-I".into());
            arguments.push(directory.into());
        }
        Ok(arguments)
    }

    /// What an object must have to be loaded is asked for when it is linked.
    pub(crate) fn complete(&self) -> Option<&'static str> {
        matches!(self.role, Role::Kernel(_)).then_some("-Wl,-z,defs")
    }

    /// What makes an object forget where the scene lies, and where the compiler was started.
    pub(crate) fn forget_root(&self) -> Vec<OsString> {
        let Some(root) = self.root.as_ref().filter(|_| !self.debug) else { return Vec::new() };
        let flag = |flag: &str, from: &Path, to: &str| {
            let mut flag = OsString::from(flag);
            flag.push(from);
            flag.push(to);
            flag
        };
        let here = std::env::current_dir().ok().map(|here| flag("-fdebug-prefix-map=", &here, "=."));
        // The last one that fits counts.
        here.into_iter().chain([flag("-ffile-prefix-map=", root, "/=")]).collect()
    }

    /// Where a header may be found, in the order in which the compiler looks.
    pub(crate) fn search_path(&self, headers: &Path) -> Result<Vec<PathBuf>, CompileError> {
        let beside = self.source.parent().map(Path::to_owned).unwrap_or_default();
        let front = self.front(headers)?;
        Ok([beside, headers.to_owned(), front].into_iter().chain(self.include_dirs.iter().cloned()).collect())
    }
}
