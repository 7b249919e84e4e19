//! Which compiler, and which version of it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::error::CompileError;
use crate::known;

/// The oldest g++ that has the C++20 which kernels use.
const OLDEST_GCC: u32 = 12;
/// The oldest clang++ with the same.
const OLDEST_CLANG: u32 = 15;

/// A C++ compiler of this machine.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// As it was named, or as it is called on the search path.
    pub compiler: OsString,
    /// What it says of itself.
    pub version: String,
    pub kind: Kind,
    /// The program behind the command, if the command names it.
    pub(crate) inner: Option<PathBuf>,
    /// Stands for the compiler in the cache: another binary is another compiler.
    pub(crate) identity: u128,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    Gcc,
    Clang,
}

impl Toolchain {
    /// The compiler that was named, else the one in `CXX`, else g++, else clang++. It is asked what it is.
    pub fn find(named: Option<&OsStr>) -> Result<Toolchain, CompileError> {
        Toolchain::choose(named, ask)
    }

    /// The same, without asking a compiler whose files are as they were when `memory` learned what it is.
    pub fn find_known(named: Option<&OsStr>, memory: &Path) -> Result<Toolchain, CompileError> {
        Toolchain::choose(named, |name| known::recall(name, memory))
    }

    fn choose(
        named: Option<&OsStr>,
        open: impl Fn(OsString) -> Result<Toolchain, CompileError>,
    ) -> Result<Toolchain, CompileError> {
        let from_environment = env::var_os("CXX").filter(|name| !name.is_empty());
        if let Some(name) = named.map(OsStr::to_owned).or(from_environment) {
            return open(name);
        }
        for name in ["g++", "clang++"] {
            if on_path(Path::new(name)).is_some() {
                return open(name.into());
            }
        }
        Err(CompileError::NoCompiler { tried: "$CXX, g++ and clang++".into() })
    }
}

/// Asks a compiler what it is.
pub(crate) fn ask(compiler: OsString) -> Result<Toolchain, CompileError> {
    let shown = || compiler.to_string_lossy().into_owned();
    let said = |arguments: &[&str]| {
        let output = Command::new(&compiler)
            .args(arguments)
            .stdin(Stdio::null())
            .output()
            .map_err(|source| CompileError::CannotStart { compiler: shown(), source })?;
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    };
    // What it defines by itself says more than its name: `c++` may be either of them.
    let text = said(&["-dM", "-E", "-x", "c++", "/dev/null"])?;
    let (kind, found, needed) = match (defined(&text, "__clang_major__"), defined(&text, "__GNUC__")) {
        (Some(major), _) => (Kind::Clang, major, OLDEST_CLANG),
        (None, Some(major)) => (Kind::Gcc, major, OLDEST_GCC),
        (None, None) => return Err(CompileError::NotACompiler { compiler: shown() }),
    };
    let found = found.parse().unwrap_or(0);
    if found < needed {
        return Err(CompileError::TooOld { compiler: shown(), found, needed });
    }
    let version = defined(&text, "__VERSION__").unwrap_or_default().trim_matches('"').to_owned();
    // The command that is called may only be the front of the program that compiles.
    let inner = said(match kind {
        Kind::Gcc => &["-print-prog-name=cc1plus"],
        Kind::Clang => &["-print-prog-name=clang"],
    })?;
    let inner = Some(PathBuf::from(inner.trim_end())).filter(|path| path.is_absolute() && path.is_file());
    let identity = identity(on_path(Path::new(&compiler)).as_deref(), inner.as_deref(), &text);
    Ok(Toolchain { compiler, version, kind, inner, identity })
}

/// The value of a macro in a list of `#define NAME VALUE`.
fn defined<'a>(list: &'a str, name: &str) -> Option<&'a str> {
    list.lines().find_map(|line| line.strip_prefix("#define ")?.strip_prefix(name)?.strip_prefix(' '))
}

/// The file that a name stands for.
pub(crate) fn on_path(name: &Path) -> Option<PathBuf> {
    if name.components().count() > 1 {
        return fs::canonicalize(name).ok();
    }
    let can_start = |path: &PathBuf| {
        fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
    };
    let path = env::var_os("PATH")?;
    let mut places = env::split_paths(&path).map(|directory| directory.join(name));
    places.find(can_start).and_then(|path| fs::canonicalize(path).ok())
}

/// What it defines; place, size and age of its files.
fn identity(front: Option<&Path>, inner: Option<&Path>, defined: &str) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(defined.as_bytes());
    for path in [front, inner].into_iter().flatten() {
        hash.update(path.as_os_str().as_encoded_bytes());
        if let Ok(facts) = fs::metadata(path) {
            hash.update(&facts.size().to_le_bytes());
            hash.update(&facts.mtime().to_le_bytes());
            hash.update(&facts.mtime_nsec().to_le_bytes());
        }
    }
    hash.digest128()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_found_by_their_whole_name() {
        let list = "#define __GNUC_MINOR__ 2\n#define __GNUC__ 12\n#define __VERSION__ \"12.2.0\"\n";
        assert_eq!(defined(list, "__GNUC__"), Some("12"));
        assert_eq!(defined(list, "__VERSION__"), Some("\"12.2.0\""));
        assert_eq!(defined(list, "__clang_major__"), None);
    }
}
