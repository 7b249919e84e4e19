//! Real sources, the machine's real compiler, a cache of the test's own.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod known;

use std::fs;
use std::path::{Path, PathBuf};

use argus_abi::RuntimeKind;
use argus_chip::DEFAULT_CHIP;
use argus_compile::{CompileError, Compiler, Generation, Object, Role, Toolchain, Unit};

const SOURCE: &str = r#"
#include "pto_orchestration_api.h"
#include "sizes.h"
extern "C" void aicpu_orchestration_entry(const ChipStorageTaskArgs &args) {
    int unused;
    LOG_INFO_V0("%d", SIZE + args.tensor_count());
}
"#;

struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    fn new() -> Scratch {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("late")).unwrap();
        fs::create_dir(directory.path().join("early")).unwrap();
        let scratch = Scratch { directory };
        scratch.write("orch.cpp", SOURCE);
        scratch.write("late/sizes.h", "#define SIZE 4\n");
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    fn compiler(&self) -> Compiler {
        Compiler::with_cache(Toolchain::find(None).unwrap(), &self.path("cache")).unwrap()
    }

    fn unit(&self) -> Unit {
        Unit {
            source: self.path("orch.cpp"),
            role: Role::Orchestration,
            generation: Generation::June,
            chip: DEFAULT_CHIP,
            runtime: RuntimeKind::Trb,
            include_dirs: vec![self.path("early"), self.path("late")],
            defines: Vec::new(),
            root: None,
            debug: false,
        }
    }

    fn compile(&self, unit: &Unit) -> Result<Object, CompileError> {
        let mut objects = self.compiler().compile(std::slice::from_ref(unit))?;
        Ok(objects.remove(0))
    }
}

#[test]
fn an_object_is_made_once_and_again_when_anything_it_was_made_from_changes() {
    let scratch = Scratch::new();
    let unit = scratch.unit();
    let first = scratch.compile(&unit).unwrap();
    assert!(!first.cached && first.path.is_file());
    let again = scratch.compile(&unit).unwrap();
    assert!(again.cached);
    assert_eq!(again.path, first.path);

    type Change<'a> = &'a dyn Fn(&mut Unit);
    let changes: [(&str, Change<'_>); 5] = [
        ("the source", &|_| scratch.write("orch.cpp", &format!("{SOURCE}\n// more\n"))),
        ("a header", &|_| scratch.write("late/sizes.h", "#define SIZE 5\n")),
        ("a header that is found before the old one", &|_| {
            scratch.write("early/sizes.h", "#define SIZE 6\n");
        }),
        ("a define", &|unit| unit.defines.push("MORE=1".into())),
        ("the optimisation", &|unit| unit.debug = true),
    ];
    let mut unit = unit;
    let mut seen = vec![first.path];
    for (what, change) in changes {
        change(&mut unit);
        let made = scratch.compile(&unit).unwrap();
        assert!(!made.cached, "{what} changed, and the object did not");
        assert!(!seen.contains(&made.path), "{what}");
        assert!(scratch.compile(&unit).unwrap().cached, "{what}");
        seen.push(made.path);
    }
}

#[test]
fn what_changes_back_is_found_again_without_mixing_objects() {
    let scratch = Scratch::new();
    let four = scratch.compile(&scratch.unit()).unwrap();
    scratch.write("late/sizes.h", "#define SIZE 5\n");
    let five = scratch.compile(&scratch.unit()).unwrap();
    scratch.write("late/sizes.h", "#define SIZE 4\n");
    assert_ne!(four.path, five.path);
    assert_eq!(scratch.compile(&scratch.unit()).unwrap().path, four.path);
}

#[test]
fn an_object_says_what_it_was_made_from() {
    let scratch = Scratch::new();
    let object = scratch.compile(&scratch.unit()).unwrap();
    let texts: Vec<(&Path, &str)> =
        object.sources.iter().map(|source| (&*source.path, &*source.text)).collect();
    let (source, header) = (scratch.path("orch.cpp"), scratch.path("late/sizes.h"));
    let real = |path: &Path| fs::canonicalize(path).unwrap();
    assert_eq!(texts, [(&*real(&source), SOURCE), (&*real(&header), "#define SIZE 4\n")]);
    assert!(
        object.command.contains("orch.cpp") && object.command.contains("-std=c++20"),
        "{}",
        object.command
    );
}

#[test]
fn a_source_is_cpp_whatever_its_name_ends_with() {
    let scratch = Scratch::new();
    for name in ["orch.cce", "orch.h", "orch"] {
        scratch.write(name, SOURCE);
        let unit = Unit { source: scratch.path(name), ..scratch.unit() };
        assert!(scratch.compile(&unit).unwrap().path.is_file(), "{name}");
    }
}

/// The compilers that this machine has under their usual names.
fn compilers() -> Vec<Toolchain> {
    let versions = (15..25).map(|version| format!("clang++-{version}"));
    let names = ["g++".to_owned(), "clang++".to_owned()].into_iter().chain(versions);
    names.filter_map(|name| Toolchain::find(Some(name.as_ref())).ok()).collect()
}

/// Sources put sizes of 64 bits into lists of 32. To g++ that is worth a warning, to clang++ an error by default.
#[test]
fn what_one_compiler_takes_the_others_take_too() {
    let scratch = Scratch::new();
    scratch.write(
        "orch.cpp",
        "#include \"pto_orchestration_api.h\"
extern \"C\" void aicpu_orchestration_entry(const ChipStorageTaskArgs &args) {
    size_t rows = args.tensor_count(), cols = 16;
    uint32_t shape[2] = {rows, cols};
    LOG_INFO_V0(\"%u\", shape[0]);
}
",
    );
    for toolchain in compilers() {
        let name = toolchain.compiler.clone();
        let compiler = Compiler::with_cache(toolchain, &scratch.path("cache")).unwrap();
        let made = compiler.compile(&[scratch.unit()]);
        assert!(made.is_ok(), "{name:?}: {}", made.unwrap_err());
    }
}

#[test]
fn warnings_come_with_every_use_of_an_object() {
    let scratch = Scratch::new();
    scratch.write("orch.cpp", &format!("#warning \"mind the gap\"\n{SOURCE}"));
    for cached in [false, true] {
        let object = scratch.compile(&scratch.unit()).unwrap();
        assert_eq!(object.cached, cached);
        assert!(object.said.contains("mind the gap"), "{}", object.said);
    }
}

#[test]
fn a_source_that_does_not_compile_fails_with_the_compiler_s_words_and_its_command() {
    let scratch = Scratch::new();
    scratch.write("orch.cpp", "#include \"pto_orchestration_api.h\"\nint x = no_such_thing;\n");
    let error = scratch.compile(&scratch.unit()).unwrap_err();
    let text = error.to_string();
    for part in ["orch.cpp does not compile", "no_such_thing", "The command was:", "-std=c++20", "orch.cpp"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Nothing of it stays.
    scratch.write("orch.cpp", SOURCE);
    assert!(!scratch.compile(&scratch.unit()).unwrap().cached);
}

#[test]
fn the_first_failure_in_the_order_of_the_units_is_the_one_that_is_told() {
    let scratch = Scratch::new();
    let missing = |name: &str| Unit { source: scratch.path(name), ..scratch.unit() };
    let units = [scratch.unit(), missing("one.cpp"), missing("two.cpp")];
    let error = scratch.compiler().compile(&units).unwrap_err();
    assert!(error.to_string().starts_with("cannot read the source") && error.to_string().contains("one.cpp"));
    // A directory is not a source.
    let error = scratch.compile(&missing("late")).unwrap_err();
    assert!(error.to_string().ends_with("late is not a file"), "{error}");
}

#[test]
fn each_compiler_that_cannot_be_used_has_its_message() {
    let find = |name: &str| Toolchain::find(Some(name.as_ref())).unwrap_err().to_string();
    assert_eq!(find("no-such-compiler"), "'no-such-compiler' cannot be started");
    assert!(find("true").starts_with("'true' is not a C++ compiler"), "{}", find("true"));
    let scratch = Scratch::new();
    let old = scratch.path("old");
    fs::write(&old, "#!/bin/sh\necho '#define __GNUC__ 9'\n").unwrap();
    fs::set_permissions(&old, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let text = find(old.to_str().unwrap());
    assert!(text.ends_with("is version 9; C++20 as it is used here needs 12 or newer"), "{text}");
}

#[test]
fn a_combination_without_headers_is_refused() {
    let scratch = Scratch::new();
    let unit = Unit { runtime: RuntimeKind::Abg, generation: Generation::August, ..scratch.unit() };
    let error = scratch.compile(&unit).unwrap_err();
    assert_eq!(error.to_string(), "there are no headers of the august generation for abg on a2a3");
}

#[test]
fn many_at_once_make_one_object() {
    let scratch = Scratch::new();
    let paths: Vec<PathBuf> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| scratch.compile(&scratch.unit()).unwrap().path)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(paths.iter().all(|path| *path == paths[0] && path.is_file()), "{paths:?}");
    let left: Vec<_> = fs::read_dir(scratch.path("cache/objects-2"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[test]
fn a_copy_of_a_scene_gives_the_same_objects_until_it_differs() {
    let (original, elsewhere) = (Scratch::new(), Scratch::new());
    let compiler = elsewhere.compiler();
    let below = |scratch: &Scratch| Unit { root: Some(scratch.path("")), ..scratch.unit() };
    let compile = |unit: &Unit| compiler.compile(std::slice::from_ref(unit)).unwrap().remove(0);
    let first = compile(&below(&original));
    let names: Vec<_> = first.sources.iter().map(|source| source.path.to_str().unwrap()).collect();
    assert_eq!(names, ["orch.cpp", "late/sizes.h"], "names below the scene's directory");
    let copy = Scratch::new();
    let second = compile(&below(&copy));
    assert!(second.cached);
    assert_eq!(second.path, first.path);
    copy.write("late/sizes.h", "#define SIZE 7\n");
    let third = compile(&below(&copy));
    assert!(!third.cached && third.path != first.path);
    assert_eq!(third.sources[1].text, "#define SIZE 7\n");
    // The original is still what it was.
    assert_eq!(compile(&below(&original)).path, first.path);
}
