//! scene/: the sources that a run's code came from, as they were.
//!
//! `origin.json` says where each file was and what it held; the files lie beside it under the names they had below the
//! directory of the scene, so that the copy can be compiled like the original. Files from elsewhere are kept under
//! `elsewhere/`, by number.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use argus_facts::{OriginFile, SceneOrigin};
use serde_json::{Value, json};
use thiserror::Error;
use xxhash_rust::xxh3::xxh3_128;

/// The directory in a dump.
pub const SCENE_DIRECTORY: &str = "scene";
const INDEX: &str = "origin.json";
const SCHEMA: &str = "argus-scene-origin-1";

/// Why the sources in a dump cannot be used.
#[derive(Debug, Error)]
pub enum OriginError {
    #[error("cannot read {path}", path = path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{path} is not what the tool writes: {what}", path = path.display())]
    Index { path: PathBuf, what: &'static str },
    #[error("{path} was changed in the dump", path = path.display())]
    Changed { path: PathBuf },
}

/// Writes the sources into a dump.
pub(crate) fn write(dump: &Path, origin: &SceneOrigin) -> io::Result<()> {
    let stage = argus_files::Stage::inside(dump)?;
    let directory = stage.path().join(SCENE_DIRECTORY);
    fs::create_dir(&directory)?;
    let mut index = Vec::new();
    for (number, file) in origin.files.iter().enumerate() {
        let kept = place(number, &file.name);
        let path = directory.join(&kept);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(&path, &file.text)?;
        index.push(json!({ "name": file.name, "kept": kept, "checksum": checksum(&file.text) }));
    }
    let text = json!({ "schema": SCHEMA, "path": origin.path, "commands": origin.commands, "files": index });
    fs::write(directory.join(INDEX), serde_json::to_vec_pretty(&text)?)?;
    stage.publish(SCENE_DIRECTORY, &dump.join(SCENE_DIRECTORY))
}

/// The sources in a dump; `None` if it has none.
pub fn read(dump: &Path) -> Result<Option<SceneOrigin>, OriginError> {
    let Some(index) = Index::read(dump)? else { return Ok(None) };
    let mut files = Vec::new();
    for (kept, listed) in index.files()? {
        let text = content(&kept)?;
        if listed["checksum"] != checksum(&text) {
            return Err(OriginError::Changed { path: kept });
        }
        files.push(OriginFile { name: listed["name"].as_str().unwrap_or_default().to_owned(), text });
    }
    let texts = |value: &Value| value.as_str().map(str::to_owned);
    let commands = index.value["commands"].as_array().ok_or_else(|| index.bad("no list of commands"))?;
    let commands = commands.iter().filter_map(texts).collect();
    let origin = texts(&index.value["path"]).ok_or_else(|| index.bad("no path"))?;
    Ok(Some(SceneOrigin { path: origin, files, commands }))
}

/// The paths of the files that were written for a dump's sources, whatever they hold now.
pub(crate) fn paths(dump: &Path) -> Result<Vec<PathBuf>, OriginError> {
    let Some(index) = Index::read(dump)? else { return Ok(Vec::new()) };
    let mut paths: Vec<PathBuf> = index.files()?.into_iter().map(|(kept, _)| kept).collect();
    paths.push(index.path);
    Ok(paths)
}

/// `origin.json`, parsed and not yet believed.
struct Index {
    path: PathBuf,
    value: Value,
}

impl Index {
    fn read(dump: &Path) -> Result<Option<Self>, OriginError> {
        let path = dump.join(SCENE_DIRECTORY).join(INDEX);
        if !path.exists() {
            return Ok(None);
        }
        let value = serde_json::from_str(&content(&path)?);
        let index = Self { value: value.unwrap_or_default(), path };
        match index.value["schema"] == SCHEMA {
            true => Ok(Some(index)),
            false if index.value.is_null() => Err(index.bad("not JSON")),
            false => Err(index.bad("another schema")),
        }
    }

    /// Where each file lies, and what the index says of it. The place follows from the file's name: a path in the index
    /// is not followed.
    fn files(&self) -> Result<Vec<(PathBuf, &Value)>, OriginError> {
        let listed = self.value["files"].as_array().ok_or_else(|| self.bad("no list of files"))?;
        let directory = self.path.parent().unwrap_or(Path::new(""));
        let located = listed.iter().enumerate().map(|(number, file)| {
            let name = file["name"].as_str().ok_or_else(|| self.bad("a file without a name"))?;
            Ok((directory.join(place(number, name)), file))
        });
        located.collect()
    }

    fn bad(&self, what: &'static str) -> OriginError {
        OriginError::Index { path: self.path.clone(), what }
    }
}

/// The scene's own file in a dump, to be read as any scene file.
pub fn scene_file(dump: &Path, origin: &SceneOrigin) -> Option<PathBuf> {
    let first = origin.files.first()?;
    Some(dump.join(SCENE_DIRECTORY).join(place(0, &first.name)))
}

/// Files that are no longer what they were, by name.
pub fn changed(origin: &SceneOrigin) -> Vec<&str> {
    let directory = Path::new(&origin.path).parent().unwrap_or(Path::new("/"));
    let differs = |file: &&OriginFile| {
        let now = argus_files::read(&directory.join(&file.name), argus_files::LARGEST_TEXT);
        now.map_or(true, |text| text != file.text.as_bytes())
    };
    origin.files.iter().filter(differs).map(|file| &file.name[..]).collect()
}

/// Where a file is kept: under its own name if that stays inside the directory.
fn place(number: usize, name: &str) -> PathBuf {
    let path = Path::new(name);
    let inside = path.components().all(|part| matches!(part, Component::Normal(_)));
    if inside && !name.is_empty() && name != INDEX {
        path.into()
    } else {
        Path::new("elsewhere").join(number.to_string())
    }
}

fn content(path: &Path) -> Result<String, OriginError> {
    let unreadable = |source| OriginError::Read { path: path.into(), source };
    let bytes = argus_files::read(path, argus_files::LARGEST_TEXT).map_err(unreadable)?;
    String::from_utf8(bytes).map_err(|_| OriginError::Index { path: path.into(), what: "not text" })
}

fn checksum(text: &str) -> String {
    format!("{:032x}", xxh3_128(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origin() -> SceneOrigin {
        let file = |name: &str, text: &str| OriginFile { name: name.into(), text: text.into() };
        SceneOrigin {
            path: "/somewhere/scene.toml".into(),
            files: vec![
                file("scene.toml", "name = 'x'"),
                file("kernels/add.cpp", "int x;"),
                file("/usr/share/far.h", "int far;"),
                file("../up.h", "int up;"),
            ],
            commands: vec!["g++ -c add.cpp".into()],
        }
    }

    #[test]
    fn sources_come_back_as_they_went_and_stay_inside() {
        let dump = tempfile::tempdir().unwrap();
        assert_eq!(read(dump.path()).unwrap(), None);
        write(dump.path(), &origin()).unwrap();
        assert_eq!(read(dump.path()).unwrap(), Some(origin()));
        let scene = dump.path().join("scene");
        assert_eq!(fs::read_to_string(scene.join("kernels/add.cpp")).unwrap(), "int x;");
        assert_eq!(fs::read_to_string(scene.join("elsewhere/2")).unwrap(), "int far;");
        assert_eq!(fs::read_to_string(scene.join("elsewhere/3")).unwrap(), "int up;");
        assert_eq!(scene_file(dump.path(), &origin()), Some(scene.join("scene.toml")));
    }

    #[test]
    fn a_copy_that_was_edited_is_not_believed() {
        let dump = tempfile::tempdir().unwrap();
        write(dump.path(), &origin()).unwrap();
        let edited = dump.path().join("scene/kernels/add.cpp");
        fs::write(&edited, "int y;").unwrap();
        assert_eq!(
            read(dump.path()).unwrap_err().to_string(),
            format!("{} was changed in the dump", edited.display())
        );
    }

    #[test]
    fn originals_that_changed_or_vanished_are_named() {
        let home = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(home.path().join(name), text).unwrap();
        fs::create_dir(home.path().join("kernels")).unwrap();
        write("scene.toml", "name = 'x'");
        write("kernels/add.cpp", "int z;");
        let mut origin = origin();
        origin.files.truncate(3);
        origin.path = home.path().join("scene.toml").display().to_string();
        assert_eq!(changed(&origin), ["kernels/add.cpp", "/usr/share/far.h"]);
    }
}
