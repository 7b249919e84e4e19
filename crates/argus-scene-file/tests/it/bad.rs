//! Files and sources that do not belong: one message each.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use argus_chip::DEFAULT_CHIP;
use argus_facts::with_causes;
use argus_runtime::Device;

use crate::setup::{Project, SCENE, npy};

/// What a scene with a change says when its first case is prepared.
fn said(change: impl Fn(&str) -> String) -> String {
    said_of(&Project::new(&change(SCENE)))
}

fn said_of(project: &Project) -> String {
    let scene = match project.load() {
        Ok(scene) => scene,
        Err(error) => return with_causes(&error),
    };
    let (case, runtime) = scene.case(None, None).unwrap();
    match case.prepare(runtime, DEFAULT_CHIP) {
        Ok(_) => panic!("it was prepared"),
        Err(error) => with_causes(&error),
    }
}

fn replaced(from: &'static str, to: &'static str) -> impl Fn(&str) -> String {
    move |text| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    }
}

#[test]
fn a_file_that_makes_no_sense_is_refused_with_its_place() {
    let cases = [
        ("runtime = \"trb\"", "runtime = \"xyz\"", "the runtime is 'xyz'; it must be hbg, abg or trb"),
        ("core = \"aiv\"", "core = \"gpu\"", "core of kernel 'add' is 'gpu'; it must be aic or aiv"),
        (
            "\"in\", \"in\"",
            "\"in\", \"inn\"",
            "signature of kernel 'add' is 'inn'; it must be in, out, inout or scalar",
        ),
        (
            "dtype = \"f32\"",
            "dtype = \"float\"",
            "dtype of tensor 'a' is 'float'; it must be an element type",
        ),
        (
            "shape = [\"rows\", 32]",
            "shape = [\"cows\", 32]",
            "case 'twice' has no parameter 'cows', which tensor 'a' names",
        ),
        ("rows = 16", "rows = 1.5", "tensor 'a': 1.5 is not an extent"),
        ("rows = 16", "rows = 4294967295", "tensor 'a' is too large"),
        (
            "input = { count = [0.0, 0.5] }",
            "input = { count = [0.0, 0.5], fill = 1.0 }",
            "tensor 'a': say one of fill, uniform",
        ),
        ("input = { fill = 1.0 }", "input = { file = \"none.npy\" }", "tensor 'b': cannot use"),
        ("name = \"quarter\"", "name = \"twice\"", "case 'twice' appears twice"),
        ("name = \"b\"", "name = \"a\"", "tensor 'a' appears twice"),
        ("func_id = 1", "func_id = 0", "the kernels cannot be used together: func_id 0 is registered twice"),
        ("about =", "abuot =", "unknown field `abuot`"),
        ("source = \"kernels/aiv/add.cpp\"", "source = \"kernels/aiv/none.cpp\"", "cannot read the source"),
    ];
    for (from, to, expected) in cases {
        let text = said(replaced(from, to));
        assert!(text.contains(expected), "{to}: {text}");
    }
}

/// A pipe would wait for a writer, and a device has no end.
#[test]
fn what_is_not_a_file_of_text_is_refused_without_reading_it() {
    let project = Project::new(SCENE);
    project.write("scene.toml", b"name = \"\xc4\xe3\"");
    let text = said_of(&project);
    assert!(text.ends_with("scene.toml is not UTF-8 text"), "{text}");
    // A terabyte of nothing.
    File::options().write(true).open(project.path("scene.toml")).unwrap().set_len(1 << 40).unwrap();
    let text = said_of(&project);
    assert!(text.ends_with("scene.toml: it is longer than 67108864 bytes"), "{text}");

    let project = Project::new(SCENE);
    let source = project.path("kernels/aiv/add.cpp");
    fs::remove_file(&source).unwrap();
    assert!(Command::new("mkfifo").arg(&source).status().unwrap().success());
    let text = said_of(&project);
    assert!(text.ends_with("kernels/aiv/add.cpp is not a file"), "{text}");
}

#[test]
fn the_generation_of_sources_is_seen_whatever_the_encoding_of_their_comments() {
    let sources =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/conformance/scenes/dump_marks/august/kernels");
    let scene = SCENE.replace("chain_orch.cpp", "marks_orch.cpp");
    let (scene, _) = scene.split_once("[[kernel]]\nfunc_id = 2").unwrap();
    let project = Project::new(scene);
    for name in ["aiv/add.cpp", "aiv/scale.cpp", "orchestration/marks_orch.cpp"] {
        let text = fs::read(Path::new(sources).join(name)).unwrap();
        // A greeting in GBK.
        project.write(&format!("kernels/{name}"), [b"// \xc4\xe3\xba\xc3\n".as_slice(), &text].concat());
    }
    let (case, runtime) = project.load().unwrap().case(None, None).unwrap();
    case.program(runtime, DEFAULT_CHIP).map(|_| ()).unwrap();
}

#[test]
fn a_golden_of_another_shape_or_type_is_refused() {
    let text = format!("{SCENE}\n");
    let project = Project::new(&text.replacen(
        "direction = \"out\"\ndtype = \"f32\"\nshape = [\"rows\", 32]",
        "direction = \"out\"\ndtype = \"f32\"\nshape = [\"rows\", 32]\nexpected = { file = \"out.npy\" }",
        1,
    ));
    project.write("out.npy", npy("(2,)", &[1.0, 2.0]));
    let text = said_of(&project);
    assert!(
        text.starts_with("tensor 'out' is FLOAT32 [16, 32];") && text.ends_with("holds FLOAT32 [2]"),
        "{text}"
    );
}

/// What is said of a scene whose first kernel is this text.
fn said_of_kernel(text: &str) -> String {
    let project = Project::new(SCENE);
    project.write("kernels/aiv/add.cpp", format!("#include <pto/pto-inst.hpp>\n{text}\n"));
    said_of(&project)
}

#[test]
fn a_kernel_without_an_entry_is_refused_by_that_name() {
    let text = said_of_kernel("extern \"C\" void kernel_enrty(int64_t *) {}");
    assert!(
        text.contains("kernels/aiv/add.cpp has no kernel_entry: a kernel is a function `extern"),
        "{text}"
    );
    assert!(!text.contains('\n'), "one line: {text}");
}

#[test]
fn a_kernel_entry_with_other_arguments_is_refused_with_both_declarations() {
    for (entry, words) in [
        ("extern \"C\" void kernel_entry(float *a, float *b) {}", "void kernel_entry(float*, float*)"),
        ("extern \"C\" int kernel_entry(int64_t *) { return 0; }", "int kernel_entry(int64_t*)"),
    ] {
        let text = said_of_kernel(entry);
        for part in [
            "add.cpp does not compile",
            "add.cpp:2:",
            words,
            "void kernel_entry(int64_t*)",
            "a kernel is this function",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn a_kernel_entry_that_is_not_declared_extern_c_is_one_all_the_same() {
    let project = Project::new(SCENE);
    let path = "kernels/aiv/add.cpp";
    let source = project.read(path);
    assert!(source.contains("extern \"C\""), "{source}");
    project.write(path, source.replace("extern \"C\"", ""));
    let (case, runtime) = project.load().unwrap().case(None, None).unwrap();
    case.prepare(runtime, DEFAULT_CHIP).map(|_| ()).unwrap();
}

#[test]
fn an_orchestration_without_its_entry_is_refused_by_that_name() {
    let text = said(replaced(
        "source = \"kernels/orchestration/chain_orch.cpp\"",
        "source = \"kernels/orchestration/chain_orch.cpp\"\nentry = \"build_it\"",
    ));
    assert!(text.contains("orch.cpp cannot be loaded") && text.contains("build_it"), "{text}");
}

#[test]
fn a_source_that_does_not_compile_shows_the_compiler_s_words() {
    let project = Project::new(SCENE);
    project.write("kernels/aiv/add.cpp", "#include <pto/pto-inst.hpp>\nint x = nonsense;\n");
    let text = said_of(&project);
    assert!(
        text.contains("add.cpp does not compile")
            && text.contains("nonsense")
            && text.contains("The command was"),
        "{text}"
    );
}

#[test]
fn a_task_of_a_kernel_that_is_not_there_ends_the_run_with_its_number() {
    let text = SCENE.replacen("func_id = 2", "func_id = 7", 1);
    let (case, runtime) = Project::new(&text).load().unwrap().case(None, None).unwrap();
    // The project is gone: what is prepared must not need it any more.
    let error = case.prepare(runtime, DEFAULT_CHIP).map(|_| ()).unwrap_err();
    assert!(with_causes(&error).contains("cannot read the source"), "{}", with_causes(&error));
    let project = Project::new(&text);
    let (case, runtime) = project.load().unwrap().case(None, None).unwrap();
    let mut prepared = case.prepare(runtime, DEFAULT_CHIP).unwrap();
    let config = case.config(&prepared, DEFAULT_CHIP);
    let error = Device::new(DEFAULT_CHIP).run(&prepared.program, &mut prepared.args, &config).unwrap_err();
    let text = with_causes(&error);
    assert!(text.contains('2') && text.to_lowercase().contains("kernel"), "{text}");
}
