//! The scene that a dump carries: its sources, as they were when it ran.

use argus_dump::origin_file;
use argus_dump::read::Dump;

use crate::Lookup;
use crate::error::LookupError;

/// The path of the dump's own scene file, for a registry to read. `None` if the dump carries no sources.
pub fn scene(dump: &Dump, lookup: &Lookup<'_>) -> Result<Option<String>, LookupError> {
    let directory = dump.directory();
    let Some(origin) = origin_file::read(directory)? else { return Ok(None) };
    let changed = origin_file::changed(&origin);
    if !changed.is_empty() {
        (lookup.changed)(&changed);
    }
    Ok(origin_file::scene_file(directory, &origin).map(|path| path.display().to_string()))
}
