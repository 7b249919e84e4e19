//! What only April's manifests say about a view: the shape of the whole buffer and the place of the view in it.
//!
//! Records are kept as strides and one offset, from which the first extent of the buffer cannot be told. The
//! text layout of April prints it, so it is read from the manifest once more.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// `raw_shape` and `offsets` of each record, as Python prints lists; empty if they cannot be read.
pub(crate) fn views(directory: &Path) -> Vec<(String, String)> {
    let Some(manifest) = manifest(directory) else { return Vec::new() };
    let entries = manifest["tensors"].as_array().map_or(&[][..], Vec::as_slice);
    entries.iter().map(|entry| (list(&entry["raw_shape"]), list(&entry["offsets"]))).collect()
}

/// The first manifest by name, as the reader takes it.
fn manifest(directory: &Path) -> Option<Value> {
    let mut paths: Vec<_> =
        fs::read_dir(directory).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    serde_json::from_slice(&fs::read(paths.first()?).ok()?).ok()
}

fn list(value: &Value) -> String {
    let items = value.as_array().map_or(&[][..], Vec::as_slice);
    format!("[{}]", items.iter().map(Value::to_string).collect::<Vec<_>>().join(", "))
}
