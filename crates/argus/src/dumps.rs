//! From what was typed to an open dump.

use std::path::{Path, PathBuf};

use argus_dump::filter::Filter;
use argus_dump::read::{Dump, OpenError};

use crate::cli::FilterArgs;
use crate::failure::Failure;

/// Where runs put their dumps unless told otherwise.
const OUTPUTS: &str = "outputs";

/// Opens the dump that was named, or else the newest below `outputs/`.
///
/// What cannot be read is blamed on the command line: exit code 2, so that scripts can tell it from a finding.
pub fn open(path: Option<&Path>) -> Result<Dump, Failure> {
    let path: PathBuf = match path {
        Some(path) => path.to_path_buf(),
        None => Dump::newest(Path::new(OUTPUTS)).map_err(|error| {
            Failure::usage(error)
                .hint("name a dump, or make one: argus run vector_example --dump-tensor".to_owned())
        })?,
    };
    Dump::open(&path).map_err(|error| cannot_read(&path, error))
}

fn cannot_read(path: &Path, error: OpenError) -> Failure {
    let hint = match &error {
        OpenError::NotADump { .. } => Some(format!(
            "a dump is a directory with tensor_dump.journal, tensor_dump.json or args_dump.json, or its parent; \
             `ls {}` shows what is there",
            path.display()
        )),
        _ => None,
    };
    Failure::usage(error).hint(hint)
}

/// The records that a filter means, by index. One that means none is wrong usage.
pub fn select(dump: &Dump, typed: &FilterArgs) -> Result<Vec<usize>, Failure> {
    let mut filter = Filter::default();
    let nan = typed.nan.then(|| "true".to_owned());
    for (key, value) in [
        ("task", &typed.task),
        ("kernel", &typed.kernel),
        ("func-id", &typed.func_id),
        ("stage", &typed.stage),
        ("role", &typed.role),
        ("arg", &typed.arg),
        ("kind", &typed.kind),
        ("dtype", &typed.dtype),
        ("nan", &nan),
        ("index", &typed.index),
        ("min-size", &typed.min_size),
        ("max-size", &typed.max_size),
    ] {
        if let Some(value) = value {
            filter.add(key, value).map_err(Failure::usage)?;
        }
    }
    filter.select(dump).map_err(Failure::usage)
}
