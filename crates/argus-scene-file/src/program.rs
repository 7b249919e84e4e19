//! The program of a case: its sources compiled and loaded.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argus_abi::{ArgDirection, FuncId, RuntimeKind};
use argus_chip::Chip;
use argus_compile::{Compiler, Generation, Object, Role, SourceText, Unit};
use argus_loaded::{LoadedKernel, LoadedOrchestration};
use argus_runtime::{KernelEntry, KernelTable, Program, SourceFile};

use crate::error::SceneFileError;
use crate::file::{CaseText, KernelText, SceneFile};
use crate::load::SceneFiles;
use crate::shipped::SCENE_FILE;
use crate::words;

/// How the sources of a scene are compiled.
pub struct Build<'a> {
    pub file: &'a SceneFile,
    /// The directory of the file.
    pub directory: &'a Path,
    pub settings: &'a SceneFiles,
    pub runtime: RuntimeKind,
    pub chip: &'static Chip,
    /// Kernels that are compiled for a debugger.
    pub debug: &'a [FuncId],
}

/// A program and what it was made from.
#[derive(Debug)]
pub struct Made {
    pub program: Program,
    /// Every file of the author's, once.
    pub sources: Vec<SourceFile>,
    /// One for each object, as it can be typed.
    pub commands: Vec<String>,
    /// What the compiler had to say.
    pub warnings: Vec<String>,
    /// Sources of the kernels that were compiled for a debugger, under their full names.
    pub debugged: Vec<PathBuf>,
}

impl Build<'_> {
    /// The program of a case.
    pub fn program(&self, case: &CaseText) -> Result<Made, SceneFileError> {
        let generation = self.generation()?;
        let orchestration = &self.file.orchestration;
        let mut units = vec![self.unit(
            &orchestration.source,
            Role::Orchestration,
            &orchestration.defines,
            case,
            generation,
        )];
        for kernel in &self.file.kernels {
            let core_type = words::core_type(&kernel.core, &format!("core of kernel '{}'", kernel.name))?;
            let role = Role::Kernel(core_type);
            let unit = self.unit(&kernel.source, role, &kernel.defines, case, generation);
            units.push(Unit { debug: self.debug.contains(&FuncId(kernel.func_id)), ..unit });
        }
        let compiler = Compiler::find(self.settings.cxx.as_deref())?;
        let objects = compiler.compile(&units)?;
        let (entry, config) = (orchestration.entry.as_deref(), orchestration.config.as_deref());
        let log = Arc::clone(&self.settings.log);
        let loaded = LoadedOrchestration::open(&objects[0].path, entry, config, log)
            .map_err(|source| SceneFileError::Orchestration { path: units[0].source.clone(), source })?;
        let kernels = self.file.kernels.iter().zip(&objects[1..]);
        let kernels =
            kernels.map(|(kernel, object)| self.entry_of(kernel, object)).collect::<Result<Vec<_>, _>>()?;
        let program =
            Program { orchestration: loaded.into_orchestration(), kernels: KernelTable::new(kernels)? };
        let debugged = units.iter().zip(&objects).filter(|(unit, _)| unit.debug);
        let debugged = debugged.filter_map(|(_, object)| Some(object.sources.first()?.path.clone()));
        let debugged = debugged.collect();
        Ok(Made { debugged, ..Made::new(program, &objects) })
    }

    fn unit(
        &self,
        source: &Path,
        role: Role,
        defines: &[String],
        case: &CaseText,
        generation: Generation,
    ) -> Unit {
        let build = &self.file.build;
        Unit {
            source: self.directory.join(source),
            role,
            generation,
            chip: self.chip,
            runtime: self.runtime,
            include_dirs: build.include_dirs.iter().map(|path| self.directory.join(path)).collect(),
            defines: build.defines.iter().chain(&case.defines).chain(defines).cloned().collect(),
            root: Some(self.directory.into()),
            debug: false,
        }
    }

    fn entry_of(&self, kernel: &KernelText, object: &Object) -> Result<KernelEntry, SceneFileError> {
        let func_id = FuncId(kernel.func_id);
        let loaded = LoadedKernel::open(&object.path).map_err(|source| SceneFileError::Kernel {
            kernel: kernel.name.clone(),
            func_id,
            source,
        })?;
        let core_type = words::core_type(&kernel.core, &format!("core of kernel '{}'", kernel.name))?;
        let what = format!("signature of kernel '{}'", kernel.name);
        let signature = kernel.signature.iter().map(|word| words::direction(word, &what));
        let signature = signature.collect::<Result<Vec<ArgDirection>, _>>()?;
        let loaded = loaded.with_log(&kernel.name, Arc::clone(&self.settings.log));
        // Instructions name files as they were included.
        let sources: Vec<SourceFile> =
            object.sources.iter().map(|source| source_file(&source.spelled, source)).collect();
        Ok(KernelEntry::new(func_id, &kernel.name, core_type, &signature, loaded).with_sources(&sources))
    }

    /// The generation that the file names, or the one whose words its sources use.
    fn generation(&self) -> Result<Generation, SceneFileError> {
        if let Some(name) = &self.file.generation {
            return words::generation(name);
        }
        let kernels = self.file.kernels.iter().map(|kernel| &kernel.source);
        let paths = std::iter::once(&self.file.orchestration.source).chain(kernels);
        // A source that cannot be read is an error when it is compiled. Comments may be in any encoding.
        let read = |path| argus_files::read(&self.directory.join(path), argus_files::LARGEST_TEXT).ok();
        let texts = paths.filter_map(read).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let texts: Vec<String> = texts.collect();
        Ok(Generation::detect(texts.iter().map(String::as_str)))
    }
}

fn source_file(name: &Path, source: &SourceText) -> SourceFile {
    SourceFile {
        path: Cow::Owned(name.to_string_lossy().into_owned()),
        text: Cow::Owned(source.text.clone()),
    }
}

impl Made {
    fn new(program: Program, objects: &[Object]) -> Made {
        let mut sources: Vec<SourceFile> = Vec::new();
        let mut warnings: Vec<String> = Vec::new();
        for object in objects {
            for file in object.sources.iter().map(|source| source_file(&source.path, source)) {
                if !sources.iter().any(|other| other.path == file.path) {
                    sources.push(file);
                }
            }
            if !object.said.is_empty() && !warnings.contains(&object.said) {
                warnings.push(object.said.clone());
            }
        }
        let commands = objects.iter().map(|object| object.command.clone()).collect();
        Made { program, sources, commands, warnings, debugged: Vec::new() }
    }
}

/// Where a scene file lies: the path itself, or `scene.toml` in a directory.
pub fn scene_file(path: &Path) -> Option<PathBuf> {
    let inside = path.join(SCENE_FILE);
    if inside.is_file() {
        return Some(inside);
    }
    (path.extension().is_some_and(|extension| extension == "toml")).then(|| path.to_owned())
}
