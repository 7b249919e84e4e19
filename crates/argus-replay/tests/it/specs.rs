//! Argument lists in JSON: what they mean, and one clear error for each mistake.

use argus_abi::args::KernelAbi;
use argus_abi::{DType, Role, RuntimeKind};
use argus_chip::A2A3SIM;
use argus_facts::with_causes;
use argus_replay::{CapturedTask, Code, Content, Identity, Options, SpecError, What, replay, spec};
use argus_scenes::{self};

fn error(text: &str) -> String {
    with_causes(&spec::parse(text.as_bytes()).unwrap_err())
}

#[test]
fn tensors_and_scalars_are_sorted_by_slot_and_keep_exact_bits() {
    let text = r#"{ "args": [
        { "kind": "scalar", "index": 4, "name": "scale", "dtype": "FLOAT32", "value": 0.25, "pack_mode": "bits" },
        { "kind": "scalar", "index": 5, "name": "again", "dtype": "FLOAT32_BITS", "value": -2 },
        { "kind": "scalar", "index": 6, "name": "count", "dtype": "INT64", "value": -3 },
        { "kind": "scalar", "index": 3, "name": "size", "dtype": "UINT32", "value": 16 },
        { "kind": "tensor", "index": 0, "name": "x", "dtype": "BFLOAT16", "shape": [2, 3], "fill": "1.5" },
        { "kind": "tensor", "index": 1, "name": "y", "dtype": "FLOAT32", "shape": [4], "role": "output" },
        { "kind": "tensor", "index": 2, "name": "z", "dtype": "INT32", "shape": [2], "role": "inout" }
    ] }"#;
    let arguments = spec::parse(text.as_bytes()).unwrap();
    let slots: Vec<usize> = arguments.iter().map(|argument| argument.slot).collect();
    assert_eq!(slots, [0, 1, 2, 3, 4, 5, 6]);
    let bits = |slot: usize| match arguments[slot].what {
        What::Scalar { bits, .. } => bits,
        _ => panic!("slot {slot} is no scalar"),
    };
    assert_eq!([3, 4, 5, 6].map(bits), [16, 0x3e80_0000, 0xc000_0000, (-3i64) as u64]);
    let tensor = |slot: usize| match &arguments[slot].what {
        What::Tensor(tensor) => tensor,
        _ => panic!("slot {slot} is no tensor"),
    };
    assert_eq!(tensor(0).before, Content::Bytes([0xc0, 0x3f].repeat(6)));
    assert_eq!(
        (tensor(0).dtype, tensor(0).role, &tensor(0).strides[..]),
        (DType::Bf16, Role::Input, &[3, 1][..])
    );
    assert_eq!(tensor(1).before, Content::Unneeded);
    assert_eq!(tensor(2).before, Content::Bytes(vec![0; 8]));
    // The bare list means the same.
    assert_eq!(spec::parse(b"[]").unwrap(), []);
}

#[test]
fn every_mistake_has_one_error_that_names_its_place() {
    let tensor = |extra: &str| {
        format!(
            r#"{{"args": [{{"kind": "tensor", "name": "x", "dtype": "FLOAT32", "shape": [4], {extra}}}]}}"#
        )
    };
    let scalar = |extra: &str| format!(r#"[{{"kind": "scalar", "index": 0, "name": "s", {extra}}}]"#);
    let cases: Vec<(String, &str)> = vec![
        ("{".into(), "not JSON"),
        ("{}".into(), "$: an argument spec is a list"),
        (r#"{"args": 3}"#.into(), "$.args: an argument spec is a list"),
        ("[3]".into(), "$[0]: an argument is an object, not a number"),
        (r#"[{"index": 0}]"#.into(), "$[0]: the key 'kind' is missing"),
        (r#"[{"kind": "matrix"}]"#.into(), "$[0].kind: unknown kind 'matrix'"),
        (tensor(r#""index": -1"#), "$.args[0].index: index -1 is negative"),
        (tensor(r#""index": 50"#), "$.args[0].index: index 50 exceeds max slots (50)"),
        (tensor(r#""index": 48"#), "$.args[0].index: index 48 is reserved"),
        (tensor(r#""index": 49"#), "$.args[0].index: index 49 is reserved"),
        (tensor(r#""index": 1.5"#), "$.args[0].index: 1.5 is not a slot number"),
        (tensor(r#""role": "input""#), "$.args[0]: the key 'index' is missing; a tensor needs"),
        (tensor(r#""index": 0, "role": "both""#), "$.args[0].role: 'both' is not a role"),
        (tensor(r#""index": 0, "fill": "blue""#), "$.args[0].fill: 'blue' is not a fill"),
        (tensor(r#""index": 0, "fill": "missing.npy""#), "$.args[0].fill: slot 0: missing.npy"),
        (tensor(r#""index": 0, "colour": 1"#), "$.args[0]: there is no key 'colour' for a tensor"),
        (tensor(r#""index": 0, "shape": [0]"#), "$.args[0].shape: a tensor has 1 to 5 dimensions"),
        (tensor(r#""index": 0, "shape": [1, 1, 1, 1, 1, 1]"#), "$.args[0].shape: a tensor has 1 to 5"),
        (
            tensor(r#""index": 0, "dtype": "FLOAT33""#),
            "$.args[0].dtype: unknown dtype 'FLOAT33'; there are FLOAT32",
        ),
        (tensor(r#""index": 0, "dtype": "FLOAT32_BITS""#), "$.args[0].dtype: unknown dtype 'FLOAT32_BITS'"),
        (
            scalar(r#""dtype": "INT8""#),
            "$[0]: the key 'value' is missing; a scalar needs index, name, dtype and value",
        ),
        (scalar(r#""dtype": "INT8", "value": 300"#), "$[0].value: 300 does not fit INT8"),
        (scalar(r#""dtype": "INT8", "value": [1]"#), "$[0].value: a list is not a number"),
        (scalar(r#""dtype": "INT9", "value": 1"#), "$[0].dtype: unknown dtype 'INT9'"),
        (
            scalar(r#""dtype": "INT8", "value": 1, "pack_mode": "raw""#),
            "$[0].pack_mode: 'raw' is not a pack_mode",
        ),
        (scalar(r#""value": 1"#), "$[0]: the key 'dtype' is missing"),
    ];
    for (text, says) in cases {
        let error = error(&text);
        assert!(error.contains(says), "{text}\nsays: {error}\nshould say: {says}");
    }
    let twice = r#"[{"kind": "scalar", "index": 7, "name": "a", "dtype": "INT8", "value": 1},
                    {"kind": "scalar", "index": 7, "name": "b", "dtype": "INT8", "value": 2}]"#;
    let Err(SpecError::Duplicate { path, index, other }) = spec::parse(twice.as_bytes()) else {
        panic!("two arguments in one slot")
    };
    assert_eq!((&*path, index, &*other), ("$[1].index", 7, "$[0]"));
}

/// f = a + b on a kernel of a scene, without any dump.
#[test]
fn a_kernel_runs_on_arguments_that_only_a_spec_gives() {
    let (case, runtime) =
        argus_scenes::scene("dump_tensor_example").unwrap().case(None, Some(RuntimeKind::Trb)).unwrap();
    let code = Code::from_program(&case.prepare(runtime, argus_chip::DEFAULT_CHIP).unwrap().program);
    let name = code.kernels.iter().next().unwrap().name.to_string();
    let size = 128 * 128;
    let text = format!(
        r#"[{{"kind": "tensor", "index": 0, "name": "a", "dtype": "FLOAT32", "shape": [{size}], "fill": 1.5}},
            {{"kind": "tensor", "index": 1, "name": "b", "dtype": "FLOAT32", "shape": [{size}], "fill": "2"}},
            {{"kind": "tensor", "index": 2, "name": "f", "dtype": "FLOAT32", "shape": [{size}], "role": "output"}}]"#
    );
    let identity = Identity { members: vec![code.kernel(&name).unwrap()], ..Identity::default() };
    let mut task = CapturedTask::of_kernel(identity, KernelAbi::Tensors);
    task.arguments = spec::parse(text.as_bytes()).unwrap();
    let proof = replay(&task, &code.kernels, &A2A3SIM, &Options::default(), 1).unwrap();
    assert!(proof.outcome.result.is_ok(), "{:?}", proof.outcome.result);
    assert!(!proof.compared());
    assert_eq!(proof.outcome.outputs[0].bytes, 3.5f32.to_le_bytes().repeat(size));
}
