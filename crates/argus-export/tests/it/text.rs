//! Text files compared with ones written by hand from the layout's description.

use std::fs;
use std::path::Path;

use argus_abi::DType;
use argus_abi::capture::argument_flags;
use argus_dump::read::Dump;
use argus_export::Format;

use crate::common::{Argument, export, foreign, names, output, scalar, tensor, write};

fn read(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

const JUNE_HEAD: &str = r#"{
  "run_dir": "tensor_dump",
  "bin_format": {
    "type": "logical_contiguous",
    "byte_order": "little_endian"
  },
  "total_tensors": 0,
  "before_dispatch": 0,
  "after_completion": 0,
  "input_tensors": 0,
  "output_tensors": 0,
  "inout_tensors": 0,
  "truncated_tensors": 0,
  "dropped_records": 0,
  "dropped_overwrite": 0,
  "bin_file": "tensor_dump.bin",
  "tensors": [
"#;

#[test]
fn april() {
    let home = tempfile::tempdir().unwrap();
    let head =
        JUNE_HEAD.replace("{\n  \"run_dir\"", "{\n  \"timestamp\": \"20260415_101112\",\n  \"run_dir\"");
    let head = head.replace("tensor_dump.bin", "tensor_dump_20260415_101112.bin");
    let entry = r#"    {"task_id": "0x0000000100000002", "subtask_id": 1, "func_id": 3, "role": "inout", "stage": "after_completion", "arg_index": 4, "dtype": "FLOAT32", "is_contiguous": false, "shape": [2, 3], "raw_shape": [8, 10], "offsets": [1, 5], "numel": 6, "bin_offset": 0, "bin_size": 24, "truncated": false, "overwritten": false}"#;
    let values: [f32; 6] = [1.0, -2.5, 0.1, 1e10, -1.0e-7, 123_456.78];
    let bin: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let directory = foreign(
        home.path(),
        "tensor_dump_20260415_101112",
        ("tensor_dump_20260415_101112.json", &format!("{head}{entry}\n  ]\n}}\n")),
        ("tensor_dump_20260415_101112.bin", &bin),
    );
    let out = home.path().join("txt");
    export(&Dump::open(&directory).unwrap(), Format::Txt, &out).unwrap();
    assert_eq!(names(&out), ["task_0x0000000100000002_s1_after_inout4.txt"]);
    let expected = "\
# task_id: 0x0000000100000002
# subtask_id: 1
# role: inout
# stage: after_completion
# arg_index: 4
# func_id: 3
# dtype: FLOAT32
# is_contiguous: False
# shape: [2, 3]
# raw_shape: [8, 10]
# offsets: [1, 5]

# Overview:
     1   -2.5    0.1
 1e+10 -1e-07 123457

# Detail:
[0, 0] 1
[0, 1] -2.5
[0, 2] 0.1
[1, 0] 1e+10
[1, 1] -1e-07
[1, 2] 123457
";
    assert_eq!(read(&out, "task_0x0000000100000002_s1_after_inout4.txt"), expected);
}

#[test]
fn june() {
    let home = tempfile::tempdir().unwrap();
    let entries = [
        r#"{"task_id": "0x0000000000000000", "arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "FLOAT16", "is_contiguous": true, "shape": [3], "strides": [1], "start_offset": 5, "numel": 3, "bin_offset": 0, "bin_size": 6, "truncated": false, "overwritten": false}"#,
        r#"{"task_id": "0x0000000000000000", "arg_index": 1, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "UINT64", "is_contiguous": true, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "value": 1065353216, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false}"#,
        r#"{"task_id": "0x0000000000000000", "arg_index": 2, "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": "UINT16", "is_contiguous": true, "shape": [2], "strides": [1], "start_offset": 0, "numel": 2, "bin_offset": 6, "bin_size": 4, "truncated": false, "overwritten": false}"#,
        r#"{"task_id": "0x0000000000000000", "arg_index": 3, "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": "INT64", "is_contiguous": true, "shape": [2, 2], "strides": [2, 1], "start_offset": 0, "numel": 4, "bin_offset": 10, "bin_size": 24, "truncated": true, "overwritten": false}"#,
        r#"{"task_id": "0x0000000000000000", "arg_index": 4, "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": "INT8", "is_contiguous": true, "shape": [2], "strides": [1], "start_offset": 0, "numel": 2, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": true}"#,
    ];
    let mut bin: Vec<u8> = [0x3555u16, 0xfc00, 0x7e00].iter().flat_map(|bits| bits.to_le_bytes()).collect();
    bin.extend([0x12, 0xab, 0x34, 0xcd]);
    bin.extend([-1i64, 20, i64::MAX].iter().flat_map(|value| value.to_le_bytes()));
    let text = format!("{JUNE_HEAD}    {}\n  ]\n}}\n", entries.join(",\n    "));
    let directory =
        foreign(home.path(), "tensor_dump", ("tensor_dump.json", &text), ("tensor_dump.bin", &bin));
    let out = home.path().join("txt");
    let report = export(&Dump::open(&directory).unwrap(), Format::Txt, &out).unwrap();
    let head = |arg: u8, role: &str, stage: &str, dtype: &str, shape: &str, strides: &str, offset: u8| {
        format!(
            "# task_id: 0x0000000000000000\n# role: {role}\n# stage: {stage}\n# arg_index: {arg}\n\
             # dtype: {dtype}\n# is_contiguous: True\n# shape: {shape}\n# strides: {strides}\n\
             # start_offset: {offset}\n"
        )
    };
    let (before, after) = ("before_dispatch", "after_completion");
    let expected = [
        (
            "task_0x0000000000000000_before_in0.txt",
            head(0, "input", before, "FLOAT16", "[3]", "[1]", 5)
                + "\n# Overview:\n0.3333   -inf    nan\n\n# Detail:\n[0] 0.3333\n[1] -inf\n[2] nan\n",
        ),
        (
            "task_0x0000000000000000_before_in1.txt",
            head(1, "input", before, "UINT64", "[]", "[]", 0) + "# (no data)\n",
        ),
        (
            // June's viewer does not know UINT16 and shows bytes, as many as there are elements.
            "task_0x0000000000000000_after_out2.txt",
            head(2, "output", after, "UINT16", "[2]", "[1]", 0)
                + "\n# Overview:\n0x12 0xab\n\n# Detail:\n[0] 0x12\n[1] 0xab\n",
        ),
        (
            "task_0x0000000000000000_after_out3.txt",
            head(3, "output", after, "INT64", "[2, 2]", "[2, 1]", 0)
                + "# DATA TRUNCATED (tensor too large for arena)\n\n# Overview:\n\
                 \x20                -1                  20\n9223372036854775807\n\n\
                   # Detail:\n[0, 0] -1\n[0, 1] 20\n[1, 0] 9223372036854775807\n",
        ),
        (
            "task_0x0000000000000000_after_out4.txt",
            head(4, "output", after, "INT8", "[2]", "[1]", 0) + "# DATA OVERWRITTEN (host too slow)\n",
        ),
    ];
    assert_eq!(names(&out).len(), expected.len());
    for (name, text) in expected {
        assert_eq!(read(&out, name), text, "{name}");
    }
    let remarks: Vec<_> =
        report.remarks.iter().map(|group| (group.reason.as_str(), group.records.as_slice())).collect();
    assert_eq!(
        remarks,
        [
            ("it was truncated: exported as a flat array of what is there", &[3][..]),
            ("the text files of this format version do not show the value of a scalar", &[1][..]),
            ("the text files of this format version show only some bytes of its element type", &[2][..]),
        ]
    );
    assert_eq!(report.without_payload[0].reason, "overwritten on the device before it was collected");
    assert_eq!(report.without_payload[0].records, [4]);
}

#[test]
fn august() {
    let home = tempfile::tempdir().unwrap();
    let head = JUNE_HEAD.replace("tensor_dump.bin", "args.bin").replace("tensor_dump", "args_dump");
    let head = head.replace("_tensors", "_args").replace("\"tensors\"", "\"args\"");
    let head = head.replace("  \"total", "  \"dump_args_level\": 2,\n  \"total");
    let scalar = |arg: u8, dtype: &str, value: &str| {
        format!(
            r#"{{"task_id": "0x0000000000000007", "func_id": [0, 1], "arg_index": {arg}, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": "{dtype}", "value": {value}, "is_contiguous": true, "shape": [], "strides": [], "start_offset": 0, "numel": 1, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": false}}"#
        )
    };
    let values = [
        ("FLOAT32", "1.0", "1.0"),
        ("FLOAT32", "1e+06", "1000000.0"),
        ("FLOAT32", "1.5e-05", "1.5e-05"),
        ("FLOAT32", "null", "None"),
        ("FLOAT32", "\"-$Inf\"", "-$Inf"),
        ("BOOL", "true", "true"),
        ("INT32", "-5", "-5"),
        ("INT16", "65535", "65535"),
        ("UINT64", "18446744073709551615", "18446744073709551615"),
    ];
    let mut entries: Vec<String> =
        (0u8..).zip(values).map(|(arg, (dtype, json, _))| scalar(arg, dtype, json)).collect();
    entries.push(r#"{"task_id": "0x0000000000000007", "func_id": [0, 1], "arg_index": 9, "role": "output", "stage": "after_completion", "kind": "tensor", "dtype": "BFLOAT16", "is_contiguous": true, "shape": [2, 1, 2], "strides": [2, 2, 1], "start_offset": 0, "numel": 4, "bin_offset": 1, "bin_size": 8, "truncated": false, "overwritten": false}"#.to_owned());
    let mut bin = vec![0xee];
    bin.extend([0x3f80u16, 0xbf90, 0x4049, 0x7f80].iter().flat_map(|bits| bits.to_le_bytes()));
    let text = format!("{head}    {}\n  ]\n}}\n", entries.join(",\n    "));
    let directory = foreign(home.path(), "args_dump", ("args_dump.json", &text), ("args.bin", &bin));
    let out = home.path().join("txt");
    export(&Dump::open(&directory).unwrap(), Format::Txt, &out).unwrap();
    for (arg, (dtype, _, shown)) in values.into_iter().enumerate() {
        let expected = format!(
            "# task_id: 0x0000000000000007\n# role: input\n# stage: before_dispatch\n# arg_index: {arg}\n\
             # dtype: {dtype}\n# kind: scalar\n# is_contiguous: True\n# shape: []\n# strides: []\n\
             # start_offset: 0\n# value: {shown}\n"
        );
        assert_eq!(read(&out, &format!("task_0x0000000000000007_before_in{arg}.txt")), expected);
    }
    // 0xbf90 is -1.125: three digits of a tie go to the even one.
    let expected = "\
# task_id: 0x0000000000000007
# role: output
# stage: after_completion
# arg_index: 9
# dtype: BFLOAT16
# kind: tensor
# is_contiguous: True
# shape: [2, 1, 2]
# strides: [2, 2, 1]
# start_offset: 0

# Overview:
    1 -1.12
 3.14   inf

# Detail:
[0, 0, 0] 1
[0, 0, 1] -1.12
[1, 0, 0] 3.14
[1, 0, 1] inf
";
    assert_eq!(read(&out, "task_0x0000000000000007_after_out9.txt"), expected);
}

#[test]
fn ours_is_laid_out_as_june_with_values_of_scalars() {
    let home = tempfile::tempdir().unwrap();
    let floats: Vec<u8> = [0.5f32, -0.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut strided = tensor(5, 0, DType::F32, &[2], floats);
    strided.entry.strides[0] = 3;
    strided.entry.flags = 0;
    let mut bare = output(tensor(5, 2, DType::U8, &[2], Vec::new()));
    bare.entry.flags |= argument_flags::NO_PAYLOAD;
    let same = |byte: u8| output(tensor(6, 0, DType::Bool, &[1], vec![byte]));
    let arguments: Vec<Argument> = vec![
        strided,
        scalar(5, 1, DType::F32, 0.1f32.to_bits().into()),
        bare,
        same(0),
        same(1),
        same(2),
        output(tensor(6, 1, DType::Fp4E2M1, &[3], vec![0x21, 0x0f])),
        output(tensor(6, 2, DType::U32, &[1], vec![0xff; 4])),
        scalar(6, 3, DType::I16, 0xffff),
    ];
    let dump = write(&home.path().join("tensor_dump"), &arguments);
    let out = home.path().join("txt");
    let report = export(&dump, Format::Txt, &out).unwrap();
    let expected = [
        (
            "task_0x0000000000000005_before_in0.txt",
            "# task_id: 0x0000000000000005\n# role: input\n# stage: before_dispatch\n# arg_index: 0\n\
             # dtype: FLOAT32\n# is_contiguous: False\n# shape: [2]\n# strides: [3]\n# start_offset: 0\n\
             \n# Overview:\n0.5  -0\n\n# Detail:\n[0] 0.5\n[1] -0\n",
        ),
        (
            "task_0x0000000000000005_before_in1.txt",
            "# task_id: 0x0000000000000005\n# role: input\n# stage: before_dispatch\n# arg_index: 1\n\
             # dtype: FLOAT32\n# is_contiguous: True\n# shape: []\n# strides: []\n# start_offset: 0\n\
             # value: 0.1\n",
        ),
        (
            "task_0x0000000000000005_after_out2.txt",
            "# task_id: 0x0000000000000005\n# role: output\n# stage: after_completion\n# arg_index: 2\n\
             # dtype: UINT8\n# is_contiguous: True\n# shape: [2]\n# strides: [1]\n# start_offset: 0\n\
             # (no data)\n",
        ),
    ];
    for (name, text) in expected {
        assert_eq!(read(&out, name), text, "{name}");
    }
    let detail = |name: &str| read(&out, name).split_once("# Detail:\n").unwrap().1.to_owned();
    // Three captures of one argument: nothing overwrites anything.
    assert_eq!(detail("task_0x0000000000000006_after_out0.txt"), "[0] False\n");
    assert_eq!(detail("task_0x0000000000000006_after_out0_2.txt"), "[0] True\n");
    assert_eq!(detail("task_0x0000000000000006_after_out0_3.txt"), "[0] True\n");
    assert_eq!(detail("task_0x0000000000000006_after_out1.txt"), "[0] 0x21\n[1] 0x0f\n");
    assert_eq!(detail("task_0x0000000000000006_after_out2.txt"), "[0] 4294967295\n");
    assert!(read(&out, "task_0x0000000000000006_before_in3.txt").ends_with("# value: -1\n"));
    assert_eq!(report.files, 9);
    assert_eq!(report.without_payload[0].reason, "captured without its payload");
}

#[test]
fn names_do_not_depend_on_what_is_exported_with_them() {
    let home = tempfile::tempdir().unwrap();
    let same = |byte: u8| tensor(6, 0, DType::U8, &[1], vec![byte]);
    let dump = write(&home.path().join("tensor_dump"), &[same(1), same(2), same(3)]);
    let out = home.path().join("txt");
    argus_export::export(&dump, &[2], Format::Txt, &out, argus_export::Options::default(), &|_, _| {})
        .unwrap();
    assert_eq!(names(&out), ["task_0x0000000000000006_before_in0_3.txt"]);
    let text = read(&out, "task_0x0000000000000006_before_in0_3.txt");
    assert!(text.ends_with("[0] 3\n"), "{text}");
}
