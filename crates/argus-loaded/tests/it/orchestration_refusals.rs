//! Objects that do not belong, and sources that must not compile.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use argus_abi::RuntimeKind;
use argus_chip::CHIPS;
use argus_compile::Generation;
use argus_facts::with_causes;
use argus_loaded::LoadedOrchestration;

use crate::orchestrations::{compile, source};

/// A shared object of a text, without our support source.
fn object(directory: &Path, name: &str, text: &str) -> PathBuf {
    let source = directory.join(format!("{name}.cpp"));
    fs::write(&source, text).unwrap();
    let object = directory.join(format!("{name}.so"));
    let mut compiler = Command::new("g++");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&object).arg(&source);
    assert!(compiler.status().unwrap().success());
    object
}

fn refusal(path: &Path, entry: Option<&str>, config: Option<&str>) -> String {
    let quiet = Arc::new(|_, _: &str, _: &str| ());
    let error = LoadedOrchestration::open(path, entry, config, quiet).err().expect("it must be refused");
    with_causes(&error).replace(&*path.to_string_lossy(), "OBJECT")
}

#[test]
fn each_object_that_does_not_belong_has_its_own_message() {
    let directory = tempfile::tempdir().unwrap();
    let describe = |abi: u32, runtime: u32| {
        format!(
            "extern \"C\" const void *argus_orchestration() {{\n\
             static const unsigned facts[16] = {{40, {abi}, 6, {runtime}}};\n return facts; }}\n"
        )
    };
    let no_support = object(directory.path(), "no_support", "int nothing;\n");
    let other_abi = object(directory.path(), "other_abi", &describe(99, 1));
    let other_runtime = object(directory.path(), "other_runtime", &describe(1, 42));
    let text = directory.path().join("text.so");
    fs::write(&text, "no object").unwrap();
    assert_eq!(
        refusal(&no_support, None, None),
        "OBJECT does not export argus_orchestration: it was not compiled together with our support source"
    );
    assert_eq!(
        refusal(&other_abi, None, None),
        "OBJECT was compiled for version 99 of the orchestration interface, this is version 1: compile it again"
    );
    assert_eq!(
        refusal(&other_runtime, None, None),
        "OBJECT was compiled for runtime 42, which is none of ours"
    );
    for path in [&text, &directory.path().join("absent.so")] {
        let text = refusal(path, None, None);
        assert!(text.starts_with("OBJECT is not a shared object that this machine can load: "), "{text}");
    }
    let june = compile(&source("june.cpp"), Generation::June, RuntimeKind::Trb, CHIPS[0]).unwrap();
    let missing = |name: &str| {
        format!("OBJECT exports no function {name}: is it spelled so, and declared extern \"C\"?")
    };
    assert_eq!(refusal(&june.path, Some("biuld"), None), missing("biuld"));
    assert_eq!(refusal(&june.path, None, Some("config")), missing("config"));
    let legacy = compile(&source("legacy.cpp"), Generation::June, RuntimeKind::Hbg, CHIPS[0]).unwrap();
    assert_eq!(refusal(&legacy.path, None, None), missing("aicpu_orchestration_entry"));
}

#[test]
fn a_temporary_among_the_arguments_is_a_compile_error_that_says_why() {
    let error = compile(&source("temporary.cpp"), Generation::June, RuntimeKind::Trb, CHIPS[0]).unwrap_err();
    let text = with_causes(&error);
    assert!(text.contains("tensors and create-infos must outlive the submission"), "{text}");
    assert!(text.contains("temporary.cpp:6"), "{text}");
}

/// Sources include them in any order and rely on none of them coming first.
#[test]
fn every_header_compiles_alone_and_twice_in_every_front() {
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include").canonicalize().unwrap();
    let mut checked = 0;
    for front in ["june/a2a3/trb", "june/a5/hbg", "august/a5/trb", "august/a2a3/hbg", "april/a2a3/abg"] {
        let names = ["pto_orchestration_api.h", "pto_arg_with_deps.h", "orchestration_api.h", "runtime.h"];
        for name in names.into_iter().chain(["aicpu/cache_maintenance.h"]) {
            let header = include.join(front).join(name);
            if !header.is_file() {
                continue;
            }
            checked += 1;
            let mut compiler = Command::new("g++");
            compiler.args([
                "-std=c++20",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-fsyntax-only",
                "-x",
                "c++",
                "/dev/null",
            ]);
            compiler.arg("-I").arg(include.join(front)).arg("-I").arg(&include);
            for _ in 0..2 {
                compiler.arg("-include").arg(name);
            }
            let output = compiler.output().unwrap();
            assert!(output.status.success(), "{front}/{name}: {}", String::from_utf8_lossy(&output.stderr));
        }
    }
    assert_eq!(checked, 15);
}
