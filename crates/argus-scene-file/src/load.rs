//! From a file to a scene.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argus_abi::{FuncId, RuntimeKind};
use argus_chip::Chip;
use argus_facts::{OriginFile, SceneOrigin};
use argus_loaded::Log;
use argus_runtime::{RINGS, RunConfig};
use argus_scene::{
    Case, Configure, DebugProgram, Golden, PrepareError, Prepared, Registry, Scene, SceneError, SceneSource,
    Tolerance,
};

use crate::error::SceneFileError;
use crate::file::{CaseText, SceneFile, ToleranceText};
use crate::inputs::{Arguments, arguments};
use crate::program::{Build, Made, scene_file};
use crate::shipped::Home;
use crate::twin::Twin;
use crate::words;

/// Makes scenes out of paths: a `scene.toml`, or a directory with one.
#[derive(Clone)]
pub struct SceneFiles {
    /// The compiler to use, if one was named.
    pub cxx: Option<OsString>,
    /// Takes what orchestrations have to say.
    pub log: Log,
    /// Scenes that a file may name as its twin.
    pub twins: Vec<Arc<Scene>>,
}

impl SceneFiles {
    /// Scenes in C++ for a registry: those that ship get their names, others are found behind paths. What is registered
    /// so far may be their twin.
    pub fn add_to(registry: &mut Registry, cxx: Option<OsString>, log: Log) -> Result<(), SceneError> {
        let files = SceneFiles { cxx, log, twins: registry.scenes().to_vec() };
        let unreadable =
            |error| SceneError::Source { name: "scenes".to_owned(), source: PrepareError::new(error) };
        for scene in crate::shipped(&files).map_err(unreadable)? {
            registry.add(scene)?;
        }
        registry.add_source(files);
        Ok(())
    }
}

impl SceneSource for SceneFiles {
    fn scenes(&self, name: &str) -> Option<Result<Vec<Scene>, PrepareError>> {
        let made = match scene_file(Path::new(name)) {
            Some(path) => load(&path, self).map(|scene| vec![scene]),
            None if Path::new(name).is_dir() => Err(SceneFileError::NoSceneFile),
            None => return None,
        };
        Some(made.map_err(PrepareError::new))
    }
}

/// A file that was read.
struct Loaded {
    file: SceneFile,
    text: String,
    home: Home,
    twin: Option<Twin>,
    settings: SceneFiles,
}

/// The scene in a file. Its sources are compiled when a case is prepared, not now.
pub fn load(path: &Path, settings: &SceneFiles) -> Result<Scene, SceneFileError> {
    let unreadable = |source| SceneFileError::Read { path: path.into(), source };
    let bytes = argus_files::read(path, argus_files::LARGEST_TEXT).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| SceneFileError::NotText { path: path.into() })?;
    let full = fs::canonicalize(path).map_err(unreadable)?;
    from_text(&text, Home::File(full), settings)
}

/// The scene that a text describes.
pub(crate) fn from_text(text: &str, home: Home, settings: &SceneFiles) -> Result<Scene, SceneFileError> {
    let mut file: SceneFile = toml::from_str(text).map_err(|error| {
        let path = match &home {
            Home::File(path) => path.clone(),
            Home::Shipped(_) => PathBuf::from(crate::shipped::SCENE_FILE),
        };
        SceneFileError::Syntax { path, text: error.to_string() }
    })?;
    if file.kernels.is_empty() {
        return Err(SceneFileError::NoKernels);
    }
    let runtime = words::runtime(&file.runtime)?;
    let twin = Twin::find(&file, settings)?;
    match &twin {
        Some(twin) => twin.fill(&mut file, runtime)?,
        None if file.cases.is_empty() => file.cases.push(CaseText::default()),
        None => {
            if let Some(case) = file.cases.iter().find(|case| case.twin.is_some()) {
                return Err(SceneFileError::NoTwin { case: case.name.clone() });
            }
        }
    }
    let loaded = Arc::new(Loaded { file, text: text.to_owned(), home, twin, settings: settings.clone() });
    let mut scene = Scene::new(&loaded.file.name, &loaded.file.about);
    scene.references = loaded.twin.as_ref().and_then(Twin::references);
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
            let made = of_case.make(&of_case.file.cases[index], runtime, chip, &[]);
            made.map(|(made, _)| made.program).map_err(PrepareError::new)
        });
        let of_case = Arc::clone(&loaded);
        let made = made.debug_by(move |runtime, chip, kernels| {
            let made = of_case.make(&of_case.file.cases[index], runtime, chip, kernels);
            made.map(|(made, _)| DebugProgram { program: made.program, sources: made.debugged })
                .map_err(PrepareError::new)
        });
        let made = case.aliases.iter().fold(made, |made, alias| made.alias(alias));
        scene = scene.with_case(made.machine(case.block_dim, case.control_threads));
    }
    Ok(scene)
}

impl Loaded {
    fn tolerance(&self, case: &CaseText) -> Result<Tolerance, SceneFileError> {
        let ToleranceText { rtol, atol } = case.tolerance.or(self.file.tolerance).unwrap_or_default();
        Tolerance::new(rtol, atol).map_err(SceneFileError::Tolerance)
    }

    /// The program of a case, and the file that describes it.
    fn make(
        &self,
        case: &CaseText,
        runtime: RuntimeKind,
        chip: &'static Chip,
        debug: &[FuncId],
    ) -> Result<(Made, PathBuf), SceneFileError> {
        let path = self.home.file()?;
        let directory = directory(&path);
        let (file, settings) = (&self.file, &self.settings);
        let build = Build { file, directory: &directory, settings, runtime, chip, debug };
        Ok((build.program(case)?, path))
    }

    /// Where a program came from: this file, and every source of its author's.
    fn origin(&self, made: &Made, path: &Path) -> SceneOrigin {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let own = OriginFile { name, text: self.text.clone() };
        let sources = made.sources.iter().map(|source| OriginFile {
            name: source.path.clone().into_owned(),
            text: source.text.clone().into_owned(),
        });
        SceneOrigin {
            path: path.display().to_string(),
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
        if let Some(twin) = &self.twin {
            let like = twin.prepare(case, runtime, chip)?;
            let (made, path) = self.make(case, runtime, chip, &[])?;
            let origin = Some(Arc::new(self.origin(&made, &path)));
            return Ok(Prepared { program: made.program, origin, ..like });
        }
        // Inputs first: a file that is missing is found sooner than a source that does not compile.
        let Arguments { args, expected } = arguments(&self.file, case, &directory(&self.home.file()?))?;
        let (made, path) = self.make(case, runtime, chip, &[])?;
        let origin = Arc::new(self.origin(&made, &path));
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

/// The directory that paths in a scene's file are relative to.
fn directory(file: &Path) -> PathBuf {
    file.parent().map(Path::to_owned).unwrap_or_default()
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
