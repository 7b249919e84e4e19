//! The scenes in C++ that ship with the tool: the files of `scenes/`, put where a compiler can read them.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use argus_scene::Scene;
use xxhash_rust::xxh3::Xxh3;

use crate::error::SceneFileError;
use crate::load::{SceneFiles, from_text};

/// Name below the scene's directory, and text.
pub(crate) type Files = &'static [(&'static str, &'static str)];

const SCENES: &[Files] = &include!(concat!(env!("OUT_DIR"), "/scenes.rs"));

/// The name of the file that describes a scene.
pub(crate) const SCENE_FILE: &str = "scene.toml";

/// Every scene whose twin is among those of `settings`, or that needs none. Their files are written when a case is
/// prepared, not now.
pub fn shipped(settings: &SceneFiles) -> Result<Vec<Scene>, SceneFileError> {
    let mut scenes = Vec::new();
    for &files in SCENES {
        let text = files.iter().find(|(name, _)| *name == SCENE_FILE).map_or("", |(_, text)| text);
        match from_text(text, Home::Shipped(files), settings) {
            Ok(scene) => scenes.push(scene),
            // A tool with scenes of its own does not have the twin.
            Err(SceneFileError::Twin(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(scenes)
}

/// Where the files of a scene are.
#[derive(Clone, Debug)]
pub(crate) enum Home {
    /// Beside this file.
    File(PathBuf),
    /// In the tool.
    Shipped(Files),
}

impl Home {
    /// The scene's file. Files of the tool are put into the cache first.
    pub fn file(&self) -> Result<PathBuf, SceneFileError> {
        match self {
            Home::File(path) => Ok(path.clone()),
            Home::Shipped(files) => {
                let directory =
                    argus_compile::compiler::cache_directory().join("scenes").join(identity(files));
                put(files, &directory)
                    .map_err(|source| SceneFileError::Place { path: directory.clone(), source })?;
                Ok(directory.join(SCENE_FILE))
            }
        }
    }
}

/// Writes the files that are not there, or not as they should be.
fn put(files: Files, directory: &Path) -> io::Result<()> {
    for (name, text) in files {
        let path = directory.join(name);
        if fs::read(&path).is_ok_and(|found| found == text.as_bytes()) {
            continue;
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        argus_files::write(&path, text.as_bytes(), false)?;
    }
    Ok(())
}

/// Stands for all files of a scene: tools of two versions do not write to one directory.
fn identity(files: Files) -> String {
    let mut hash = Xxh3::new();
    for (name, text) in files {
        for part in [name, text] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    format!("{:032x}", hash.digest128())
}
