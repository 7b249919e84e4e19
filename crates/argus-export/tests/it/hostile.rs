//! Dumps whose manifests say what cannot be, or what is no longer there.

use std::fs;

use argus_dump::read::Dump;
use argus_export::{Format, Group, Target, convert};

use crate::common::{HOSTILE, everything, export, foreign};

/// One record of each kind of trouble; the payload file has 16 bytes.
const ENTRIES: [(&str, &str); 6] = [
    (
        "FLOAT32",
        r#""shape": [4], "strides": [1], "start_offset": 0, "numel": 4, "bin_offset": 0, "bin_size": 16, "truncated": false, "overwritten": false"#,
    ),
    (
        "FLOAT99",
        r#""shape": [2], "strides": [1], "start_offset": 0, "numel": 2, "bin_offset": 1, "bin_size": 9, "truncated": false, "overwritten": false"#,
    ),
    (
        "INT16",
        r#""shape": [1000000], "strides": [1], "start_offset": 0, "numel": 1000000, "bin_offset": 3, "bin_size": 6, "truncated": true, "overwritten": false"#,
    ),
    (
        "INT64",
        r#""shape": [2], "strides": [1], "start_offset": 0, "numel": 2, "bin_offset": 8, "bin_size": 16, "truncated": false, "overwritten": false"#,
    ),
    (
        "UINT8",
        r#""shape": [4], "strides": [1], "start_offset": 0, "numel": 4, "bin_offset": 0, "bin_size": 0, "truncated": false, "overwritten": true"#,
    ),
    (
        "UINT8",
        r#""shape": [2], "strides": [1], "start_offset": 0, "numel": 2, "bin_offset": 0, "bin_size": 5, "truncated": false, "overwritten": false"#,
    ),
];

fn manifest() -> String {
    let entries = (0..).zip(ENTRIES).map(|(arg, (dtype, rest)): (usize, _)| {
        format!(
            r#"    {{"task_id": "0x0000000000000001", "arg_index": {arg}, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "{dtype}", "is_contiguous": true, {rest}}}"#
        )
    });
    let entries: Vec<_> = entries.collect();
    format!(
        "{{\n  \"run_dir\": \"tensor_dump\",\n  \"bin_format\": {{\n    \"type\": \"logical_contiguous\",\n    \
         \"byte_order\": \"little_endian\"\n  }},\n  \"total_tensors\": 6,\n  \"bin_file\": \"tensor_dump.bin\",\n  \
         \"tensors\": [\n{}\n  ]\n}}\n",
        entries.join(",\n")
    )
}

fn records(groups: &[Group], words: &str) -> Vec<usize> {
    groups
        .iter()
        .filter(|group| group.reason.contains(words))
        .flat_map(|group| group.records.clone())
        .collect()
}

#[test]
fn every_trouble_has_its_reason_and_the_rest_is_exported() {
    let home = tempfile::tempdir().unwrap();
    let bin: Vec<u8> = (0..16).collect();
    let directory =
        foreign(home.path(), "tensor_dump", ("tensor_dump.json", &manifest()), ("tensor_dump.bin", &bin));
    let dump = Dump::open(&directory).unwrap();
    for format in Format::ALL {
        let report = export(&dump, format, &home.path().join(format.name())).unwrap();
        assert_eq!(records(&report.without_payload, "past the end of"), [3], "{format:?}");
        assert_eq!(records(&report.without_payload, "overwritten"), [4], "{format:?}");
        assert_eq!(records(&report.remarks, "element type is unknown"), [1], "{format:?}");
        assert_eq!(records(&report.remarks, "it was truncated"), [2], "{format:?}");
        assert_eq!(records(&report.remarks, "its payload has 5 bytes, its view 2"), [5], "{format:?}");
    }
    let npy = |arg: u8| {
        fs::read(home.path().join(format!("npy/task_0x0000000000000001_before_in{arg}.npy"))).unwrap()
    };
    let (whole, bytes, flat, short) = (npy(0), npy(1), npy(2), npy(5));
    assert!(whole.ends_with(&bin) && header(&whole).contains("'<f4'") && header(&whole).contains("(4, )"));
    assert!(
        bytes.ends_with(&bin[1..10]) && header(&bytes).contains("'|u1'") && header(&bytes).contains("(9, )")
    );
    assert!(flat.ends_with(&bin[3..9]) && header(&flat).contains("'<i2'") && header(&flat).contains("(3, )"));
    assert!(short.ends_with(&bin[..2]) && header(&short).contains("(2, )"));
    for target in Target::ALL {
        let report =
            convert(&dump, target, &home.path().join("to").join(target.name()), false, &|_, _| {}).unwrap();
        let copy = Dump::open(&report.directory).unwrap();
        assert_eq!(copy.len(), dump.len());
        for (left, right) in dump.records().zip(copy.records()) {
            assert_eq!(dump.payload(&left).ok(), copy.payload(&right).ok(), "{target:?}");
            assert_eq!(left.dtype, right.dtype);
        }
        assert_eq!(records(&report.without_payload, "past the end of"), [3]);
        assert_eq!(records(&report.without_payload, "overwritten"), [4]);
    }
}

fn header(file: &[u8]) -> String {
    let len = usize::from(u16::from_le_bytes([file[8], file[9]]));
    String::from_utf8(file[10..10 + len].to_vec()).unwrap()
}

#[test]
fn a_missing_payload_file_leaves_the_metadata() {
    let home = tempfile::tempdir().unwrap();
    let directory =
        foreign(home.path(), "tensor_dump", ("tensor_dump.json", &manifest()), ("tensor_dump.bin", &[]));
    fs::remove_file(directory.join("tensor_dump.bin")).unwrap();
    let dump = Dump::open(&directory).unwrap();
    for format in Format::ALL {
        let report = export(&dump, format, &home.path().join(format.name())).unwrap();
        assert_eq!(report.records, 6);
        assert_eq!(
            records(&report.without_payload, "tensor_dump.bin, which cannot be read"),
            [0, 1, 2, 3, 5]
        );
    }
}

#[test]
fn a_kernel_may_be_called_anything() {
    let home = tempfile::tempdir().unwrap();
    let dump = everything(&home.path().join("tensor_dump"));
    assert!(dump.records().any(|record| dump.kernel_names(&record).contains(HOSTILE)));
    export(&dump, Format::Csv, &home.path().join("csv")).unwrap();
    let text = fs::read_to_string(home.path().join("csv/records.csv")).unwrap();
    let quoted = format!("\"add+{}\"", HOSTILE.replace('"', "\"\""));
    assert!(text.contains(&quoted));
}
