//! Files that another process broke: nothing panics, every message says where it hurts.
//!
//! The corpus is made here: sound files are cut at every byte, every byte is changed, and every value is
//! replaced by others that cannot be right.

use std::fs;

use argus_abi::DType;
use argus_dump::filter::Filter;
use argus_dump::journal::{ENTRY_BYTES, HEADER_BYTES};
use argus_dump::read::{Dump, Record};
use argus_dump::verify::verify;
use argus_facts::with_causes;
use proptest::prelude::*;

use crate::foreign::{data, ours};

type Files = Vec<(String, Vec<u8>)>;

fn open(files: &Files) -> Result<Dump, String> {
    let named: Vec<_> = files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    Dump::from_bytes(&named).map_err(|error| with_causes(&error))
}

/// Asks a dump for everything that it can tell.
fn walk(dump: &Dump) {
    for record in dump.records() {
        let bytes = dump.payload(&record);
        assert!(bytes.is_err() || bytes.unwrap().len() as u64 == record.bin_size);
        let _ = (dump.kernel_names(&record), record.shape(), record.strides(), record.func_ids);
    }
    if let Some(graph) = dump.graph() {
        for position in 0..graph.tasks.len() {
            let neighbours = graph.predecessors(position).iter().chain(graph.successors(position));
            assert!(neighbours.copied().all(|other| (other as usize) < graph.tasks.len()));
        }
    }
    let _ = (dump.notes(), dump.ending(), dump.losses(), dump.run());
    let _ = verify(dump, |_, _| {});
    for filter in ["nan=true", "kernel=QK", "task=7", "min-size=1"] {
        let _ = Filter::parse(filter).unwrap().select(dump);
    }
}

fn foreign(directory: &str, manifest: &str, payload: &str) -> Files {
    [manifest, payload].map(|name| (name.to_owned(), fs::read(data(directory).join(name)).unwrap())).into()
}

fn june() -> Files {
    foreign("june/tensor_dump", "tensor_dump.json", "tensor_dump.bin")
}

fn our_files() -> Files {
    let directory = tempfile::tempdir().unwrap();
    ours(directory.path());
    let mut files: Files = fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap())
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

/// Each kind of dump, and the file of it that says what is in it.
fn dumps() -> Vec<(Files, &'static str)> {
    let april = "tensor_dump_20260415_093000";
    let without_journal = our_files().into_iter().filter(|(name, _)| !name.ends_with(".journal")).collect();
    vec![
        (
            foreign(&format!("april/{april}"), &format!("{april}.json"), &format!("{april}.bin")),
            "tensor_dump_20260415_093000.json",
        ),
        (june(), "tensor_dump.json"),
        (foreign("august/args_dump", "args_dump.json", "args.bin"), "args_dump.json"),
        (without_journal, "tensor_dump.json"),
        (journal_only(), "tensor_dump.journal"),
    ]
}

fn file<'a>(files: &'a mut Files, name: &str) -> &'a mut Vec<u8> {
    &mut files.iter_mut().find(|file| file.0 == name).unwrap().1
}

#[test]
fn a_file_may_end_at_any_byte() {
    for (files, name) in dumps() {
        let mut files = files;
        let whole = file(&mut files, name).clone();
        let records = open(&files).unwrap().len();
        for len in 0..whole.len() {
            *file(&mut files, name) = whole[..len].to_vec();
            match open(&files) {
                Ok(dump) if name.ends_with(".journal") => {
                    assert!(dump.len() <= records);
                    walk(&dump);
                }
                // Only the line feed may be missing.
                Ok(_) => assert_eq!(len, whole.len() - 1),
                Err(text) => assert!(text.contains(name), "{text}"),
            }
        }
    }
}

#[test]
fn any_byte_may_be_another() {
    for (files, name) in dumps() {
        let mut files = files;
        let whole = file(&mut files, name).clone();
        for at in 0..whole.len() {
            for mask in [0x01, 0x10, 0x80] {
                let mut changed = whole.clone();
                changed[at] ^= mask;
                *file(&mut files, name) = changed;
                match open(&files) {
                    Ok(dump) => walk(&dump),
                    Err(text) => assert!(text.contains(name), "{text}"),
                }
            }
        }
    }
}

#[test]
fn payload_graph_and_run_may_be_anything() {
    let mut files = our_files();
    files.retain(|(name, _)| name != "tensor_dump.journal");
    for name in ["graph.json", "run.json", "tensor_dump.bin"] {
        let whole = file(&mut files, name).clone();
        for at in 0..whole.len() {
            let mut changed = whole.clone();
            changed[at] ^= 0x05;
            *file(&mut files, name) = changed;
            walk(&open(&files).unwrap());
            *file(&mut files, name) = whole[..at].to_vec();
            walk(&open(&files).unwrap());
        }
        *file(&mut files, name) = whole;
    }
}

/// The message for June's manifest with `from` replaced by `to` in the first entry that has it.
fn refused(from: &str, to: &str) -> String {
    let mut files = june();
    let manifest = file(&mut files, "tensor_dump.json");
    let text = String::from_utf8(manifest.clone()).unwrap();
    assert!(text.contains(from), "{from}");
    *manifest = text.replacen(from, to, 1).into_bytes();
    match open(&files) {
        Ok(_) => panic!("{to} was taken"),
        Err(text) => text,
    }
}

#[test]
fn messages_name_file_record_and_field() {
    let first = "memory/tensor_dump.json, record 0, field ";
    let third = "memory/tensor_dump.json, record 2, field ";
    for (from, to, expected) in [
        ("\"0x0000000200000000\"", "\"0x00000002zz000000\"", format!("{first}task_id: found \"0x00000002zz000000\"; allowed is \"0x\" and 1 to 16 hexadecimal digits, in quotes at line 18 column 36")),
        ("\"0x0000000200000000\"", "\"0x00000000200000000\"", format!("{first}task_id: found \"0x00000000200000000\"; allowed")),
        ("\"0x0000000200000000\"", "8589934592", format!("{first}task_id: found integer `8589934592`; allowed is \"0x\" and")),
        ("\"bin_offset\": 24", "\"bin_offset\": -1", format!("{first}bin_offset: found integer `-1`; allowed is a whole number from 0 to 18446744073709551615")),
        ("\"bin_offset\": 24", "\"bin_offset\": 1.5", format!("{first}bin_offset: found floating point `1.5`; allowed is a whole number")),
        ("\"bin_offset\": 24", "\"bin_offset\": NaN", format!("{first}bin_offset: ")),
        ("\"bin_offset\": 24", "\"bin_offset\": 18446744073709551616", format!("{first}bin_offset: ")),
        ("\"bin_size\": 16", "\"bin_size\": \"16\"", format!("{first}bin_size: found string \"16\"; allowed is a whole number")),
        ("\"bin_size\": 16, ", "", format!("{first}bin_size: found nothing; allowed is a number of bytes")),
        ("\"shape\": [4, 1]", "\"shape\": [1, 1, 1, 1, 1, 4]", format!("{first}shape: found a list of 6; allowed is a list of at most 5 whole numbers")),
        ("\"shape\": [4, 1]", "\"shape\": [4, -1]", format!("{first}shape: found integer `-1`")),
        ("\"shape\": [4, 1]", "\"shape\": 4", format!("{first}shape: found integer `4`; allowed is a list")),
        ("\"shape\": [4, 1], ", "", format!("{first}shape: found nothing")),
        ("\"strides\": [16, 1]", "\"strides\": [16]", format!("{first}strides: found a list of 1; allowed is as many numbers as shape has")),
        ("\"strides\": [16, 1], ", "", format!("{first}strides: found nothing; allowed is strides and start_offset, or raw_shape and offsets")),
        ("\"role\": \"input\"", "\"role\": \"unknown\"", format!("{first}role: found \"unknown\"; allowed is \"input\", \"output\" or \"inout\"")),
        ("\"stage\": \"before_dispatch\"", "\"stage\": null", format!("{first}stage: found null; allowed is \"before_dispatch\" or")),
        ("\"kind\": \"tensor\"", "\"kind\": \"matrix\"", format!("{first}kind: found \"matrix\"; allowed is \"tensor\" or \"scalar\"")),
        ("\"dtype\": \"FLOAT32\"", "\"dtype\": 255", format!("{first}dtype: found integer `255`; allowed is a dtype's name, or its number from 0 to 14")),
        ("\"truncated\": false", "\"truncated\": 0", format!("{first}truncated: found integer `0`; allowed is true or false")),
        ("\"arg_index\": 0", "\"arg_index\": 4294967296", format!("{first}arg_index: found integer `4294967296`; allowed is a whole number from 0 to 4294967295")),
        ("\"arg_index\": 0", "\"arg_index\": 0, \"arg_index\": 0", format!("{first}arg_index: the key is there twice")),
        ("\"arg_index\": 0", "\"func_id\": [0, 1, 2, 3], \"arg_index\": 0", format!("{first}func_id: found a list of 4")),
        ("\"arg_index\": 0", "\"func_id\": [[0]], \"arg_index\": 0", format!("{first}func_id: found sequence")),
        ("\"value\": 1065353216", "\"value\": \"about one\"", format!("{third}value: found \"about one\"; allowed is a number, \"$Inf\"")),
        ("\"value\": 1065353216", "\"value\": 1.5", format!("{third}value: found 1.5; allowed is")),
        ("\"value\": 1065353216", "\"value\": -1", format!("{third}value: found -1; allowed is a number that the dtype can hold")),
        ("\"total_tensors\": 5", "\"total_tensors\": \"many\"", "memory/tensor_dump.json, field total_tensors: found \"many\"; allowed is a whole number".to_owned()),
        ("\"total_tensors\": 5", "\"total_tensors\": 5, \"total_tensors\": 5", "memory/tensor_dump.json, field total_tensors: the key is there twice".to_owned()),
        ("little_endian", "big_endian", "memory/tensor_dump.json, field bin_format: found \"logical_contiguous\", \"big_endian\"; allowed is".to_owned()),
        ("\"tensor_dump.bin\"", "\"../../../etc/passwd\"", "memory/tensor_dump.json, field bin_file: found \"../../../etc/passwd\"; allowed is the name of a file beside the manifest, or null".to_owned()),
        ("\"tensor_dump.bin\"", "\"..\"", "memory/tensor_dump.json, field bin_file: found \"..\"".to_owned()),
        ("\"tensors\": [", "\"args\": [], \"tensors\": [", "memory/tensor_dump.json, field tensors: a manifest has one list, \"args\" or \"tensors\"".to_owned()),
        ("\"tensors\": [", "\"tensors\": {}, \"x\": [", "memory/tensor_dump.json, field tensors: found map; allowed is a list of entries".to_owned()),
        ("\"tensors\": [", "\"things\": [", "memory/tensor_dump.json: neither \"args\" nor \"tensors\" is in it, so this is not a manifest".to_owned()),
    ] {
        let text = refused(from, to);
        assert!(text.starts_with(&expected), "{text}\nis not\n{expected}");
        assert!(text.len() < 600);
    }
}

#[test]
fn what_can_be_said_honestly_is_no_error() {
    let changed = |from: &str, to: &str| -> Record {
        let mut files = june();
        let manifest = file(&mut files, "tensor_dump.json");
        *manifest = String::from_utf8(manifest.clone()).unwrap().replacen(from, to, 1).into_bytes();
        let dump = open(&files).unwrap();
        walk(&dump);
        dump.record(0)
    };
    let dtype = "\"dtype\": \"FLOAT32\"";
    assert_eq!(changed(dtype, "\"dtype\": \"FLOAT99\"").dtype, None);
    assert_eq!(changed(dtype, "\"dtype\": 6").dtype, Some(DType::Bf16));
    assert_eq!(changed(dtype, "\"dtype\": \"float32\"").dtype, Some(DType::F32));
    let large = changed("\"shape\": [4, 1]", "\"shape\": [18446744073709551615, 18446744073709551615]");
    assert_eq!((large.numel(), large.logical_bytes), (None, None));
    let far = changed("\"bin_offset\": 24", "\"bin_offset\": 18446744073709551615");
    assert_eq!(far.bin_offset, u64::MAX);
    let empty = changed("\"shape\": [4, 1]", "\"shape\": [0, 1]");
    assert_eq!((empty.numel(), empty.contiguous), (Some(0), true));
    assert_eq!(changed("{\n  \"run_dir\"", "\u{feff}{\n  \"run_dir\"").index, 0, "a byte order mark");
    assert_eq!(changed("\"arg_index\": 0", "\"new\": {\"a\": [1, {}]}, \"arg_index\": 0").index, 0);
    assert_eq!(changed("\"role\"", "\"\\u0072ole\"").index, 0, "a key may be escaped");
}

#[test]
fn nesting_without_end_is_refused_at_once() {
    let many = 2_000_000;
    for text in [
        "{".repeat(many),
        "[".repeat(many),
        "{\"a\":".repeat(many),
        format!("{{\"a\": {}", "[".repeat(many)),
        format!("{{\"a\": {}{}, \"args\": []}}", "[".repeat(many), "]".repeat(many)),
        format!("{{\"tensors\": [{{\"shape\": {}", "[".repeat(many)),
        format!("{{\"tensors\": [{{\"x\": {}", "{\"y\":".repeat(many)),
        format!("{{\"tensors\": [\n    {}", "{\n    ".repeat(many)),
    ] {
        let error = Dump::from_bytes(&[("args_dump.json", text.as_bytes())]);
        let error = with_causes(&error.err().unwrap());
        assert!(error.starts_with("memory/args_dump.json") && error.len() < 500, "{error}");
    }
    // The same in the files that a dump may do without.
    let deep = format!("{{\"kernels\": {}", "[".repeat(many));
    let mut files = june();
    files.push(("graph.json".to_owned(), deep.clone().into_bytes()));
    files.push(("run.json".to_owned(), deep.into_bytes()));
    let dump = open(&files).unwrap();
    assert!(
        dump.notes().iter().any(|note| note.contains("it nests deeper than 64 levels")),
        "{:?}",
        dump.notes()
    );
}

#[test]
fn text_that_is_no_json_is_told_apart() {
    let message = |bytes: &[u8]| with_causes(&Dump::from_bytes(&[("args_dump.json", bytes)]).err().unwrap());
    assert_eq!(message(b""), "memory/args_dump.json: the file is empty");
    assert!(message(b"{\"args\": [").contains("the file ends too early"));
    assert!(message(b"\xff\xfe{\x00").contains("the text is UTF-16; a manifest is UTF-8"));
    assert_eq!(message(b"{\"args\": \"\xff\"}"), "memory/args_dump.json: byte 10 is not UTF-8");
    assert!(message(b"{\"args\": []} x").contains("trailing characters"));
    assert!(message(&[0; 4096]).contains("expected value"));
    let long = format!("{{\"args\": [{{\"bin_size\": \"{}\"}}]}}", "x".repeat(1 << 20));
    assert!(message(long.as_bytes()).len() < 500);
}

/// Our dump without anything that could replace its journal.
fn journal_only() -> Files {
    let mut files = our_files();
    files.retain(|(name, _)| name.ends_with(".journal") || name.ends_with(".bin"));
    files
}

/// The dump with `change` made to entry `number` of its journal, and the entry's checksum put right.
fn with_entry(files: &Files, number: usize, change: impl Fn(&mut [u8])) -> Result<Dump, String> {
    let mut files = files.clone();
    let journal = file(&mut files, "tensor_dump.journal");
    let at = HEADER_BYTES + number * ENTRY_BYTES;
    let entry = &mut journal[at..at + ENTRY_BYTES];
    change(&mut entry[16..]);
    let crc = crc32fast::hash(&entry[4..]);
    entry[..4].copy_from_slice(&crc.to_le_bytes());
    open(&files)
}

#[test]
fn entries_with_a_good_checksum_are_not_believed_either() {
    let files = journal_only();
    // Entries 0 and 1 are kernels, 2 to 8 arguments, 9 and 10 tasks, 11 edges, 12 a skip, 13 the end.
    let bytes_of_argument = |field: usize| 120 + field;
    for (entry, at, value, expected) in [
        (2, bytes_of_argument(4), 200, "memory/tensor_dump.journal, entry 2: kind is 200; allowed is 0 or 1"),
        (
            2,
            bytes_of_argument(6),
            200,
            "memory/tensor_dump.journal, entry 2: ndims is 200; allowed is 0 to 5",
        ),
        (3, bytes_of_argument(2), 9, "memory/tensor_dump.journal, entry 3: stage is 9; allowed is 0 or 1"),
        (3, bytes_of_argument(3), 7, "memory/tensor_dump.journal, entry 3: role is 7; allowed is 0 to 2"),
        (0, 4, 2, "memory/tensor_dump.journal, entry 0: core_type is 2; allowed is 0 or 1"),
        (0, 5, 2, "memory/tensor_dump.journal, entry 0: abi is 2; allowed is 0 or 1"),
        (1, 8, 4, "memory/tensor_dump.journal, entry 1: signature is 4; allowed is directions from 0 to 3"),
        (12, 14, 5, "memory/tensor_dump.journal, entry 12: stage is 5; allowed is 0 or 1"),
    ] {
        let changed = with_entry(&files, entry, |body| body[at] = value);
        assert_eq!(changed.err().as_deref(), Some(expected));
    }
    // These can be told as they are.
    let dtype = with_entry(&files, 2, |body| body[bytes_of_argument(5)] = 255).unwrap();
    assert_eq!(dtype.records().filter(|record| record.dtype.is_none()).count(), 2);
    walk(&dtype);
    let far = with_entry(&files, 2, |body| body[40..56].fill(0xff)).unwrap();
    let record = far.record(4);
    assert_eq!((record.bin_offset, record.bin_size), (u64::MAX, u64::MAX));
    let error = with_causes(&far.payload(&record).unwrap_err());
    assert!(
        error.contains("in bytes 18446744073709551615..36893488147419103230 of memory/tensor_dump.bin"),
        "{error}"
    );
    walk(&far);
}

#[test]
fn any_byte_of_an_entry_may_be_anything_behind_a_good_checksum() {
    let files = journal_only();
    for entry in 0..14 {
        for at in 0..ENTRY_BYTES - 16 {
            for value in [0, 1, 0x7f, 0xff] {
                if let Ok(dump) = with_entry(&files, entry, |body| body[at] = value) {
                    walk(&dump);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn manifests_put_together_from_pieces_never_panic(
        pieces in proptest::collection::vec(
            prop_oneof![
                Just("{"), Just("}"), Just("["), Just("]"), Just(","), Just(": "), Just("\n    "),
                Just("\"args\""), Just("\"tensors\""), Just("\"task_id\": \"0x1\""), Just("\"shape\": [1]"),
                Just("\"strides\": [1]"), Just("\"bin_size\": 1"), Just("\"bin_offset\": 0"),
                Just("\"role\": \"input\""), Just("\"stage\": \"before_dispatch\""), Just("\"dtype\": \"INT8\""),
                Just("\"arg_index\": 0"), Just("null"), Just("-1"), Just("1e999"), Just("\"\\ud800\""),
                Just("\"kind\": \"scalar\""), Just("\"value\": "), Just("\"skipped\": ["), Just("\"schema\": \"argus-1\""),
            ],
            0..60,
        ),
    ) {
        let text = pieces.concat();
        let files = [("args_dump.json", text.as_bytes()), ("args.bin", &b"x"[..])];
        if let Ok(dump) = Dump::from_bytes(&files) {
            walk(&dump);
        }
    }
}
