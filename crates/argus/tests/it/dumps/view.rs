//! `argus view`: tables, values, slices, JSON, CSV, pipes.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};

use super::raw::{Facts, Raw, assert_same, flat};
use super::{APRIL, AUGUST, Home, JUNE};

fn records(object: &Value) -> &[Value] {
    object["records"].as_array().unwrap()
}

/// What `argus view --json --show` tells must be what the files hold.
pub fn assert_values(home: &Home, dump: &str, directory: &str) {
    let raw = Raw::read(&home.path(directory));
    let object = home.json(&format!("view {dump} --show"));
    assert_eq!(records(&object).len(), raw.entries.len(), "{dump}");
    let mut compared = 0;
    for record in records(&object) {
        let entry = raw.entry(record);
        let what = format!("{dump} record {}", record["index"]);
        assert_eq!(record["dtype"], entry["dtype"], "{what}");
        if record["kind"] == "scalar" {
            continue;
        }
        assert_eq!(record["shape"], entry["shape"], "{what}");
        match raw.values(entry) {
            Some(values) => {
                assert_same(&flat(&record["values"]), &values, &what);
                Facts::of(&values).assert(&record["statistics"], &what);
                compared += 1;
            }
            None => assert!(record["values"].is_null() && record["values_missing"].is_string(), "{what}"),
        }
    }
    assert!(compared > 0);
}

#[test]
fn values_are_those_of_the_payload_file_in_every_age() {
    let home = Home::new();
    for dump in [APRIL, JUNE, AUGUST] {
        assert_values(&home, dump, dump);
    }
    assert_values(&home, "ours", "ours/tensor_dump");
}

#[test]
fn a_dump_is_meant_by_its_directory_the_one_above_its_manifest_or_nothing() {
    let home = Home::new();
    let expected = home.good("view ours/tensor_dump --csv");
    assert_eq!(home.good("view ours --csv"), expected);
    assert_eq!(home.good("view ours/tensor_dump/tensor_dump.json --csv"), expected);
    assert_eq!(home.good("view ours/tensor_dump/tensor_dump.journal --csv"), expected);
    for (above, dump, manifest) in [("june", JUNE, "tensor_dump.json"), ("august", AUGUST, "args_dump.json")]
    {
        let expected = home.good(&format!("view {dump} --csv"));
        assert_eq!(home.good(&format!("view {above} --csv")), expected);
        assert_eq!(home.good(&format!("view {dump}/{manifest} --csv")), expected);
    }
    let name = APRIL.strip_prefix("april/").unwrap();
    assert_eq!(
        home.good(&format!("view {APRIL}/{name}.json --csv")),
        home.good(&format!("view {APRIL} --csv"))
    );
    // Without a name it is the newest below outputs/.
    std::fs::create_dir(home.path("outputs")).unwrap();
    std::fs::rename(home.path("august"), home.path("outputs/first")).unwrap();
    std::fs::rename(home.path("ours"), home.path("outputs/second")).unwrap();
    assert_eq!(home.good("view --csv"), expected);
    assert!(home.good("verify").starts_with("outputs/second/tensor_dump (argus)\n"));
}

#[test]
fn the_table_is_for_people_and_its_notes_are_not_in_it() {
    let home = Home::foreign();
    let ended = home.argus(&format!("view {APRIL}"));
    assert_eq!(ended.code, 0);
    let expected = "\
INDEX  TASK                  KERNEL  STAGE   ROLE    ARG  DTYPE     SHAPE      BYTES  VALUES
    0  0x0000000000000000/0  0       before  input     0  FLOAT32   [2, 3]        24  0.5 … 3.
    1  0x0000000000000000/0  0       before  input     1  INT32     [2, 2]        16  -15 … 14
    2  0x0000000000000000/0  0       after   output    2  BFLOAT16  [3]            6  -2. … 1. NaN 1
    3  0x0000000100000002/1  7       before  inout     0  FLOAT16   [2, 1, 2]      8  -1. … 2.
    4  0x0000000100000002/1  7       after   inout     0  FLOAT16   [2, 1, 2]      8  1. … inf Inf 1, truncated
    5  0x0000000100000003/2          before  input     0  UINT8     [8]            8  overwritten
";
    assert_eq!(ended.stdout, expected);
    assert_eq!(
        ended.stderr,
        "note: 3 records were dropped during the run\n\
         note: 1 payload was lost before it was collected\n\
         note: 1 payload is truncated\n"
    );
    let limited = home.argus(&format!("view {JUNE} --limit 4"));
    assert_eq!(limited.stdout.lines().count(), 5);
    assert_eq!(limited.stderr, "1 more record; --limit N shows more, filters fewer\n");
}

#[test]
fn values_are_shown_with_their_statistics_as_numpy_would() {
    let home = Home::foreign();
    let shown = home.good(&format!("view {JUNE} --index 4 --show"));
    let expected = "\
record     4 of 5: task 0x0000000200000000, output argument 2, after_completion
view       FLOAT32 [2, 2], strides [2, 1], offset 0, contiguous
payload    16 bytes at 40 of the payload file
statistics min 5., max 8., mean 6.5, std 1.11803, zeros 0, NaN 0, Inf 0, subnormal 0, 4 values
histogram  5. █               █               █              █ 8.

[[5. 6.]
 [7. 8.]]
";
    assert_eq!(shown, expected);
    let missing = home.good(&format!("view {AUGUST} --index 14 --show"));
    assert!(missing.ends_with("\nno values: record 14 was captured without its payload\n"), "{missing}");
}

#[test]
fn slices_are_those_of_numpy() {
    let home = Home::new();
    let raw = Raw::read(&home.path("ours/tensor_dump"));
    let whole = home.json("view ours --index 0 --show");
    let values = raw.values(raw.entry(&records(&whole)[0])).unwrap();
    // Each slice of a tensor of 16 by 16, and its rows and columns.
    let all: Vec<usize> = (0..16).collect();
    let slices: [(&str, Vec<usize>, Vec<usize>, Value); 7] = [
        ("0", vec![0], all.clone(), json!([16])),
        ("-1,3:5", vec![15], vec![3, 4], json!([2])),
        ("::5,::-4", vec![0, 5, 10, 15], vec![15, 11, 7, 3], json!([4, 4])),
        (":,2", all.clone(), vec![2], json!([16])),
        ("14:99999999999999999999", vec![14, 15], all.clone(), json!([2, 16])),
        ("::9223372036854775807,0", vec![0], vec![0], json!([1])),
        ("5:5", vec![], all, json!([0, 16])),
    ];
    for (slice, rows, columns, shape) in slices {
        let object = home.json(&format!("view ours --index 0 --slice {slice}"));
        let record = &records(&object)[0];
        let expected: Vec<f64> = rows
            .iter()
            .flat_map(|row| columns.iter().map(|column| values[*row * 16 + *column]).collect::<Vec<_>>())
            .collect();
        assert_same(&flat(&record["values"]), &expected, slice);
        assert_eq!(record["values_shape"], shape, "{slice}");
    }
    // Scalars have nothing to slice and are shown all the same, unless there is nothing else.
    let ended = home.argus("view ours --task 0x0000000200000001 --slice 0");
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    for (line, reason) in [
        ("--index 0 --slice 16", "record 0 of shape [16, 16]: index 16 of slice '16' is outside dimension 0"),
        (
            "--index 0 --slice 0,0,0",
            "record 0 of shape [16, 16]: slice '0,0,0' has 3 parts, the tensor has 2",
        ),
        ("--index 0 --slice 0*2", "'0*2' in slice '0*2' is neither a number nor start:stop:step"),
        ("--index 0 --slice ::0", "the step of '::0' in slice '::0' is 0"),
        ("--slice 0,0", "record 6 of shape [16]: slice '0,0' has 2 parts, the tensor has 1 dimensions"),
        ("--index 4 --slice 0", "record 4 is a scalar: there is nothing to slice"),
        ("--kind scalar --slice 0", "only scalars are selected: there is nothing to slice"),
    ] {
        let message = home.bad(&format!("view ours {line}"), 2);
        assert!(message.contains(reason), "{line}: {message}");
        let ended = home.argus(&format!("view ours {line} --json"));
        let object: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!((ended.code, &object["verdict"]), (2, &json!("error")), "{line}");
    }
}

#[test]
fn csv_has_one_line_per_record_and_the_statistics_of_its_bytes() {
    let home = Home::new();
    for (dump, directory) in [(APRIL, APRIL), (JUNE, JUNE), ("ours", "ours/tensor_dump")] {
        let raw = Raw::read(&home.path(directory));
        let text = home.good(&format!("view {dump} --csv"));
        let mut lines = text.lines().map(fields);
        let names = lines.next().unwrap();
        let mut compared = 0;
        for line in lines {
            assert_eq!(line.len(), names.len(), "{line:?}");
            let of = |name: &str| line[names.iter().position(|column| column == name).unwrap()].as_str();
            let key = json!({
                "task_id": of("task_id"), "stage": of("stage"), "role": of("role"),
                "arg_index": of("arg_index").parse::<u64>().unwrap(),
            });
            let entry = raw.entry(&key);
            assert_eq!(
                (of("dtype"), of("kind")),
                (entry["dtype"].as_str().unwrap(), entry["kind"].as_str().unwrap_or("tensor"))
            );
            if of("kind") == "scalar" {
                continue;
            }
            let Some(values) = raw.values(entry) else { continue };
            let facts = Facts::of(&values);
            let what = format!("{dump} {line:?}");
            let float =
                |name: &str| Some(of(name)).filter(|text| !text.is_empty()).map(|text| text.parse().unwrap());
            assert_eq!((float("min"), float("max")), (facts.min, facts.max), "{what}");
            super::raw::close(float("mean"), facts.mean, &what);
            let counts = [of("zero"), of("nan"), of("inf")].map(|text| text.parse::<u64>().unwrap());
            assert_eq!(counts, [facts.zero, facts.nan, facts.inf], "{what}");
            compared += 1;
        }
        assert!(compared >= 3);
    }
}

/// Fields of a line; those with a comma are in quotes.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            letter => fields.last_mut().unwrap().push(letter),
        }
    }
    fields
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let home = Home::new();
    for line in [
        "view ours",
        "view ours --show --limit 72",
        "view ours --json --show",
        "view ours --csv",
        "stats ours",
        "stats ours --json",
        "verify ours",
    ] {
        let mut child = Command::new(cargo_bin!("argus"))
            .args(line.split_whitespace())
            .current_dir(home.path(""))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        BufReader::with_capacity(64, child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert!(!first.is_empty() && !said.contains("panicked") && !said.contains("error"), "{line}: {said}");
        assert_eq!(ended.status.code(), Some(0), "{line}");
    }
}
