//! The texts of kernels, as a dump carries them.

use std::sync::OnceLock;

use argus_dump::origin_file;
use argus_dump::read::Dump;
use serde_json::{Value, json};

/// Read when they are first asked for.
#[derive(Default)]
pub struct Sources {
    files: OnceLock<Vec<(String, String)>>,
}

impl Sources {
    /// The files that name a kernel of these, with the line where they do.
    pub fn of(&self, dump: &Dump, func_ids: &[i32]) -> Vec<Value> {
        let files = self.files.get_or_init(|| {
            let origin = origin_file::read(dump.directory()).ok().flatten();
            let files = origin.into_iter().flat_map(|origin| origin.files);
            files.map(|file| (file.name, file.text)).collect()
        });
        let names: Vec<&str> = func_ids.iter().filter_map(|&id| dump.kernel_name(id)).collect();
        let line = |text: &str| {
            let names_one = |line: &str| names.iter().any(|name| line.contains(name));
            text.lines().position(names_one).map(|at| at + 1)
        };
        files
            .iter()
            .filter_map(|(name, text)| Some((name, text, line(text)?)))
            .map(|(name, text, line)| json!({ "name": name, "line": line, "text": text }))
            .collect()
    }
}
