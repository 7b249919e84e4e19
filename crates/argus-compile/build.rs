//! Lists the headers of `include/`, so that their texts become part of the tool.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include").canonicalize()?;
    let mut files = Vec::new();
    walk(&root, &mut files)?;
    files.sort();
    let mut text = String::from("[\n");
    for file in &files {
        let name = file.strip_prefix(&root)?;
        writeln!(text, "    ({:?}, include_str!({:?})),", name.display(), file.display())?;
    }
    text.push(']');
    let target = PathBuf::from(std::env::var("OUT_DIR")?).join("headers.rs");
    std::fs::write(target, text)?;
    Ok(())
}

/// Every file below a directory. Each directory is watched, so that a new header is noticed.
fn walk(directory: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    println!("cargo::rerun-if-changed={}", directory.display());
    for entry in std::fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}
