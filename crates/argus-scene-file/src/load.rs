//! From a file to a scene.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argus_abi::RuntimeKind;
use argus_chip::Chip;
use argus_facts::{OriginFile, SceneOrigin};
use argus_loaded::Log;
use argus_runtime::{RINGS, RunConfig};
use argus_scene::{Case, Configure, Golden, PrepareError, Prepared, Scene, SceneSource, Tolerance};

use crate::error::SceneFileError;
use crate::file::{CaseText, SceneFile, ToleranceText};
use crate::inputs::{Arguments, arguments};
use crate::program::{Build, Made, scene_file};
use crate::words;

/// Makes scenes out of paths: a `scene.toml`, or a directory with one.
#[derive(Clone)]
pub struct SceneFiles {
    /// The compiler to use, if one was named.
    pub cxx: Option<OsString>,
    /// Takes what orchestrations have to say.
    pub log: Log,
}

impl SceneSource for SceneFiles {
    fn scenes(&self, name: &str) -> Option<Result<Vec<Scene>, PrepareError>> {
        let path = scene_file(Path::new(name))?;
        Some(load(&path, self).map(|scene| vec![scene]).map_err(PrepareError::new))
    }
}

/// A file that was read, with the directory its paths are relative to.
struct Loaded {
    file: SceneFile,
    path: PathBuf,
    text: String,
    directory: PathBuf,
    settings: SceneFiles,
}

/// The scene in a file. Its sources are compiled when a case is prepared, not now.
pub fn load(path: &Path, settings: &SceneFiles) -> Result<Scene, SceneFileError> {
    let unreadable = |source| SceneFileError::Read { path: path.into(), source };
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(SceneFileError::NotRegular { path: path.into() });
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let mut file: SceneFile = toml::from_str(&text)
        .map_err(|error| SceneFileError::Syntax { path: path.into(), text: error.to_string() })?;
    if file.kernels.is_empty() {
        return Err(SceneFileError::NoKernels);
    }
    if file.cases.is_empty() {
        file.cases.push(CaseText::default());
    }
    let runtime = words::runtime(&file.runtime)?;
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let directory = fs::canonicalize(parent).map_err(unreadable)?;
    let full = fs::canonicalize(path).map_err(unreadable)?;
    let loaded = Arc::new(Loaded { file, path: full, text, directory, settings: settings.clone() });
    let mut scene = Scene::new(&loaded.file.name, &loaded.file.about);
    for (index, case) in loaded.file.cases.iter().enumerate() {
        if scene.cases.iter().any(|other| other.name == case.name) {
            return Err(SceneFileError::Twice(format!("case '{}'", case.name)));
        }
        loaded.tolerance(case)?;
        let of_case = Arc::clone(&loaded);
        let made = Case::prepared_by(&case.name, &[runtime], move |runtime, chip| {
            of_case.prepare(&of_case.file.cases[index], runtime, chip).map_err(PrepareError::new)
        });
        let of_case = Arc::clone(&loaded);
        let made = made.program_by(move |runtime, chip| {
            let made = of_case.build(runtime, chip).program(&of_case.file.cases[index]);
            made.map(|made| made.program).map_err(PrepareError::new)
        });
        let made = case.aliases.iter().fold(made, |made, alias| made.alias(alias));
        scene = scene.with_case(made.machine(case.block_dim, case.control_threads));
    }
    Ok(scene)
}

impl Loaded {
    fn tolerance(&self, case: &CaseText) -> Result<Tolerance, SceneFileError> {
        let ToleranceText { rtol, atol } = case.tolerance.unwrap_or(self.file.tolerance);
        Tolerance::new(rtol, atol).map_err(SceneFileError::Tolerance)
    }

    fn build(&self, runtime: RuntimeKind, chip: &'static Chip) -> Build<'_> {
        Build { file: &self.file, directory: &self.directory, settings: &self.settings, runtime, chip }
    }

    /// Where a program came from: this file, and every source of its author's.
    fn origin(&self, made: &Made) -> SceneOrigin {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = OriginFile { name, text: self.text.clone() };
        let sources = made.sources.iter().map(|source| OriginFile {
            name: source.path.clone().into_owned(),
            text: source.text.clone().into_owned(),
        });
        SceneOrigin {
            path: self.path.display().to_string(),
            files: std::iter::once(own).chain(sources).collect(),
            commands: made.commands.clone(),
        }
    }

    fn prepare(
        &self,
        case: &CaseText,
        runtime: RuntimeKind,
        chip: &'static Chip,
    ) -> Result<Prepared, SceneFileError> {
        // Inputs first: a file that is missing is found sooner than a source that does not compile.
        let Arguments { args, expected } = arguments(&self.file, case, &self.directory)?;
        let made = self.build(runtime, chip).program(case)?;
        let origin = Arc::new(self.origin(&made));
        let golden: Option<Golden> = match expected {
            none if none.is_empty() => None,
            expected => Some(Box::new(move |_| Ok(expected.clone()))),
        };
        Ok(Prepared {
            program: made.program,
            args,
            tolerance: self.tolerance(case)?,
            golden,
            configure: configure(case),
            origin: Some(origin),
        })
    }
}

fn configure(case: &CaseText) -> Configure {
    let (window, heap, dep_pool) = (case.ring_window, case.ring_heap, case.ring_dep_pool);
    Box::new(move |config: &mut RunConfig| {
        for ring in config.rings.iter_mut().take(RINGS) {
            ring.window = window.unwrap_or(ring.window);
            ring.heap = heap.unwrap_or(ring.heap);
            ring.dep_pool = dep_pool.unwrap_or(ring.dep_pool);
        }
    })
}
