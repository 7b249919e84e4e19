//! The scenes that a tool knows.

use std::sync::Arc;

use argus_abi::RuntimeKind;
use thiserror::Error;

use crate::scene::{PrepareError, Scene};

/// The scenes that a tool knows by name, and the ways to get more.
///
/// Commands ask it for a scene and never learn who filled it: scenes that ship, scenes of another crate, files, or
/// another language.
#[derive(Default)]
pub struct Registry {
    scenes: Vec<Arc<Scene>>,
    sources: Vec<Box<dyn SceneSource>>,
}

/// Makes scenes out of what a user names: a file, for instance.
pub trait SceneSource: Send + Sync {
    /// The scenes behind `name`, or `None` if it is not for this source to say.
    fn scenes(&self, name: &str) -> Option<Result<Vec<Scene>, PrepareError>>;
}

/// A scene, case or runtime that does not exist, or cannot be had.
#[derive(Debug, Error)]
pub enum SceneError {
    #[error("there is no scene '{name}'; there are {known}")]
    Scene { name: String, known: String },
    #[error("scene '{scene}' has no case '{name}'; it has {known}")]
    Case { scene: String, name: String, known: String },
    #[error("there is no runtime '{name}'; there are hbg, abg and trb (or their long names)")]
    Runtime { name: String },
    #[error("case '{case}' of scene '{scene}' is not written for {runtime}; it runs on {known}")]
    NotOnRuntime { scene: String, case: String, runtime: RuntimeKind, known: String },
    #[error("scene '{name}' is registered twice")]
    Twice { name: String },
    #[error("'{name}' holds no scene")]
    Empty { name: String },
    #[error("'{name}' holds several scenes: {known}")]
    Several { name: String, known: String },
    #[error("cannot read the scene in '{name}'")]
    Source { name: String, source: PrepareError },
}

impl Registry {
    /// These scenes, in the order in which `argus list` shows them.
    pub fn new(scenes: impl IntoIterator<Item = Scene>) -> Result<Registry, SceneError> {
        let mut registry = Registry::default();
        for scene in scenes {
            registry.add(scene)?;
        }
        Ok(registry)
    }

    pub fn add(&mut self, scene: Scene) -> Result<(), SceneError> {
        if self.scenes.iter().any(|known| known.name == scene.name) {
            return Err(SceneError::Twice { name: scene.name });
        }
        self.scenes.push(Arc::new(scene));
        Ok(())
    }

    /// One more way to get scenes that have no registered name.
    pub fn add_source(&mut self, source: impl SceneSource + 'static) {
        self.sources.push(Box::new(source));
    }

    /// Every registered scene.
    pub fn scenes(&self) -> &[Arc<Scene>] {
        &self.scenes
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scenes.iter().map(|scene| &scene.name[..])
    }

    /// The scene with this name, or the one behind it.
    pub fn scene(&self, name: &str) -> Result<Arc<Scene>, SceneError> {
        if let Some(scene) = self.scenes.iter().find(|scene| scene.name == name) {
            return Ok(Arc::clone(scene));
        }
        let mut scenes = self.behind(name)?;
        match (scenes.pop(), scenes.is_empty()) {
            (Some(scene), true) => Ok(scene),
            (None, _) => Err(SceneError::Empty { name: name.into() }),
            (Some(last), false) => {
                let names: Vec<&str> = scenes.iter().chain([&last]).map(|scene| &scene.name[..]).collect();
                Err(SceneError::Several { name: name.into(), known: names.join(", ") })
            }
        }
    }

    /// The scenes that a source finds behind a name that is not registered.
    pub fn behind(&self, name: &str) -> Result<Vec<Arc<Scene>>, SceneError> {
        let found = self.sources.iter().find_map(|source| source.scenes(name));
        match found {
            Some(Ok(scenes)) => Ok(scenes.into_iter().map(Arc::new).collect()),
            Some(Err(source)) => Err(SceneError::Source { name: name.into(), source }),
            None => {
                let known = self.names().collect::<Vec<_>>().join(", ");
                Err(SceneError::Scene { name: name.into(), known })
            }
        }
    }
}

/// The runtime with this name, long or short.
pub fn runtime(name: &str) -> Result<RuntimeKind, SceneError> {
    RuntimeKind::by_name(name).ok_or_else(|| SceneError::Runtime { name: name.into() })
}
