//! The Python tests of the package, each file of `python/tests` as one test here.
//!
//! They import the package as it lies in `python/argus`, with the native module that cargo built for this test.

#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

#[path = "../../../../tests/python/interpreter.rs"]
mod interpreter;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

/// One test for each file, and a list of them all.
macro_rules! files {
    ($($name:ident),* $(,)?) => {
        const FILES: &[&str] = &[$(stringify!($name)),*];
        $(#[test] fn $name() { pytest(stringify!($name)); })*
    };
}

files![
    test_docstrings,
    test_judging,
    test_messages,
    test_notebook,
    test_reading,
    test_scene_files,
    test_scene_tests,
    test_torch_stand_in,
    test_types
];

/// A directory with the package in it, for `PYTHONPATH`.
///
/// The module is linked, not copied: what runs is what was built last.
fn package() -> PathBuf {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("package-{}", std::process::id()));
    let package = place.join("argus");
    fs::create_dir_all(&package).unwrap();
    for entry in fs::read_dir(interpreter::root().join("python/argus")).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        if name != "__pycache__" && !name.to_string_lossy().ends_with(".so") {
            symlink(entry.path(), package.join(name)).unwrap();
        }
    }
    // Cargo puts the library beside the programs that it belongs to.
    let built = std::env::current_exe().unwrap().with_file_name("lib_native.so");
    symlink(built, package.join("_native.abi3.so")).unwrap();
    place
}

/// The command line, where cargo puts it.
fn program() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().with_file_name("argus")
}

fn pytest(file: &str) {
    let place = package();
    let tests = interpreter::root().join("python/tests");
    let answer = Command::new(interpreter::interpreter())
        .args(["-m", "pytest", "--quiet", "--color=no", "-p", "no:cacheprovider"])
        .arg(tests.join(file).with_extension("py"))
        .current_dir(&tests)
        .env("PYTHONPATH", &place)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // Built with the workspace; tests that need it say so when it is not there.
        .env("ARGUS_PROGRAM", program())
        .output()
        .unwrap();
    fs::remove_dir_all(&place).unwrap();
    let said = [answer.stdout, answer.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(answer.status.success(), "{file}: {}", said.concat());
}

#[test]
fn every_file_of_python_tests_is_run() {
    let entries = fs::read_dir(interpreter::root().join("python/tests")).unwrap().map(Result::unwrap);
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let there: BTreeSet<String> = names
        .filter_map(|name| name.strip_suffix(".py").map(str::to_owned))
        .filter(|name| name.starts_with("test_"))
        .collect();
    assert_eq!(there, FILES.iter().map(|name| (*name).to_owned()).collect());
}
