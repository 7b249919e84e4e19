//! `argus stats` and `argus verify`.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::raw::{Facts, Raw, close};
use super::{APRIL, AUGUST, Home, JUNE, python};

#[test]
fn statistics_of_records_and_kernels_are_those_of_the_bytes() {
    let home = Home::new();
    let raw = Raw::read(&home.path("ours/tensor_dump"));
    let object = home.json("stats ours");
    let records = object["records"].as_array().unwrap();
    assert_eq!(records.len(), 63, "every tensor, no scalar");
    for record in records {
        let values = raw.values(raw.entry(record)).unwrap();
        Facts::of(&values).assert(&record["statistics"], &record.to_string());
    }
    // A line per kernel, stage, argument and dtype: over the values of all its records together.
    let kernels = object["kernels"].as_array().unwrap();
    let mut covered = 0;
    for group in kernels {
        let of_group = |record: &&Value| {
            let stage = if group["stage"] == "before" { "before_dispatch" } else { "after_completion" };
            record["kernel"] == group["kernel"]
                && record["arg_index"] == group["arg_index"]
                && record["stage"] == stage
                && record["dtype"] == group["dtype"]
        };
        let records: Vec<&Value> = records.iter().filter(of_group).collect();
        let values: Vec<f64> =
            records.iter().flat_map(|record| raw.values(raw.entry(record)).unwrap()).collect();
        Facts::of(&values).assert(group, &group.to_string());
        assert_eq!((&group["records"], &group["elements"]), (&json!(records.len()), &json!(values.len())));
        covered += records.len();
    }
    assert_eq!(covered, records.len());
    let by_kernel = home.json("stats ours --by-kernel");
    assert_eq!((&by_kernel["records"], &by_kernel["kernels"]), (&json!([]), &object["kernels"]));
}

#[test]
fn the_table_of_statistics_is_short_and_exact() {
    let home = Home::foreign();
    let text = home.good(&format!("stats {APRIL} --func-id 0"));
    let expected = "\
INDEX  TASK                KERNEL  STAGE   ARG  DTYPE     MIN  MAX  MEAN  STD      ZERO  UNWRITTEN  NAN  INF  DISTINCT
0      0x0000000000000000  0       before  0    FLOAT32   0.5  3.   1.75  0.853913  0     0  0    0    6 values
";
    let first = |text: &str| {
        text.lines()
            .map(str::split_whitespace)
            .map(Vec::from_iter)
            .take(2)
            .collect::<Vec<_>>()
            .concat()
            .join(" ")
    };
    assert_eq!(first(&text), first(expected));
    let by_kernel = home.good(&format!("stats {APRIL} --by-kernel --func-id 0"));
    assert_eq!(by_kernel.lines().count(), 4, "{by_kernel}");
    let scalars = home.good(&format!("stats {AUGUST} --kind scalar"));
    assert_eq!(scalars, "only scalars are selected; statistics are those of tensors\n");
    let left_out = home.good(&format!("stats {AUGUST}"));
    assert!(
        left_out.ends_with("\n2 tensors without values in the dump, and without statistics here\n"),
        "{left_out}"
    );
}

#[test]
fn statistics_go_into_a_parquet_file_that_is_never_overwritten_unasked() {
    let home = Home::new();
    for (dump, directory) in [("ours", "ours/tensor_dump"), (JUNE, JUNE), (AUGUST, AUGUST)] {
        let place = home.path(&format!("parquet_{}", dump.replace('/', "_")));
        fs::create_dir(&place).unwrap();
        let line = format!("stats {dump} --parquet {}/records.parquet", place.display());
        home.good(&line);
        let without = Path::new("--without-payload");
        python::check("check_tables.py", &[&home.path(directory), &place, without]);
        let written = fs::read(place.join("records.parquet")).unwrap();
        let message = home.bad(&line, 2);
        assert!(message.contains("records.parquet exists"), "{message}");
        assert_eq!(fs::read(place.join("records.parquet")).unwrap(), written);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1, "nothing else is left behind");
        home.good(&format!("{line} --force"));
    }
}

#[test]
fn group_means_are_weighted_by_elements() {
    let home = Home::foreign();
    let object = home.json(&format!("stats {JUNE}"));
    let group = object["kernels"].as_array().unwrap().iter().find(|group| group["arg_index"] == 2).unwrap();
    close(group["mean"].as_f64(), Some(6.5), "5, 6, 7 and 8");
}

#[test]
fn sound_dumps_are_0_and_defects_are_1() {
    let home = Home::new();
    for dump in ["ours", JUNE, AUGUST] {
        let object = home.json(&format!("verify {dump}"));
        assert_eq!(object["verdict"], "sound", "{object}");
        assert!(home.good(&format!("verify {dump}")).contains("\nSOUND"));
    }
    // It says itself that it lost records, and that payloads are truncated or overwritten.
    let ended = home.argus(&format!("verify {APRIL}"));
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    assert!(ended.stdout.contains("loss: record 4: ") && ended.stdout.contains("\nINCOMPLETE  3 losses, "));
    let path = home.path("ours/tensor_dump/tensor_dump.bin");
    let mut bytes = fs::read(&path).unwrap();
    bytes[700] ^= 4;
    fs::write(&path, bytes).unwrap();
    let ended = home.argus("verify ours");
    assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    assert!(ended.stdout.contains("defect: record 1: "), "{}", ended.stdout);
    assert!(ended.stdout.contains("\nDEFECTIVE  "), "{}", ended.stdout);
    let ended = home.argus("verify ours --json");
    let object: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!((ended.code, &object["verdict"]), (1, &json!("defective")));
    let defects = object["defects"].as_array().unwrap();
    assert!(defects.iter().any(|defect| defect["record"] == 1 && defect["severity"] == "defect"));
    home.bad("verify nowhere", 2);
}
