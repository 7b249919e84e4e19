//! The headers that the tool carries, as files a compiler can read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use xxhash_rust::xxh3::Xxh3;

/// Name below `include/`, and text.
const HEADERS: &[(&str, &str)] = &include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Stands for all headers together.
pub(crate) fn identity() -> u128 {
    let mut hash = Xxh3::new();
    for (name, text) in HEADERS {
        for part in [name, text] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
    }
    hash.digest128()
}

/// Puts the headers below `directory`, in a directory of their own for each set of headers, unless they are there.
pub fn materialise(directory: &Path) -> io::Result<PathBuf> {
    let target = directory.join(format!("{:032x}", identity()));
    if target.is_dir() {
        return Ok(target);
    }
    fs::create_dir_all(directory)?;
    let stage = argus_files::Stage::inside(directory)?;
    for (name, text) in HEADERS {
        let path = stage.path().join("include").join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    match stage.publish("include", &target) {
        Ok(()) => Ok(target),
        // Another process was first: its files are the same.
        Err(_) if target.is_dir() => Ok(target),
        Err(error) => Err(error),
    }
}
