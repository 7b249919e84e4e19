//! `argus export` and `argus convert`: a dump for other tools.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::raw::{Raw, decode};
use super::{APRIL, AUGUST, Home, JUNE, python};

/// Dumps and their directories. April's is checked by hand: the scripts know no truncated tensors.
const DUMPS: [(&str, &str); 3] = [("ours", "ours/tensor_dump"), (JUNE, JUNE), (AUGUST, AUGUST)];

#[test]
fn every_format_holds_the_bytes_of_the_payload_file() {
    let home = Home::new();
    for (number, (dump, directory)) in DUMPS.into_iter().enumerate() {
        for (format, script) in [
            ("npy", "check_arrays.py"),
            ("npz", "check_arrays.py"),
            ("safetensors", "check_arrays.py"),
            ("parquet --payload", "check_tables.py"),
            ("csv", "check_tables.py"),
            ("txt", "check_text.py"),
        ] {
            let out = format!("{}{number}", format.split(' ').next().unwrap());
            let object = home.json(&format!("export {dump} --format {format} -o {out}"));
            assert_eq!(object["records"], Raw::read(&home.path(directory)).entries.len());
            assert_eq!(object["directory"], out);
            if format == "txt" && dump == "ours" {
                continue;
            }
            python::check(script, &[&home.path(directory), &home.path(&out)]);
        }
    }
}

#[test]
fn filters_choose_what_is_exported_and_npy_is_the_payload_behind_a_header() {
    let home = Home::new();
    let raw = Raw::read(&home.path("ours/tensor_dump"));
    home.good("export ours --format npy -o arrays --kernel QK --stage after --dtype FLOAT32");
    let mut arrays = 0;
    for entry in
        raw.entries.iter().filter(|entry| entry["kernel"] == "QK" && entry["stage"] == "after_completion")
    {
        let name = format!("task_{}_after_out{}.npy", entry["task_id"].as_str().unwrap(), entry["arg_index"]);
        let file = fs::read(home.path("arrays").join(&name)).unwrap();
        assert_eq!(file[..8], *b"\x93NUMPY\x01\x00", "{name}");
        let data = 10 + usize::from(u16::from_le_bytes([file[8], file[9]]));
        let header = std::str::from_utf8(&file[10..data]).unwrap();
        assert!(header.contains("'<f4'") && header.contains("(16, 16"), "{header}");
        assert_eq!(Some(&file[data..]), raw.payload(entry), "{name}");
        arrays += 1;
    }
    let index: Value =
        serde_json::from_str(&fs::read_to_string(home.path("arrays/index.json")).unwrap()).unwrap();
    assert_eq!(index.as_array().unwrap().len(), arrays);
    assert_eq!(fs::read_dir(home.path("arrays")).unwrap().count(), arrays + 1, "nothing else is written");
    assert!(arrays > 0);
}

#[test]
fn what_april_holds_is_exported_as_far_as_it_goes() {
    let home = Home::foreign();
    let raw = Raw::read(&home.path(APRIL));
    let object = home.json(&format!("export {APRIL} --format npy -o arrays"));
    assert_eq!((&object["records"], &object["files"]), (&json!(6), &json!(6)));
    let overwritten =
        json!([{ "reason": "overwritten on the device before it was collected", "records": [5] }]);
    assert_eq!(object["without_payload"], overwritten);
    let truncated = "it was truncated: exported as a flat array of what is there";
    assert_eq!(object["remarks"], json!([{ "reason": truncated, "records": [4] }]));
    for (record, name) in [
        (0, "task_0x0000000000000000_s0_before_in0.npy"),
        (1, "task_0x0000000000000000_s0_before_in1.npy"),
        (2, "task_0x0000000000000000_s0_after_out2.npy"),
        (3, "task_0x0000000100000002_s1_before_inout0.npy"),
        (4, "task_0x0000000100000002_s1_after_inout0.npy"),
    ] {
        let file = fs::read(home.path("arrays").join(name)).unwrap();
        assert!(file.ends_with(raw.payload(&raw.entries[record]).unwrap()), "{name}");
    }
}

#[test]
fn nothing_is_overwritten_unless_that_is_asked_for() {
    let home = Home::new();
    for format in ["npy", "npz", "safetensors", "parquet", "csv", "txt"] {
        let line = format!("export ours --format {format} -o {format}");
        home.good(&line);
        let before = contents(&home.path(format));
        let message = home.bad(&line, 2);
        assert!(message.contains(" exists\n"), "{message}");
        assert!(message.contains("\n\nhint: --force replaces it; -o names another directory\n"), "{message}");
        assert_eq!(contents(&home.path(format)), before);
        home.good(&format!("{line} --force"));
        assert_eq!(contents(&home.path(format)), before, "the same dump gives the same bytes");
    }
    home.good("convert ours --to june -o copy");
    let before = contents(&home.path("copy/tensor_dump"));
    let message = home.bad("convert ours --to june -o copy", 2);
    assert!(message.starts_with("error: copy/tensor_dump exists\n"), "{message}");
    assert_eq!(contents(&home.path("copy/tensor_dump")), before);
    home.good("convert ours --to june -o copy --force");
    let message = home.bad("convert copy --to june -o copy --force", 1);
    assert!(message.contains("copy/tensor_dump holds the dump itself"), "{message}");
    assert_eq!(contents(&home.path("copy/tensor_dump")), before);
    let message = home.bad("export ours --format npy -o ours/tensor_dump/tensor_dump.bin", 2);
    assert!(message.starts_with("error: cannot create ours/tensor_dump/tensor_dump.bin: "), "{message}");
    let message = home.bad("export ours --format npy -o new --payload", 2);
    assert!(message.contains("--payload puts payloads into Parquet"), "{message}");
    assert!(!home.path("new").exists());
}

/// Names and bytes of the files of a directory, sorted.
fn contents(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|path| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

/// What a layout keeps of each record of `argus view --json --show`.
fn kept(home: &Home, dump: &str, left_out: &[&str]) -> Vec<Value> {
    let mut object = home.json(&format!("view {dump} --show"));
    let Value::Array(mut records) = object["records"].take() else { panic!("no records") };
    for record in &mut records {
        let fields = record.as_object_mut().unwrap();
        for name in left_out {
            fields.remove(*name);
        }
    }
    records
}

#[test]
fn conversions_keep_every_record_there_and_back() {
    let home = Home::new();
    // Where payloads lie is the writer's business; names, addresses and checksums only ours has.
    let ours = ["bin_offset", "address", "checksum", "kernel"];
    // June has no kernels, and neither it nor ours marks indices that may be others; August rounds floats.
    let june =
        ["bin_offset", "address", "checksum", "kernel", "func_id", "arg_index_ambiguous", "value_bits"];
    let rounds = ["bin_offset", "address", "checksum", "kernel", "value_bits", "arg_index_ambiguous"];
    let routes: [(&str, &[&str], &[&str]); 9] = [
        ("ours", &["argus"], &["bin_offset"]),
        ("ours", &["june"], &june),
        ("ours", &["august"], &rounds),
        ("ours", &["august", "argus"], &rounds),
        ("ours", &["june", "august", "argus", "june"], &june),
        (JUNE, &["argus", "june"], &ours),
        (JUNE, &["august", "argus", "june"], &ours),
        (AUGUST, &["august"], &ours),
        (AUGUST, &["argus", "august"], &rounds),
    ];
    for (number, (dump, targets, left_out)) in routes.into_iter().enumerate() {
        let expected = kept(&home, dump, left_out);
        let mut from = dump.to_owned();
        for (step, target) in targets.iter().enumerate() {
            let to = format!("route{number}_{step}");
            home.good(&format!("convert {from} --to {target} -o {to}"));
            home.good(&format!("verify {to}"));
            from = to;
        }
        assert_eq!(kept(&home, &from, left_out), expected, "{dump} by {targets:?}");
    }
}

#[test]
fn a_converted_manifest_is_the_references_own_and_points_at_the_same_numbers() {
    let home = Home::new();
    let before = Raw::read(&home.path("ours/tensor_dump"));
    for (target, directory, list) in [("june", "tensor_dump", "tensors"), ("august", "args_dump", "args")] {
        home.good(&format!("convert ours --to {target} -o {target}_copy"));
        let directory = home.path(&format!("{target}_copy/{directory}"));
        let copy = Raw::read(&directory);
        let name = if list == "args" { "args_dump.json" } else { "tensor_dump.json" };
        let manifest: Value =
            serde_json::from_str(&fs::read_to_string(directory.join(name)).unwrap()).unwrap();
        assert_eq!(
            manifest["bin_format"],
            json!({ "type": "logical_contiguous", "byte_order": "little_endian" })
        );
        assert_eq!(manifest[format!("total_{list}")], 72);
        assert_eq!(copy.entries.len(), before.entries.len());
        for entry in &copy.entries {
            let original = before.entry(entry);
            assert_eq!(entry["shape"], original["shape"]);
            assert_eq!(copy.payload(entry), before.payload(original));
        }
    }
    // An April dump is told by its views, which later layouts have as strides.
    home.good(&format!("convert {APRIL} --to june -o later"));
    let later = Raw::read(&home.path("later/tensor_dump"));
    assert_eq!(
        (&later.entries[1]["strides"], &later.entries[1]["start_offset"]),
        (&json!([6, 1]), &json!(8))
    );
    assert_eq!(decode("INT32", later.payload(&later.entries[1]).unwrap()), [8.0, 9.0, 14.0, -15.0]);
}

#[test]
fn an_address_that_an_age_does_not_know_is_not_made_up() {
    let home = Home::foreign();
    home.good(&format!("convert {JUNE} --to argus -o copy"));
    let object = home.json("view copy");
    for record in object["records"].as_array().unwrap() {
        assert!(record.get("address").is_none(), "{record}");
    }
}
