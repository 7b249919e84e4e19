//! Runs as they lie on the disk.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::fs;
use std::path::Path;

use argus_runs::capture::{Wanted, prefix};
use argus_runs::{Capture, RunError, RunTree};

const MANIFEST: &str = r#"{"run_dir": "args_dump", "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"}, "dump_args_level": 2, "total_args": 1, "before_dispatch": 1, "after_completion": 0, "input_args": 1, "output_args": 0, "inout_args": 0, "truncated_args": 0, "dropped_records": 0, "dropped_overwrite": 0, "bin_file": "args.bin", "args": [
{"run_epoch": 7, "task_id": "0x0000000200000000", "func_id": [0], "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "FLOAT32", "is_contiguous": true, "shape": [2], "strides": [1], "start_offset": 0, "numel": 2, "bin_offset": 0, "bin_size": 8, "truncated": false}]}"#;

fn capture(directory: &Path, program: &str) {
    fs::create_dir_all(directory.join("args_dump")).unwrap();
    fs::write(directory.join("args_dump/args_dump.json"), MANIFEST).unwrap();
    fs::write(directory.join("args_dump/args.bin"), [0; 8]).unwrap();
    fs::write(directory.join("dispatch_program.json"), format!("{{\"program\": \"{program}\"}}")).unwrap();
}

const DEPS: &str = r#"{"tasks":[{"task_id":"8589934592","scope":"auto","kernel_ids":[0,-1,-1],"block_num":1,"args":[]}],"tensors":[],"edges":[]}"#;

#[test]
fn the_graph_of_a_neighbour_is_named_and_not_used() {
    let home = tempfile::tempdir().unwrap();
    let rank = home.path().join("dfx_outputs/rank0");
    for (dispatch, program) in [("d0", "attention"), ("d1", "attention"), ("d2", "gather")] {
        capture(&rank.join(dispatch), program);
    }
    fs::write(rank.join("d0/deps.json"), DEPS).unwrap();
    let notes =
        |dispatch: &str| Capture::open(&rank.join(dispatch), Wanted::All).unwrap().dump.notes().to_vec();
    assert_eq!(notes("d0"), Vec::<String>::new());
    let told = notes("d1");
    assert!(told.len() == 1 && told[0].ends_with("d0/deps.json"), "{told:?}");
    assert_eq!(notes("d2"), Vec::<String>::new());
    assert!(Capture::open(&rank.join("d1"), Wanted::All).unwrap().dump.graph().is_none());
}

#[test]
fn names_of_a_program_are_those_of_its_own_kernels() {
    let home = tempfile::tempdir().unwrap();
    for (rank, program, name) in [(0, "attention", "QK"), (1, "gather", "fill")] {
        capture(&home.path().join(format!("dfx_outputs/rank{rank}/d0")), program);
        let kernels = home.path().join("next_levels").join(program);
        fs::create_dir_all(&kernels).unwrap();
        let text = format!(
            "KERNELS = [\n    {{\"func_id\": 0, \"name\": \"{name}\", \"core_type\": \"aic\"}},\n]\n"
        );
        fs::write(kernels.join("kernel_config.py"), text).unwrap();
        let opened =
            Capture::open(&home.path().join(format!("dfx_outputs/rank{rank}/d0")), Wanted::Graph).unwrap();
        assert_eq!(opened.dump.kernel_name(0), Some(name));
    }
}

#[test]
fn a_tree_is_no_capture_and_says_which_it_holds() {
    let home = tempfile::tempdir().unwrap();
    for place in ["rank0/d0", "rank0/d1", "rank2/d0"] {
        capture(&home.path().join(place), "attention");
    }
    let Err(RunError::Ranks { labels, .. }) = Capture::open(home.path(), Wanted::Graph) else {
        panic!("a tree")
    };
    assert_eq!(labels, ["rank0/d0", "rank0/d1", "rank2/d0"]);
    let tree = RunTree::read(home.path()).unwrap();
    assert_eq!(tree.ranks.missing, ["rank1"]);
    assert_eq!(tree.choose(Some("0,2")).unwrap(), [0, 1, 2]);
    assert_eq!(tree.choose(Some("2..2")).unwrap(), [2]);
    assert!(matches!(tree.choose(Some("1")), Err(RunError::NoRank { rank: 1, .. })));
    assert!(matches!(tree.choose(Some("2..0")), Err(RunError::RankText { .. })));
    let rows = tree.table();
    assert_eq!(
        (rows[0].glance.records, rows[0].glance.epoch, rows[0].glance.payload_bytes),
        (Some(1), Some(7), 8)
    );
    // Same program, same number of dispatch.
    let groups = tree.groups(&[0, 1, 2]);
    let told: Vec<_> = groups.iter().map(|group| (group.name.as_str(), &group.captures[..])).collect();
    assert_eq!(told, [("attention, dispatch 0", &[0, 2][..]), ("attention, dispatch 1", &[1][..])]);
}

#[test]
fn the_directory_of_a_capture_is_the_one_above_its_dump() {
    for (dump, capture) in [
        ("run/args_dump", "run"),
        ("run/tensor_dump_20260101", "run"),
        ("plain", "plain"),
        ("args_dump", "."),
    ] {
        assert_eq!(prefix(Path::new(dump)), Path::new(capture));
    }
}
