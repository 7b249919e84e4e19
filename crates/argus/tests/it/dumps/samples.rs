//! Real dumps of the reference, whose directory `ARGUS_SAMPLES` names: every command, every format.

use std::path::PathBuf;

use super::{Home, copy, python, view};

#[test]
fn samples_are_read_exported_and_converted_there_and_back() {
    let Some(samples) = std::env::var_os("ARGUS_SAMPLES").map(PathBuf::from) else {
        eprintln!("skipped: ARGUS_SAMPLES names no directory with dumps of the reference");
        return;
    };
    let mut seen = 0;
    for entry in std::fs::read_dir(samples).unwrap() {
        let home = Home::foreign();
        let sample = entry.unwrap().path();
        let dump = std::fs::read_dir(&sample).unwrap().next().unwrap().unwrap();
        let name = format!("sample/{}", dump.file_name().into_string().unwrap());
        copy(&dump.path(), &home.path(&name));
        view::assert_values(&home, "sample", &name);
        home.good("verify sample");
        home.good("stats sample");
        for (format, script) in [
            ("npy", "check_arrays.py"),
            ("npz", "check_arrays.py"),
            ("safetensors", "check_arrays.py"),
            ("parquet --payload", "check_tables.py"),
            ("csv", "check_tables.py"),
            ("txt", "check_text.py"),
        ] {
            if home.path("copy").exists() {
                std::fs::remove_dir_all(home.path("copy")).unwrap();
            }
            home.good(&format!("export sample --format {format} -o copy"));
            python::check(script, &[&home.path(&name), &home.path("copy")]);
        }
        let own = if name.ends_with("args_dump") { "august" } else { "june" };
        home.good("convert sample --to argus -o ours");
        home.good(&format!("convert ours --to {own} -o back"));
        let back = name.replace("sample", "back");
        view::assert_values(&home, "back", &back);
        seen += 1;
    }
    assert!(seen >= 6);
}
