use std::fs;
use std::path::Path;

use argus_abi::{DType, Kind, TaskId};
use argus_dump::read::{Dump, Ending, FormatVersion, Record, Scalar};
use argus_export::{ExportError, Format, Group, Target, convert};

use crate::common::{everything, export, foreign, names, output, scalar, tensor, write};
use crate::python;

fn quietly(_: u64, _: u64) {}

fn reasons(groups: &[Group]) -> Vec<&str> {
    groups.iter().map(|group| group.reason.as_str()).collect()
}

/// The records of a dump that a copy in this format version has: the reference's know nothing of a task that had not ended.
fn copied(dump: &Dump, version: FormatVersion) -> Vec<Record> {
    dump.records().filter(|record| version == FormatVersion::Argus || !record.partial).collect()
}

/// Everything that both dumps can say is the same.
fn same(left: &Dump, right: &Dump) {
    let expected = copied(left, right.format_version());
    assert_eq!(expected.len(), right.len());
    for (left_record, right_record) in expected.into_iter().zip(right.records()) {
        assert_eq!(left_record.task_id, right_record.task_id);
        assert_eq!(left_record.arg_index, right_record.arg_index);
        assert_eq!((left_record.stage, left_record.role), (right_record.stage, right_record.role));
        assert_eq!(left_record.kind, right_record.kind);
        // June has the bits of a scalar and not its element type.
        if left_record.kind == Kind::Tensor || right.format_version() != FormatVersion::June {
            assert_eq!(left_record.dtype, right_record.dtype);
        }
        if left_record.kind == Kind::Tensor {
            assert_eq!(left_record.shape(), right_record.shape());
            assert_eq!(left_record.strides(), right_record.strides());
            assert_eq!(left_record.start_offset, right_record.start_offset);
            assert_eq!(left_record.contiguous, right_record.contiguous);
        }
        match (left.payload(&left_record), right.payload(&right_record)) {
            (Ok(left), Ok(right)) => assert_eq!(left, right),
            (Err(_), Err(_)) => {}
            (left, right) => panic!("{left:?} became {right:?}"),
        }
    }
}

#[test]
fn ours_to_ours_keeps_everything() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    let report = convert(&dump, Target::Argus, &home.path().join("copy"), false, &quietly).unwrap();
    assert_eq!(report.directory, home.path().join("copy/tensor_dump"));
    assert_eq!(reasons(&report.remarks), Vec::<&str>::new());
    assert_eq!(reasons(&report.without_payload), ["captured without its payload"]);
    let copy = Dump::open(&report.directory).unwrap();
    same(&dump, &copy);
    for (left, right) in dump.records().zip(copy.records()) {
        assert_eq!(left.scalar, right.scalar);
        assert_eq!(
            (left.address, left.time_ns, left.checksum),
            (right.address, right.time_ns, right.checksum)
        );
        assert_eq!((left.partial, left.func_ids), (right.partial, right.func_ids));
        assert_eq!(dump.kernel_names(&left), copy.kernel_names(&right));
    }
    let (left, right) = (dump.graph().unwrap(), copy.graph().unwrap());
    assert_eq!((&left.kernels, &left.tasks, &left.edges), (&right.kernels, &right.tasks, &right.edges));
    assert_eq!(left.edges.len(), 1);
    assert_eq!(dump.losses().skipped, copy.losses().skipped);
    assert_eq!(names(&report.directory), names(dump.directory()));
}

/// The August file as a whole, written by hand.
#[test]
fn the_august_layout_to_the_letter() {
    let home = tempfile::tempdir().unwrap();
    let mut view = output(tensor(0x1_0000_0002, 0, DType::I16, &[2, 2], vec![1, 0, 2, 0, 3, 0, 4, 0]));
    view.entry.strides[..2].copy_from_slice(&[8, 2]);
    view.entry.start_offset = 3;
    view.entry.flags = 0;
    let float = |arg, value: f32| scalar(0x1_0000_0002, arg, DType::F32, value.to_bits().into());
    let arguments = [
        view,
        float(1, 1.0),
        float(2, f32::NAN),
        float(3, f32::NEG_INFINITY),
        float(4, 1e6),
        float(5, 0.1),
        float(6, std::f32::consts::PI),
        scalar(0x1_0000_0002, 7, DType::I32, 0xffff_fffb),
        scalar(0x1_0000_0002, 8, DType::Bool, 1),
        scalar(0x1_0000_0002, 9, DType::I16, 0xffff),
    ];
    let dump = write(&home.path().join("tensor_dump"), &arguments);
    let report = convert(&dump, Target::August, &home.path().join("august"), false, &quietly).unwrap();
    let value = |arg: u8, dtype: &str, value: &str| {
        format!(
            r#"    {{"task_id": "0x0000000100000002", "func_id": [0], "arg_index": {arg}, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "{dtype}", "value": {value}, "is_contiguous": true, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false}},
"#
        )
    };
    let entries: String = [
        value(1, "FLOAT32", "1.0"),
        value(2, "FLOAT32", "null"),
        value(3, "FLOAT32", "\"-$Inf\""),
        value(4, "FLOAT32", "1e+06"),
        value(5, "FLOAT32", "0.1"),
        value(6, "FLOAT32", "3.14159"),
        value(7, "INT32", "-5"),
        value(8, "BOOL", "true"),
        value(9, "INT16", "65535"),
    ]
    .concat();
    let expected = format!(
        r#"{{
  "run_dir": "args_dump",
  "bin_format": {{
    "type": "logical_contiguous",
    "byte_order": "little_endian"
  }},
  "dump_args_level": 2,
  "total_args": 10,
  "before_dispatch": 9,
  "after_completion": 1,
  "input_args": 9,
  "output_args": 1,
  "inout_args": 0,
  "truncated_args": 0,
  "dropped_records": 0,
  "dropped_overwrite": 0,
  "bin_file": "args.bin",
  "args": [
{entries}    {{"task_id": "0x0000000100000002", "func_id": [0], "arg_index": 0, "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": "INT16", "is_contiguous": false, "shape": [2, 2], "strides": [8, 2], "start_offset": 3, "numel": 4, "bin_offset": 0, "bin_size": 8, "truncated": false, "overwritten": false}}
  ]
}}
"#
    );
    assert_eq!(names(&report.directory), ["args.bin", "args_dump.json"]);
    assert_eq!(fs::read_to_string(report.directory.join("args_dump.json")).unwrap(), expected);
    assert_eq!(fs::read(report.directory.join("args.bin")).unwrap(), [1, 0, 2, 0, 3, 0, 4, 0]);
    let rounded = report.remarks.iter().find(|group| group.reason.contains("six digits")).unwrap();
    // NaN has lost its bits, too.
    assert_eq!(rounded.records.len(), 2);
    assert!(
        reasons(&report.remarks)
            .iter()
            .any(|reason| reason.starts_with("the layout has no place for the graph"))
    );
    let copy = Dump::open(&report.directory).unwrap();
    assert_eq!(copy.format_version(), FormatVersion::August);
    same(&dump, &copy);
}

#[test]
fn every_target_reads_back_and_exports_the_same() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    for target in Target::ALL {
        let out = home.path().join(target.name());
        let report = convert(&dump, target, &out, false, &quietly).unwrap();
        let copy = Dump::open(&report.directory).unwrap();
        same(&dump, &copy);
        let beyond = report.remarks.iter().find(|group| group.reason.contains("beyond its element type"));
        assert_eq!(beyond.map(|group| group.records.len()), (target == Target::August).then_some(3));
        let left_out = report.remarks.iter().find(|group| group.reason.starts_with("left out: "));
        assert_eq!(left_out.map(|group| group.records.len()), (target != Target::Argus).then_some(1));
        for (left, right) in copied(&dump, copy.format_version()).into_iter().zip(copy.records()) {
            match right.scalar {
                Some(Scalar::Bits(copied)) => {
                    let Some(Scalar::Bits(bits)) = left.scalar else { panic!("{left:?}") };
                    let typed = matches!(left.dtype, Some(DType::I32 | DType::U32 | DType::Bool));
                    match left.dtype.unwrap() {
                        // August writes the value, and the bits beyond the type are in the report.
                        DType::Bool if target == Target::August => {
                            assert_eq!(copied, u64::from(bits & 0xff != 0))
                        }
                        _ if target == Target::August && typed => assert_eq!(copied as u32, bits as u32),
                        _ => assert_eq!(copied, bits),
                    }
                }
                Some(Scalar::Rounded(value)) => {
                    let Some(Scalar::Bits(bits)) = left.scalar else { panic!("{left:?}") };
                    let exact = f64::from(f32::from_bits(bits as u32));
                    assert!((value - exact).abs() <= exact.abs() * 1e-5, "{value} {exact}");
                }
                None => assert_eq!(left.scalar, None),
            }
            if target == Target::August {
                assert_eq!(left.func_ids, right.func_ids);
            }
        }
        let arrays = home.path().join("npy").join(target.name());
        export(&copy, Format::Npy, &arrays).unwrap();
        python::run("check_arrays.py", &[&report.directory, &arrays]);
    }
}

#[test]
fn a_dump_of_the_reference_becomes_ours_with_its_func_ids_and_no_invented_times() {
    let home = tempfile::tempdir().unwrap();
    let manifest = r#"{
  "run_dir": "args_dump",
  "bin_format": {
    "type": "logical_contiguous",
    "byte_order": "little_endian"
  },
  "dump_args_level": 3,
  "total_args": 3,
  "before_dispatch": 2,
  "after_completion": 1,
  "input_args": 2,
  "output_args": 1,
  "inout_args": 0,
  "truncated_args": 0,
  "dropped_records": 7,
  "dropped_overwrite": 0,
  "bin_file": "args.bin",
  "args": [
    {"task_id": "0x0000000100000001", "func_id": [2, 5, 5], "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "INT8", "is_contiguous": true, "shape": [4], "strides": [1], "start_offset": 0, "numel": 4, "bin_offset": 0, "bin_size": 4, "truncated": false, "overwritten": false},
    {"task_id": "0x0000000100000001", "func_id": [2, 5, 5], "arg_index": 2, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "FLOAT32", "value": 0.333333, "is_contiguous": true, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "arg_index_ambiguous": true, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false},
    {"task_id": "0x0000000100000001", "func_id": [2, 5, 5], "arg_index": 1, "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": "INT8", "is_contiguous": true, "shape": [4], "strides": [1], "start_offset": 0, "numel": 4, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false}
  ]
}
"#;
    let directory =
        foreign(home.path(), "args_dump", ("args_dump.json", manifest), ("args.bin", &[9, 8, 7, 6]));
    let dump = Dump::open(&directory).unwrap();
    let report = convert(&dump, Target::Argus, &home.path().join("ours"), false, &quietly).unwrap();
    let copy = Dump::open(&report.directory).unwrap();
    assert_eq!(copy.format_version(), FormatVersion::Argus);
    same(&dump, &copy);
    for record in copy.records() {
        assert_eq!(*record.func_ids, [2, 5, 5]);
        assert_eq!(copy.kernel_names(&record), "2+5");
    }
    let task = copy.graph().unwrap().task(TaskId::new(1, 1)).unwrap();
    assert_eq!((task.dispatch_order, task.tensors, task.scalars), (None, 2, 1));
    assert_eq!(copy.losses().dropped_records, 7);
    assert_eq!(copy.ending(), &Ending::Unknown);
    assert!(copy.records().all(|record| record.time_ns.is_none()));
    assert_eq!(copy.record(1).scalar, Some(Scalar::Bits(0.333_333f32.to_bits().into())));
    assert_eq!(
        reasons(&report.remarks),
        [
            "its argument may be another one: the copy has no mark for that",
            "the dump has no graph: the copy has its tasks and no edges, names or times",
            "the dump has this scalar in six digits only; its bits are those of the nearest number",
        ]
    );
    // And back again: the August text is the same, but for the mark that was lost and the losses that were ours.
    let back = convert(&copy, Target::August, &home.path().join("back"), false, &quietly).unwrap();
    let text = fs::read_to_string(back.directory.join("args_dump.json")).unwrap();
    assert_eq!(text, manifest.replace(", \"arg_index_ambiguous\": true", ""));
    assert_eq!(fs::read(back.directory.join("args.bin")).unwrap(), [9, 8, 7, 6]);
}

#[test]
fn a_dump_without_payload_has_no_payload_file_in_august() {
    let home = tempfile::tempdir().unwrap();
    let mut bare = tensor(1, 0, DType::F32, &[8], Vec::new());
    bare.entry.flags |= argus_abi::capture::argument_flags::NO_PAYLOAD;
    let dump = write(&home.path().join("tensor_dump"), &[bare]);
    let report = convert(&dump, Target::August, &home.path().join("to"), false, &quietly).unwrap();
    assert_eq!(names(&report.directory), ["args_dump.json"]);
    let text = fs::read_to_string(report.directory.join("args_dump.json")).unwrap();
    assert!(text.contains("\"dump_args_level\": 3,") && text.contains("\"bin_file\": null,"), "{text}");
    assert_eq!(Dump::open(&report.directory).unwrap().len(), 1);
}

#[test]
fn a_dump_is_replaced_as_a_whole_and_only_if_it_is_one() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    let out = home.path().join("to");
    convert(&dump, Target::Argus, &out, false, &quietly).unwrap();
    let place = out.join("tensor_dump");
    let error = convert(&dump, Target::June, &out, false, &quietly).unwrap_err();
    assert!(matches!(&error, ExportError::Exists { path } if *path == place), "{error}");
    // No journal of the old dump stays beside the new manifest.
    convert(&dump, Target::June, &out, true, &quietly).unwrap();
    assert_eq!(names(&place), ["tensor_dump.bin", "tensor_dump.json"]);
    assert_eq!(names(&out), ["tensor_dump"]);
    fs::write(place.join("notes.txt"), "mine").unwrap();
    let error = convert(&dump, Target::Argus, &out, true, &quietly).unwrap_err();
    assert!(error.to_string().contains("notes.txt"), "{error}");
    assert_eq!(names(&place), ["notes.txt", "tensor_dump.bin", "tensor_dump.json"]);
    assert_eq!(left_behind(home.path()), Vec::<String>::new());
}

fn left_behind(directory: &Path) -> Vec<String> {
    names(directory).into_iter().filter(|name| name.starts_with('.')).collect()
}

/// The June file as a whole, written by hand: the reference of June gives every scalar the type UINT64.
#[test]
fn the_june_layout_to_the_letter() {
    let home = tempfile::tempdir().unwrap();
    let arguments = [
        tensor(0x1_0000_0002, 0, DType::I16, &[2], vec![1, 0, 2, 0]),
        scalar(0x1_0000_0002, 1, DType::F32, 1.0f32.to_bits().into()),
        scalar(0x1_0000_0002, 2, DType::I32, u64::MAX),
        scalar(0x1_0000_0002, 3, DType::U64, 7),
    ];
    let dump = write(&home.path().join("tensor_dump"), &arguments);
    let report = convert(&dump, Target::June, &home.path().join("june"), false, &quietly).unwrap();
    let value = |arg: u8, value: &str| {
        format!(
            r#",
    {{"task_id": "0x0000000100000002", "arg_index": {arg}, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "UINT64", "is_contiguous": true, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "value": {value}, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false}}"#
        )
    };
    let scalars: String = [value(1, "1065353216"), value(2, "18446744073709551615"), value(3, "7")].concat();
    let expected = format!(
        r#"{{
  "run_dir": "tensor_dump",
  "bin_format": {{
    "type": "logical_contiguous",
    "byte_order": "little_endian"
  }},
  "total_tensors": 4,
  "before_dispatch": 4,
  "after_completion": 0,
  "input_tensors": 4,
  "output_tensors": 0,
  "inout_tensors": 0,
  "truncated_tensors": 0,
  "dropped_records": 0,
  "dropped_overwrite": 0,
  "bin_file": "tensor_dump.bin",
  "tensors": [
    {{"task_id": "0x0000000100000002", "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "INT16", "is_contiguous": true, "shape": [2], "strides": [1], "start_offset": 0, "numel": 2, "bin_offset": 0, "bin_size": 4, "truncated": false, "overwritten": false}}{scalars}
  ]
}}
"#
    );
    assert_eq!(fs::read_to_string(report.directory.join("tensor_dump.json")).unwrap(), expected);
    let typed = report.remarks.iter().find(|group| group.reason.contains("as UINT64")).unwrap();
    assert_eq!(typed.records, [1, 2]);
}

/// How a run ended, when a record was captured and what a scalar was are copied, or left unsaid.
#[test]
fn a_copy_says_no_more_than_its_dump() {
    let home = tempfile::tempdir().unwrap();
    // Without its end, the journal of a whole dump is that of a run that was killed.
    let killed = home.path().join("killed");
    drop(write(&killed, &[scalar(1, 0, DType::I32, 5)]));
    let journal = fs::read(killed.join(argus_dump::JOURNAL_FILE)).unwrap();
    let end = journal.len() - argus_dump::journal::ENTRY_BYTES;
    fs::write(killed.join(argus_dump::JOURNAL_FILE), &journal[..end]).unwrap();
    for file in [argus_dump::MANIFEST_FILE, argus_dump::RUN_FILE] {
        fs::remove_file(killed.join(file)).unwrap();
    }
    let dump = Dump::open(&killed).unwrap();
    let Ending::Unfinished { why } = dump.ending() else { panic!("{:?}", dump.ending()) };
    let report = convert(&dump, Target::Argus, &home.path().join("copy"), false, &quietly).unwrap();
    let unfinished = Ending::Unfinished { why: why.clone() };
    assert_eq!(Dump::open(&report.directory).unwrap().ending(), &unfinished);
    // Its manifest alone says the same.
    fs::remove_file(report.directory.join(argus_dump::JOURNAL_FILE)).unwrap();
    assert_eq!(Dump::open(&report.directory).unwrap().ending(), &unfinished);

    let june = r#"{"run_dir": "tensor_dump", "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"}, "total_tensors": 1, "tensors": [
    {"task_id": "0x0000000100000001", "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "UINT64", "is_contiguous": true, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false}
  ]}"#;
    let from = foreign(home.path(), "tensor_dump", ("tensor_dump.json", june), ("tensor_dump.bin", &[]));
    let dump = Dump::open(&from).unwrap();
    for target in Target::ALL {
        let out = home.path().join("unvalued").join(target.name());
        let report = convert(&dump, target, &out, false, &quietly).unwrap();
        for journal in [true, false] {
            let copy = Dump::open(&report.directory).unwrap();
            let record = copy.record(0);
            assert_eq!(
                (record.scalar, record.time_ns, copy.ending()),
                (None, None, &Ending::Unknown),
                "{target:?}"
            );
            if journal {
                fs::remove_file(report.directory.join(argus_dump::JOURNAL_FILE)).ok();
            }
        }
    }
}
