//! Compiles kernels with the machine's compiler, as often as their text changes.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use xxhash_rust::xxh3::Xxh3;

/// One kernel to compile.
pub struct Unit<'a> {
    pub source: &'a Path,
    pub defines: &'a [(String, String)],
    /// `aiv` or `aic`.
    pub core: &'a str,
    /// The directory of kernel-side headers: generation, chip, runtime.
    pub front: &'a str,
    /// Where else includes are looked for.
    pub includes: &'a [PathBuf],
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn include_dir() -> PathBuf {
    repository().join("include")
}

pub fn flags(command: &mut Command) -> &mut Command {
    command.args(["-std=c++20", "-O2", "-fPIC", "-fno-gnu-unique"])
}

/// The object of a unit; what the compiler says if it fails.
pub fn compile(unit: &Unit<'_>) -> Result<PathBuf, String> {
    let core = if unit.core == "aic" { "-D__DAV_CUBE__" } else { "-D__DAV_VEC__" };
    let mut command = Command::new("g++");
    flags(&mut command).args(["-D__CPU_SIM", "-DNDEBUG", "-DPTO_CPU_MAX_THREADS=1", core]);
    command.args(unit.defines.iter().map(|(name, value)| format!("-D{name}={value}")));
    command.arg("-I").arg(include_dir().join(unit.front)).arg("-I").arg(include_dir());
    for include in unit.includes {
        command.arg("-I").arg(include);
    }
    command.args(["-shared", "-w"]).arg(unit.source).arg(support());
    let texts = unit.includes.iter().flat_map(|dir| files(dir)).chain([unit.source.to_owned()]);
    build(command, texts, "so")
}

/// The support source, compiled once.
fn support() -> &'static Path {
    static SUPPORT: OnceLock<PathBuf> = OnceLock::new();
    SUPPORT.get_or_init(|| {
        let mut command = Command::new("g++");
        let source = include_dir().join("argus/support/kernel.cpp");
        flags(&mut command).arg("-c").arg("-I").arg(include_dir()).arg(&source);
        build(command, [source], "o").unwrap()
    })
}

/// Runs a compiler unless it ran before on the same command and texts.
fn build(
    mut command: Command,
    texts: impl IntoIterator<Item = PathBuf>,
    extension: &str,
) -> Result<PathBuf, String> {
    let mut hash = Xxh3::new();
    hash.update(format!("{command:?}").as_bytes());
    hash.update(&headers().to_le_bytes());
    for text in texts {
        hash.update(&std::fs::read(text).unwrap());
    }
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kernels");
    std::fs::create_dir_all(&dir).unwrap();
    let target = dir.join(format!("{:032x}.{extension}", hash.digest128()));
    if target.exists() {
        return Ok(target);
    }
    // Written aside and renamed: a test that runs at the same time sees all of it or nothing.
    let aside = tempfile::Builder::new().suffix(".part").tempfile_in(&dir).unwrap();
    let output = command.arg("-o").arg(aside.path()).output().unwrap();
    if !output.status.success() {
        return Err(format!("{command:?}\n{}", String::from_utf8_lossy(&output.stderr)));
    }
    aside.persist(&target).unwrap();
    Ok(target)
}

/// A number that changes with any header.
fn headers() -> u64 {
    static HEADERS: OnceLock<u64> = OnceLock::new();
    *HEADERS.get_or_init(|| {
        let mut hash = Xxh3::new();
        for path in files(&include_dir()) {
            hash.update(path.to_string_lossy().as_bytes());
            hash.update(&std::fs::read(path).unwrap());
        }
        hash.digest()
    })
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut dirs = vec![dir.to_owned()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { dirs.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}
