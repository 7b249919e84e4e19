//! The scene that a dump carries: its sources, as they were when it ran.

use std::path::Path;

use argus_dump::origin_file;
use argus_dump::read::Dump;

use crate::Lookup;
use crate::error::LookupError;

/// The path of the dump's own scene file, for a registry to read. `None` if the dump carries none: a program that was put
/// together without a scene file leaves its sources in its dumps all the same.
pub fn scene(dump: &Dump, lookup: &Lookup<'_>) -> Result<Option<String>, LookupError> {
    let directory = dump.directory();
    let Some(origin) = origin_file::read(directory)?.filter(|origin| is_scene_file(&origin.path)) else {
        return Ok(None);
    };
    let changed = origin_file::changed(&origin);
    if !changed.is_empty() {
        (lookup.changed)(&changed);
    }
    Ok(origin_file::scene_file(directory, &origin).map(|path| path.display().to_string()))
}

fn is_scene_file(path: &str) -> bool {
    Path::new(path).extension().is_some_and(|extension| extension == "toml")
}
