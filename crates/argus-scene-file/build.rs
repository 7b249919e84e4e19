//! Lists the files of `scenes/`, so that the scenes in C++ become part of the tool.

use std::fmt::Write;
use std::path::{Path, PathBuf};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes").canonicalize()?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut scenes: Vec<PathBuf> =
        std::fs::read_dir(&root)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
    scenes.retain(|path| path.join("scene.toml").is_file());
    scenes.sort();
    let mut text = String::from("[\n");
    for scene in &scenes {
        let mut files = Vec::new();
        walk(scene, &mut files)?;
        files.sort();
        writeln!(text, "    &[")?;
        for file in &files {
            let name = file.strip_prefix(scene)?;
            writeln!(text, "        ({:?}, include_str!({:?})),", name.display(), file.display())?;
        }
        writeln!(text, "    ],")?;
    }
    text.push(']');
    let target = PathBuf::from(std::env::var("OUT_DIR")?).join("scenes.rs");
    std::fs::write(target, text)?;
    Ok(())
}

/// Every file below a directory. Each directory is watched, so that a new file is noticed.
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
