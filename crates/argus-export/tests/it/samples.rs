//! The same over real dumps of the reference, whose directory `ARGUS_SAMPLES` names.

use std::fs;
use std::path::PathBuf;

use argus_dump::read::Dump;
use argus_export::{Format, Target, convert};

use crate::common::export;
use crate::python;

fn samples() -> Vec<PathBuf> {
    let Some(directory) = std::env::var_os("ARGUS_SAMPLES") else { return Vec::new() };
    let mut samples: Vec<_> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.sort();
    assert!(!samples.is_empty());
    samples
}

#[test]
fn samples_export_and_convert_bit_for_bit() {
    for sample in samples() {
        let home = tempfile::tempdir().unwrap();
        let dump = Dump::open(&sample).unwrap();
        for format in Format::ALL {
            let out = home.path().join(format.name());
            let report = export(&dump, format, &out).unwrap();
            assert_eq!(report.records as usize, dump.len());
            match format {
                Format::Txt => python::run("check_text.py", &[dump.directory(), &out]),
                Format::Parquet | Format::Csv => python::run("check_tables.py", &[dump.directory(), &out]),
                _ => python::run("check_arrays.py", &[dump.directory(), &out]),
            }
        }
        for target in Target::ALL {
            let report =
                convert(&dump, target, &home.path().join("to").join(target.name()), false, &|_, _| {})
                    .unwrap();
            let copy = Dump::open(&report.directory).unwrap();
            let out = home.path().join("of").join(target.name());
            export(&copy, Format::Npz, &out).unwrap();
            python::run("check_arrays.py", &[&report.directory, &out]);
            // The reference's own layout comes back as it was, payload order aside.
            if target.name() == dump.format_version().name() {
                let name = if target == Target::June { "tensor_dump.json" } else { "args_dump.json" };
                let read = |path: PathBuf| without_offsets(&fs::read_to_string(path).unwrap());
                assert_eq!(read(report.directory.join(name)), read(dump.directory().join(name)));
            }
        }
    }
}

/// Payloads lie in another order, and a level cannot be told from what was captured.
fn without_offsets(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.contains("dump_args_level"));
    let lines = lines.map(|line| match (line.find("\"bin_offset\""), line.find("\"bin_size\"")) {
        (Some(start), Some(end)) => format!("{}{}", &line[..start], &line[end..]),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}
