//! Objects that are no kernels of ours: one clear message each.

use std::path::{Path, PathBuf};
use std::process::Command;

use argus_loaded::{LoadError, LoadedKernel};

fn shared_object(directory: &Path, text: &str) -> PathBuf {
    let (source, object) = (directory.join("object.cpp"), directory.join("object.so"));
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("g++");
    compiler.args(["-shared", "-fPIC"]).arg(&source).arg("-o").arg(&object);
    assert!(compiler.status().unwrap().success());
    object
}

#[test]
fn a_file_that_is_no_object_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("text.so");
    for text in [Some("not an object"), None] {
        match text {
            Some(text) => std::fs::write(&path, text).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let error = LoadedKernel::open(&path).unwrap_err();
        assert!(matches!(error, LoadError::NotAnObject { .. }), "{error}");
        assert!(error.to_string().contains("text.so is not a shared object"), "{error}");
    }
}

#[test]
fn an_object_without_our_symbol_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let object = shared_object(dir.path(), "extern \"C\" void kernel_entry(long *) {}\n");
    let error = LoadedKernel::open(&object).unwrap_err();
    assert!(matches!(error, LoadError::NoSuchSymbol { symbol: "argus_kernel_bind", .. }), "{error}");
}

#[test]
fn an_object_of_another_version_is_refused_by_its_number() {
    let dir = tempfile::tempdir().unwrap();
    // One from before tiles had the engine's own layout, and one to come.
    for version in [1, 99] {
        // Only the two first words are read: the rest of this table is not there.
        let text = format!(
            "static const unsigned object[2] = {{8, {version}}};\nextern \"C\" const void *argus_kernel_bind(const void *) {{ return object; }}\n"
        );
        let dir = dir.path().join(version.to_string());
        std::fs::create_dir(&dir).unwrap();
        let error = LoadedKernel::open(&shared_object(&dir, &text)).unwrap_err();
        assert!(matches!(error, LoadError::OtherAbi { theirs, ours: 2, .. } if theirs == version), "{error}");
        let words = format!("compiled for version {version} of the kernel interface, this is version 2");
        assert!(error.to_string().contains(&words), "{error}");
    }
}

#[test]
fn an_object_that_binds_to_nothing_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let text = "extern \"C\" const void *argus_kernel_bind(const void *) { return 0; }\n";
    let error = LoadedKernel::open(&shared_object(dir.path(), text)).unwrap_err();
    assert!(matches!(error, LoadError::OtherAbi { theirs: 0, .. }), "{error}");
}
