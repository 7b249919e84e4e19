//! A workspace from an argument file alone, and what is wrong with one that does not say enough.

use argus_abi::TaskId;
use argus_abi::args::KernelAbi;
use argus_chip::A2A3SIM;
use argus_gm::Fill;
use argus_replay::{CapturedTask, Identity, Poison, Rebuilt, spec};
use argus_workspace::{Buffer, render, task_spec};

use crate::cases::{self, file};

#[test]
fn an_argument_file_and_a_source_are_enough() {
    let text = r#"{"args": [
        {"kind": "scalar", "index": 5, "name": "marker", "dtype": "FLOAT32_BITS", "value": 0.5},
        {"kind": "tensor", "index": 2, "name": "out", "dtype": "INT32", "shape": [2, 4], "role": "output"},
        {"kind": "tensor", "index": 1, "name": "b", "dtype": "INT32", "shape": [2, 4]},
        {"kind": "tensor", "index": 0, "name": "a", "dtype": "INT32", "shape": [2, 4], "fill": 7},
        {"kind": "scalar", "index": 4, "name": "weight", "dtype": "INT64", "value": -3}
    ]}"#;
    let task = CapturedTask {
        id: TaskId::INVALID,
        identity: Identity::default(),
        blocks: 1,
        abi: KernelAbi::Tensors,
        fill: Fill::Poison,
        completed: true,
        arguments: spec::parse(text.as_bytes()).unwrap(),
        notes: Vec::new(),
    };
    let rebuilt = Rebuilt::new(&task, Poison::of_run(&task)).unwrap();
    let made = task_spec(&task, &rebuilt, &[file("kernels/aic/weigh.cpp")]).unwrap();
    let bytes = |element: i32| [cases::i32_bytes([element; 8]), vec![0xFF; 992]].concat();
    let wanted = [Buffer::Bytes(bytes(7)), Buffer::Bytes(bytes(0)), Buffer::Fill { byte: 0xFF, size: 1024 }];
    assert_eq!(made.buffers, wanted);
    assert_eq!(made.origin.task_id, None);
    let scalars: Vec<_> = made.scalars().into_iter().map(|scalar| (scalar.slot, scalar.bits)).collect();
    assert_eq!(scalars, [(4, (-3i64) as u64), (5, 0x3f00_0000)]);
    let request = cases::request(made, &A2A3SIM);
    let project = render(&request).unwrap();
    let files: Vec<_> = project.files.iter().map(|file| file.path.as_str()).collect();
    assert!(
        files.contains(&"payload/buffer_01.bin") && !files.contains(&"payload/buffer_02.bin"),
        "{files:?}"
    );
}

#[test]
fn an_argument_file_that_is_wrong_is_refused_by_place() {
    let tensor =
        |keys: &str| format!(r#"{{"kind": "tensor", "name": "t", "dtype": "INT32", "shape": [2]{keys}}}"#);
    let scalar = |keys: &str| format!(r#"{{"kind": "scalar", "name": "s", "index": 1{keys}}}"#);
    let cases = [
        (
            r#"{"kind": "list", "index": 0}"#.to_owned(),
            "$[0].kind: unknown kind 'list'; there are tensor and scalar",
        ),
        (tensor(""), "$[0]: the key 'index' is missing; a tensor needs index, name, dtype and shape"),
        (
            scalar(r#", "dtype": "INT32""#),
            "$[0]: the key 'value' is missing; a scalar needs index, name, dtype and value",
        ),
        (tensor(r#", "index": -1"#), "$[0].index: index -1 is negative; slots are 0 to 47"),
        (tensor(r#", "index": 50"#), "$[0].index: index 50 exceeds max slots (50)"),
        (tensor(r#", "index": 48"#), "$[0].index: index 48 is reserved: slots 48 and 49 hold the contexts"),
        (
            [tensor(r#", "index": 1"#), scalar(r#", "dtype": "INT32", "value": 2"#)].join(","),
            "$[1].index: index 1 is already taken by $[0]",
        ),
        (
            scalar(r#", "dtype": "FLOAT64", "value": 2"#),
            "$[0].dtype: unknown dtype 'FLOAT64'; there are FLOAT32, FLOAT16, INT32, INT16, INT8, UINT8, BFLOAT16, INT64, \
             UINT64, UINT16, UINT32, BOOL, FP8E4M3FN, FP8E8M0, FP4E2M1, FLOAT32_BITS",
        ),
        (
            scalar(r#", "dtype": "INT32", "value": 2, "pack_mode": "raw""#),
            "$[0].pack_mode: 'raw' is not a pack_mode; there are value and bits",
        ),
    ];
    for (item, message) in cases {
        let error = spec::parse(format!("[{item}]").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), message);
    }
}
