//! The scene that a dump carries: its sources, as they were when it ran.

use argus_dump::origin_file;
use argus_dump::read::Dump;

use crate::failure::Failure;
use crate::output;

/// The path of the dump's own scene file, for a registry to read. `None` if the dump carries no sources.
///
/// Says which of the originals have changed since: what follows is about the code that ran.
pub fn scene(dump: &Dump) -> Result<Option<String>, Failure> {
    let directory = dump.directory();
    let Some(origin) = origin_file::read(directory).map_err(Failure::failed)? else { return Ok(None) };
    let changed = origin_file::changed(&origin);
    if !changed.is_empty() {
        let files = changed.join(", ");
        output::remark(&format!("{files}: changed since the run; the dump's own copy is used"))?;
    }
    Ok(origin_file::scene_file(directory, &origin).map(|path| path.display().to_string()))
}
