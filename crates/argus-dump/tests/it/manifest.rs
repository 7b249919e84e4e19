use argus_abi::{DType, Kind};
use argus_dump::{DumpInfo, DumpOptions, DumpWriter, OrchestrationArg, RunEnd, StatsMode};
use argus_facts::Sink;
use serde_json::{Value, json};

use crate::common::{bytes, deliver, edges, info, scalar, skip, start, task, tensor};

fn read(directory: &std::path::Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(directory.join(name)).unwrap()).unwrap()
}

/// A record as the reference wrote it in June, byte for byte.
const JUNE: &str = r#"    {"task_id": "0x0000000200000000", "arg_index": 1, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "BFLOAT16", "is_contiguous": true, "shape": [16, 16], "strides": [16, 1], "start_offset": 256, "numel": 256, "bin_offset": 512, "bin_size": 512, "truncated": false, "overwritten": false}"#;
const JUNE_SCALAR: &str = r#"    {"task_id": "0x0000000200000001", "arg_index": 4, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "UINT64", "is_contiguous": true, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "value": 1065353216, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false}"#;

#[test]
fn a_record_begins_as_the_reference_wrote_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    for arg_index in 0..2 {
        let mut entry = tensor(2 << 32, arg_index, 512);
        entry.dtype = DType::Bf16 as u8;
        entry.ndims = 2;
        entry.shapes = [16, 16, 0, 0, 0];
        entry.strides = [16, 1, 0, 0, 0];
        entry.start_offset = 256 * u64::from(arg_index);
        deliver(&mut writer, &entry, &bytes(arg_index.into(), 512), 512).unwrap();
    }
    deliver(&mut writer, &scalar(2 << 32 | 1, 4, DType::U64, 1_065_353_216), &[], 1).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    let text = std::fs::read_to_string(directory.path().join("tensor_dump.json")).unwrap();
    let lines: Vec<_> = text.lines().collect();
    for june in [JUNE, JUNE_SCALAR] {
        let start = june.strip_suffix('}').unwrap();
        assert!(lines.iter().any(|line| line.starts_with(start)), "{start}\nis not in\n{text}");
    }
    assert!(text.ends_with("}\n  ]\n}\n"));
}

#[test]
fn the_text_is_exactly_this() {
    let directory = tempfile::tempdir().unwrap();
    let orchestration_args = vec![
        OrchestrationArg {
            name: "scale \"s\"".to_owned(),
            kind: Kind::Scalar,
            dtype: DType::F32,
            shape: Vec::new(),
            address: 0,
            bits: 0x3f00_0000,
        },
        OrchestrationArg {
            name: "q".to_owned(),
            kind: Kind::Tensor,
            dtype: DType::Bf16,
            shape: vec![2, 3],
            address: 0x1000,
            bits: 0,
        },
    ];
    let info = DumpInfo { orchestration_args, ..info() };
    let mut writer = DumpWriter::create(directory.path(), DumpOptions::default(), info).unwrap();
    let mut output = tensor(0, 1, 4);
    output.role = 1;
    output.stage = 1;
    output.flags |= argus_abi::capture::argument_flags::PARTIAL;
    deliver(&mut writer, &output, b"abcd", 4).unwrap();
    deliver(&mut writer, &scalar(0, 2, DType::F32, 0x3dcc_cccd), &[], 1).unwrap();
    deliver(&mut writer, &tensor(0, 0, 4), b"abcd", 4).unwrap();
    writer.task(&task(0, [0, 1, 1])).unwrap();
    writer.skip(&skip(5, u16::MAX)).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    let checksum = format!("{:032x}", xxhash_rust::xxh3::xxh3_128(b"abcd"));
    let task = r#""func_id": [0, 1, 1], "kernel": "QK+SF", "time_ns": 1000"#;
    let expected = r#"{
  "run_dir": "tensor_dump",
  "bin_format": {
    "type": "logical_contiguous",
    "byte_order": "little_endian"
  },
  "total_tensors": 3,
  "before_dispatch": 2,
  "after_completion": 1,
  "input_tensors": 2,
  "output_tensors": 1,
  "inout_tensors": 0,
  "truncated_tensors": 0,
  "dropped_records": 0,
  "dropped_overwrite": 0,
  "bin_file": "tensor_dump.bin",
  "schema": "argus-2",
  "run_id": "0123456789abcdef0011223344556677",
  "scene": "Scene",
  "case": "case",
  "platform": "a2a3sim",
  "runtime": "host_build_graph",
  "level": "full",
  "status": "complete",
  "total_scalars": 1,
  "partial_records": 1,
  "payload_bytes": 8,
  "stored_bytes": 4,
  "dropped_bytes": 0,
  "skipped": [
    {"task_id": "0x0000000000000005", "func_id": 3, "arg_index": null, "stage": "after_completion", "reason": "the orchestration registered no tensor information for this task"}
  ],
  "orchestration_args": [
    {"dtype":"FLOAT32","kind":"scalar","name":"scale \"s\"","shape":[],"value":0.5,"value_bits":"0x000000003f000000"},
    {"address":"0x0000000000001000","dtype":"BFLOAT16","kind":"tensor","name":"q","shape":[2,3]}
  ],
  "tensors": [
    {"task_id": "0x0000000000000000", "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "UINT8", "is_contiguous": true, "shape": [4], "strides": [1], "start_offset": 0, "numel": 4, "bin_offset": 0, "bin_size": 4, "truncated": false, "overwritten": false, TASK, "address": "0x00007f0000001000", "checksum": "xxh3_128:CHECKSUM"},
    {"task_id": "0x0000000000000000", "arg_index": 2, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "FLOAT32", "is_contiguous": true, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "value": 0.1, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false, "value_bits": "0x000000003dcccccd", TASK},
    {"task_id": "0x0000000000000000", "arg_index": 1, "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": "UINT8", "is_contiguous": true, "shape": [4], "strides": [1], "start_offset": 0, "numel": 4, "bin_offset": 0, "bin_size": 4, "truncated": false, "overwritten": false, TASK, "address": "0x00007f0000001000", "partial": true, "checksum": "xxh3_128:CHECKSUM"}
  ]
}
"#;
    let expected = expected.replace("TASK", task).replace("CHECKSUM", &checksum);
    let text = std::fs::read_to_string(directory.path().join("tensor_dump.json")).unwrap();
    for (line, expected) in text.lines().zip(expected.lines()) {
        assert_eq!(line, expected);
    }
    assert_eq!(text, expected);
}

#[test]
fn a_thousand_records_read_back_as_they_were_put_in() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions { dedupe: false, ..DumpOptions::default() });
    let mut put = Vec::new();
    for index in 0..2500u64 {
        // Out of order, so that sorting has something to do.
        let task_id = (index * 617 % 2500 / 5) | (index % 3) << 32;
        let mut entry = tensor(task_id, (index % 7) as u16, index % 90);
        entry.stage = (index % 2) as u8;
        entry.role = (index % 3) as u8;
        entry.time_ns = index;
        entry.flags = (index % 4 / 2) as u8;
        entry.ndims = 3;
        entry.shapes = [1, (index % 90) as u32, 1, 9, 9];
        entry.strides = [4_294_967_295, 2, 1, 9, 9];
        entry.start_offset = index << 20;
        let payload = bytes(index, (index % 90) as usize);
        deliver(&mut writer, &entry, &payload, 33).unwrap();
        put.push((entry, payload));
    }
    writer.finish(RunEnd::default()).unwrap();
    put.sort_by_key(|(entry, _)| (entry.task_id, entry.stage, entry.arg_index, entry.role));
    let manifest = read(directory.path(), "tensor_dump.json");
    let bin = std::fs::read(directory.path().join("tensor_dump.bin")).unwrap();
    let records = manifest["tensors"].as_array().unwrap();
    assert_eq!(records.len(), put.len());
    for (record, (entry, payload)) in records.iter().zip(&put) {
        let at = record["bin_offset"].as_u64().unwrap() as usize;
        assert!(bin[at..at + payload.len()] == payload[..]);
        let expected = json!({
            "task_id": format!("0x{:016x}", entry.task_id), "arg_index": entry.arg_index,
            "role": (["input", "output", "inout"][usize::from(entry.role)]),
            "stage": (["before_dispatch", "after_completion"][usize::from(entry.stage)]),
            "kind": "tensor", "dtype": "UINT8", "is_contiguous": entry.flags & 1 == 1,
            "shape": entry.shapes[..3], "strides": entry.strides[..3], "start_offset": entry.start_offset,
            "numel": payload.len(), "bin_offset": at, "bin_size": payload.len(),
            "truncated": false, "overwritten": false,
            "time_ns": entry.time_ns, "address": "0x00007f0000001000",
            "checksum": format!("xxh3_128:{:032x}", xxhash_rust::xxh3::xxh3_128(payload)),
        });
        assert_eq!(*record, expected);
    }
}

#[test]
fn scalars_are_typed_and_keep_their_bits() {
    let cases: &[(DType, u64, Value)] = &[
        (DType::F32, 0x7fc0_0000, json!("NaN")),
        (DType::F32, 0x7f80_0000, json!("Infinity")),
        (DType::F32, 0xff80_0000, json!("-Infinity")),
        (DType::F32, 0x8000_0000, json!(-0.0)),
        (DType::F16, 0x3c00, json!(1.0)),
        (DType::I8, 0xff, json!(-1)),
        (DType::I16, 0xffff, json!(-1)),
        (DType::I32, 0xffff_fffe, json!(-2)),
        (DType::U32, 0xffff_fffe, json!(4_294_967_294u64)),
        (DType::I64, 1 << 53, json!(1u64 << 53)),
        (DType::I64, i64::MIN as u64, json!("-9223372036854775808")),
        (DType::U64, (1 << 53) + 1, json!("9007199254740993")),
        (DType::U64, u64::MAX, json!("18446744073709551615")),
        (DType::Bool, 1, json!(true)),
        (DType::Fp8E4M3Fn, 0x7f, json!("NaN")),
    ];
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    for (index, (dtype, bits, _)) in cases.iter().enumerate() {
        deliver(&mut writer, &scalar(0, index as u16, *dtype, *bits), &[], 1).unwrap();
    }
    let mut unknown = scalar(0, cases.len() as u16, DType::U64, 77);
    unknown.dtype = 200;
    deliver(&mut writer, &unknown, &[], 1).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    let manifest = read(directory.path(), "tensor_dump.json");
    for (index, (dtype, bits, value)) in cases.iter().enumerate() {
        let record = &manifest["tensors"][index];
        assert_eq!(record["value"], *value, "{dtype} {bits:#x}");
        assert_eq!(record["value_bits"], format!("0x{bits:016x}"));
    }
    let record = &manifest["tensors"][cases.len()];
    assert_eq!((&record["dtype"], &record["value"]), (&json!("UNKNOWN"), &json!(77)));
}

#[test]
fn python_reads_it() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer =
        start(directory.path(), DumpOptions { stats: StatsMode::Beside, ..DumpOptions::default() });
    let mut floats = tensor(u64::MAX - 1, 0, 8);
    floats.dtype = DType::F32 as u8;
    floats.shapes[0] = 2;
    let payload = [f32::NAN.to_le_bytes(), f32::NEG_INFINITY.to_le_bytes()].concat();
    deliver(&mut writer, &floats, &payload, 3).unwrap();
    deliver(&mut writer, &scalar(u64::MAX - 1, 1, DType::U64, u64::MAX), &[], 1).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    let program = "import json, sys; records = json.load(open(sys.argv[1]))['tensors']; \
        print(int(records[1]['value']), int(records[0]['task_id'], 16), float(records[0]['statistics']['min']))";
    let path = directory.path().join("tensor_dump.json");
    match std::process::Command::new("python3").args(["-c", program]).arg(path).output() {
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stdout);
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(text.trim(), "18446744073709551615 18446744073709551614 -inf", "{errors}");
        }
        Err(_) => eprintln!("skipped: no python3"),
    }
}

#[test]
fn the_graph_has_kernels_tasks_edges_and_scopes() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = start(directory.path(), DumpOptions::default());
    let mut waiting = task(u64::MAX - 1, [1, -1, -1]);
    waiting.task.dispatch_order = u64::MAX;
    waiting.task.state = 2;
    writer.task(&waiting).unwrap();
    let mut running = task(3, [0, 7, -1]);
    running.task.state = 1;
    writer.task(&running).unwrap();
    writer.task(&task(3, [0, 7, -1])).unwrap();
    writer.edges(&edges(u64::MAX - 1, &[(3, 0), (3, 1), (2, 2), (1, 3)])).unwrap();
    let summary = writer.finish(RunEnd::default()).unwrap();
    assert_eq!((summary.tasks, summary.edges), (2, 4));
    let last = "0xfffffffffffffffe";
    let edge = |from: &str, reason: &str| json!({"from": from, "to": last, "reason": reason});
    let kernel = |func_id: u32, name: &str| {
        json!({"func_id": func_id, "name": name, "core_type": "aiv", "abi": "tensor",
               "signature": ["in", "out", "scalar"]})
    };
    assert_eq!(
        read(directory.path(), "graph.json"),
        json!({
            "schema": "argus-graph-1",
            "kernels": [kernel(0, "QK"), kernel(1, "SF")],
            "tasks": [
                {"task_id": "0x0000000000000003", "func_id": [0, 7], "kernel": "QK+7", "blocks": 2,
                 "cores": [0, 2, 64, 255], "dispatch_order": 3, "dispatched_ns": 10, "finished_ns": 20,
                 "scope_depth": 1, "tensors": 3, "scalars": 1, "state": "completed"},
                {"task_id": last, "func_id": [1], "kernel": "SF", "blocks": 2,
                 "cores": [0, 2, 64, 255], "dispatch_order": null, "dispatched_ns": null, "finished_ns": null,
                 "scope_depth": 1, "tensors": 3, "scalars": 1, "state": "waiting"},
            ],
            "edges": [
                edge("0x0000000000000001", "write_after_read"), edge("0x0000000000000002", "overlap"),
                edge("0x0000000000000003", "explicit"), edge("0x0000000000000003", "creator"),
            ],
            "scopes": [{"depth": 1, "tasks": 2}],
        })
    );
}

#[test]
fn the_run_is_described() {
    let directory = tempfile::tempdir().unwrap();
    let mut info = info();
    info.config.insert("block_dim".to_owned(), json!(24));
    let writer = DumpWriter::create(directory.path(), DumpOptions::default(), info).unwrap();
    writer.finish(RunEnd::default()).unwrap();
    let run = read(directory.path(), "run.json");
    assert_eq!(
        (&run["scene"], &run["case"], &run["platform"]),
        (&json!("Scene"), &json!("case"), &json!("a2a3sim"))
    );
    assert_eq!((&run["status"], &run["configuration"]["block_dim"]), (&json!("complete"), &json!(24)));
    assert_eq!(run["ledger"], json!({"lost_entries": 0, "lost_bytes": 0, "rings": []}));
    assert!(
        run["versions"]["argus-dump"].is_string() && run["started"].is_string() && run["ended"].is_string()
    );
    let names: Vec<_> =
        std::fs::read_dir(directory.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert_eq!(names.len(), 5, "no temporary file is left: {names:?}");
}
