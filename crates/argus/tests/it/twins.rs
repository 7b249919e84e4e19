//! The scenes in C++ that ship: bit for bit their twins in Rust, on every chip.

use std::path::Path;

use argus_abi::Kind;
use argus_chip::CHIPS;
use argus_dump::read::{Dump, Record};

use crate::tool::{argus, argus_in};

/// Scene in C++, its twin, a case, and the runtime of both.
const TWINS: [(&str, &str, &str, &str); 6] = [
    ("vector_example_cpp", "vector_example", "default", "trb"),
    ("dump_tensor_example_cpp", "dump_tensor_example", "default", "hbg"),
    ("mixed_example_cpp", "mixed_example", "case1", "trb"),
    ("pipe_mix_cpp", "pipe_mix", "default", "trb"),
    ("paged_attention_cpp", "paged_attention", "CaseSmall1", "trb"),
    ("paged_attention_cpp", "paged_attention", "CaseVarSeq4", "trb"),
];

/// The dump of a case that passed.
fn dump(home: &Path, scene: &str, case: &str, runtime: &str, chip: &str) -> Dump {
    let line = format!("run {scene} --case {case} --runtime {runtime} -p {chip} --dump-tensor -o {scene}");
    let ended = argus_in(home, &line);
    assert_eq!(ended.code, 0, "{line}: {}{}", ended.stdout, ended.stderr);
    Dump::open(&home.join(scene)).unwrap()
}

/// What a record says, apart from where and when.
fn facts(record: &Record, typed_scalars: bool) -> impl PartialEq + std::fmt::Debug + use<> {
    let typed = record.kind == Kind::Tensor || typed_scalars;
    let place = (record.task_id, record.stage, record.arg_index, record.role, record.kind);
    let view = (record.shape().to_vec(), record.strides, record.start_offset, record.contiguous);
    let kept = (record.bin_size, record.truncated, record.partial, record.created);
    let scalar = record.scalar;
    (place, record.dtype.filter(|_| typed), view, kept, scalar, record.func_ids)
}

#[test]
fn records_payloads_and_edges_are_those_of_the_rust_twins() {
    for chip in CHIPS {
        for (scene, twin, case, runtime) in TWINS {
            let home = tempfile::tempdir().unwrap();
            let [ours, theirs] = [scene, twin].map(|name| dump(home.path(), name, case, runtime, chip.name));
            let context = format!("{scene} {case} on {}", chip.name);
            assert_eq!(ours.records().len(), theirs.records().len(), "{context}");
            // A graph that is built by hand in C++ does not say what type a number in a slot has.
            let typed = runtime != "hbg";
            for (ours_at, theirs_at) in ours.records().zip(theirs.records()) {
                assert_eq!(facts(&ours_at, typed), facts(&theirs_at, typed), "{context}");
                if ours_at.bin_size > 0 {
                    let bytes = |dump: &Dump, record: &Record| dump.payload(record).unwrap().to_vec();
                    let equal = bytes(&ours, &ours_at) == bytes(&theirs, &theirs_at);
                    assert!(equal, "{context}: payload of {ours_at:?}");
                }
            }
            let [ours, theirs] = [&ours, &theirs].map(|dump| dump.graph().unwrap());
            assert_eq!(ours.edges, theirs.edges, "{context}");
            assert!(!ours.edges.is_empty() || twin == "mixed_example" || twin == "pipe_mix", "{context}");
        }
    }
}

#[test]
fn every_command_works_on_them_and_names_lines_of_c_plus_plus() {
    let home = tempfile::tempdir().unwrap();
    let good = |line: &str| {
        let ended = argus_in(home.path(), line);
        assert_eq!(ended.code, 0, "{line}: {}{}", ended.stdout, ended.stderr);
        ended.stdout
    };
    good("run paged_attention_cpp --dump-tensor -o run");
    // The references are the twin's.
    assert!(good("find run").contains("AGREE  judged 12 of 12 tasks"));
    assert!(good("verify run").contains("SOUND"));
    assert!(good("replay run --task SF:1").contains("bit-equal"));
    let traced = good("trace run --task SF:1 -o trace");
    assert!(traced.contains("kernels/aiv/softmax.cpp:"), "{traced}");
    good("trace --check trace");
    // Without a dump the scene is run first.
    assert!(good("replay paged_attention_cpp --task QK:0").contains("bit-equal"));
}

#[test]
fn a_fault_in_a_scene_in_c_plus_plus_is_found_by_the_references_of_its_twin() {
    let home = tempfile::tempdir().unwrap();
    let run = argus_in(home.path(), "run paged_attention_cpp --dump-tensor -o run --inject SF:1:zero-row");
    assert_eq!(run.code, 1, "{}", run.stderr);
    let found = argus_in(home.path(), "find run");
    assert_eq!(found.code, 1);
    assert!(found.stdout.contains("first wrong task 0x0000000200000005 (SF)"), "{}", found.stdout);
}

#[test]
fn a_scene_whose_twin_is_unknown_says_so() {
    let home = tempfile::tempdir().unwrap();
    let scene = "name = \"x\"\nruntime = \"trb\"\ntwin = \"nothing\"\n\n[orchestration]\nsource = \"o.cpp\"\n\n\
                 [[kernel]]\nfunc_id = 0\nname = \"k\"\nsource = \"k.cpp\"\ncore = \"aiv\"\n";
    let path = home.path().join("scene.toml");
    for (text, said) in [
        (scene.to_owned(), "the scene's twin cannot be used: there is no scene 'nothing'; there are vector"),
        (
            scene.replace("nothing", "matmul"),
            "case 'default' of scene 'matmul' is not written for trb; it runs on hbg",
        ),
        (
            format!("{}\n[[case]]\nname = \"x\"\n", scene.replace("nothing", "pipe_mix")),
            "scene 'pipe_mix' has no case 'x'",
        ),
        (
            format!("{}\n[tolerance]\nrtol = 1.0\n", scene.replace("nothing", "pipe_mix")),
            "shares the arguments of its twin 'pipe_mix', so tolerance cannot be said here",
        ),
        (
            format!(
                "{}\n[[case]]\nname = \"x\"\ntwin = \"default\"\n",
                scene.replace("twin = \"nothing\"\n", "")
            ),
            "case 'x' names a case of a twin, and the scene has none",
        ),
    ] {
        std::fs::write(&path, &text).unwrap();
        let ended = argus_in(home.path(), "run .");
        assert_eq!(ended.code, 2, "{text}");
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    let listed = argus("list vector_example_cpp");
    assert_eq!((listed.code, listed.stdout.contains("vector_example_cpp")), (0, true), "{}", listed.stderr);
}
