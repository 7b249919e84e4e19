//! What is wrong with a dump is said in one message that names file, record and field; the exit code is not 0,
//! and nothing is written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::{AUGUST, Home, JUNE, copy};

/// Commands that must refuse a dump that cannot be read at all.
const COMMANDS: [&str; 8] = [
    "view DUMP",
    "view DUMP --show",
    "view DUMP --index 0 --slice 0",
    "stats DUMP",
    "stats DUMP --parquet copy",
    "verify DUMP",
    "export DUMP --format npy -o copy",
    "convert DUMP --to argus -o copy",
];

/// Every command says the same and writes nothing.
fn assert_refused(home: &Home, dump: &str, message: &str) {
    let before = home.listing();
    for command in COMMANDS {
        let line = command.replace("DUMP", dump);
        let said = home.bad(&line, 2);
        assert!(said.starts_with(&format!("error: {message}")), "argus {line}: {said}");
        assert!(said.lines().next().unwrap().len() < 400, "argus {line}: {said}");
    }
    assert_eq!(home.listing(), before, "nothing is written for {dump}");
}

/// Changes the text of a manifest.
fn edit(manifest: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(manifest).unwrap();
    assert!(text.contains(from), "no {from} in {text}");
    fs::write(manifest, text.replacen(from, to, 1)).unwrap();
}

#[test]
fn manifests_that_cannot_be_are_refused_by_every_command() {
    let home = Home::foreign();
    let many = vec!["1"; 200].join(", ");
    let first = "june_0/tensor_dump.json, record 0, field";
    for (from, to, message) in [
        (
            "\"bin_offset\": 24",
            "\"bin_offset\": -1",
            format!("{first} bin_offset: found integer `-1`; allowed is a whole number"),
        ),
        (
            "\"bin_size\": 16",
            "\"bin_size\": 1e3",
            format!("{first} bin_size: found floating point `1000.0`; allowed is a whole number"),
        ),
        (
            "\"shape\": [4, 1]",
            &format!("\"shape\": [{many}]"),
            format!("{first} shape: found a list of 6; allowed is a list of at most 5"),
        ),
        (
            "\"dtype\": \"FLOAT32\"",
            "\"dtype\": 255",
            format!(
                "{first} dtype: found integer `255`; allowed is a dtype's name, or its number from 0 to 14"
            ),
        ),
        (
            "0x0000000200000000",
            "0xzebra",
            format!("{first} task_id: found \"0xzebra\"; allowed is \"0x\" and 1 to 16 hexadecimal digits"),
        ),
        ("\"stage\": \"before_dispatch\"", "\"stage\": 7", format!("{first} stage: found")),
        (
            "\"bin_file\": \"tensor_dump.bin\"",
            "\"bin_file\": \"../tensor_dump.bin\"",
            "june_0/tensor_dump.json, field bin_file: found \"../tensor_dump.bin\"".to_owned(),
        ),
        ("little_endian", "big_endian", "june_0/tensor_dump.json, field bin_format: found".to_owned()),
    ] {
        copy(&home.path(JUNE), &home.path("june_0"));
        edit(&home.path("june_0/tensor_dump.json"), from, to);
        assert_refused(&home, "june_0", &message);
    }
}

#[test]
fn files_that_are_no_manifest_are_refused_by_every_command() {
    let home = Home::foreign();
    let whole = fs::read_to_string(home.path(AUGUST).join("args_dump.json")).unwrap();
    let braces = "{".repeat(1 << 20);
    let nested = format!("{{\"args\": [{}", "{\"a\": ".repeat(1 << 18));
    for (text, message) in [
        ("", "broken/args_dump.json: the file is empty"),
        ("hello", "broken/args_dump.json: "),
        (&whole[..whole.len() / 2], "broken/args_dump.json, record 7"),
        (&braces, "broken/args_dump.json: key must be a string at line 1 column 2"),
        (&nested, "broken/args_dump.json, record 0: it nests deeper than 127 levels"),
    ] {
        fs::create_dir_all(home.path("broken")).unwrap();
        fs::write(home.path("broken/args_dump.json"), text).unwrap();
        assert_refused(&home, "broken", message);
    }
}

#[test]
fn places_without_a_dump_are_refused_by_every_command() {
    let home = Home::foreign();
    fs::create_dir(home.path("empty")).unwrap();
    fs::write(home.path("file"), "text").unwrap();
    assert_refused(&home, "nowhere", "cannot read nowhere: No such file or directory (os error 2)\n");
    assert_refused(&home, "empty", "empty holds no dump: neither tensor_dump.journal, ");
    assert_refused(&home, "file", "file holds no dump: it is neither a journal nor a manifest");
    assert_refused(
        &home,
        "",
        "no dump was named, and there is no directory outputs here to take the newest from\n",
    );
    fs::create_dir(home.path("outputs")).unwrap();
    assert_refused(&home, "", "outputs holds no dump: none of the directories in it has one");
}

#[test]
fn journals_that_are_none_are_refused_by_every_command() {
    let home = Home::new();
    let journal = fs::read(home.path("ours/tensor_dump/tensor_dump.journal")).unwrap();
    fs::create_dir(home.path("alone")).unwrap();
    fs::copy(home.path("ours/tensor_dump/tensor_dump.bin"), home.path("alone/tensor_dump.bin")).unwrap();
    let mut wrong = journal.clone();
    wrong[..8].copy_from_slice(b"NOTARGUS");
    for (bytes, message) in [
        (&wrong[..], "alone/tensor_dump.journal: this is not a journal: the first bytes are not ARGUSJNL"),
        (&[], "alone/tensor_dump.journal: 0 bytes are too few for a journal's header"),
        (&journal[..20], "alone/tensor_dump.journal: 20 bytes are too few for a journal's header"),
    ] {
        fs::write(home.path("alone/tensor_dump.journal"), bytes).unwrap();
        assert_refused(&home, "alone", message);
    }
}

/// Each command that could read a part of what it was asked for: what stdout begins with.
fn assert_damaged(home: &Home, dump: &str, message: &str) {
    let hint =
        format!("hint: `argus verify {dump}` lists every defect; filters choose records that are whole\n");
    for (command, shown) in [
        ("view", "INDEX "),
        ("view --show", "record     0 of 5: "),
        ("view --csv", "index,task_id,"),
        ("stats", ""),
        ("stats --by-kernel", ""),
    ] {
        let (command, flags) = command.split_once(' ').unwrap_or((command, ""));
        let ended = home.argus(&format!("{command} {dump} {flags}"));
        assert_eq!(ended.code, 1, "{command} {flags}: {}", ended.stderr);
        assert!(
            !ended.stdout.is_empty() && ended.stdout.starts_with(shown),
            "{command} {flags}: {}",
            ended.stdout
        );
        assert!(ended.stderr.contains(&format!("error: {message}")), "{command} {flags}: {}", ended.stderr);
        assert!(ended.stderr.ends_with(&hint), "{command} {flags}: {}", ended.stderr);
        let ended = home.argus(&format!("{command} {dump} --json"));
        let object: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        let first = object["unreadable"]["first"].as_str().unwrap();
        assert!(message.starts_with(first), "{first}");
        assert_eq!((ended.code, ended.stderr.as_str()), (1, ""));
    }
    let before = home.listing();
    for line in
        ["stats DUMP --parquet copy", "export DUMP --format csv -o copy", "convert DUMP --to august -o copy"]
    {
        let said = home.bad(&line.replace("DUMP", dump), 1);
        assert!(said.starts_with(&format!("error: {message}")), "{line}: {said}");
    }
    assert_eq!(home.listing(), before, "no copy is made of what is not there");
    let verdict = home.argus(&format!("verify {dump}"));
    assert_eq!(verdict.code, 1, "{}", verdict.stdout);
    assert!(
        verdict.stdout.contains("\ndefect: ") && verdict.stdout.contains("\nDEFECTIVE  "),
        "{}",
        verdict.stdout
    );
}

#[test]
fn payloads_that_are_not_there_are_an_error_after_what_is() {
    let home = Home::foreign();
    copy(&home.path(JUNE), &home.path("short"));
    fs::write(home.path("short/tensor_dump.bin"), [0; 30]).unwrap();
    assert_damaged(
        &home,
        "short",
        "record 0 has its payload in bytes 24..40 of short/tensor_dump.bin, which has only 30 bytes (and 1 more record is like it)\n",
    );
    // Filters still reach what is whole.
    home.good("view short --index 1 --show");
    home.good("export short --format npy -o whole --index 1");

    copy(&home.path(JUNE), &home.path("gone"));
    fs::remove_file(home.path("gone/tensor_dump.bin")).unwrap();
    assert_damaged(
        &home,
        "gone",
        "record 0 has its payload in gone/tensor_dump.bin, which cannot be read: No such file or directory (os error 2) (and 2 more records are like it)\n",
    );

    copy(&home.path(JUNE), &home.path("past"));
    edit(&home.path("past/tensor_dump.json"), "\"bin_offset\": 40", "\"bin_offset\": 18446744073709551615");
    assert_damaged(
        &home,
        "past",
        "record 4 has its payload in bytes 18446744073709551615..18446744073709551631 of past/tensor_dump.bin, which has only 56 bytes\n",
    );
}

#[test]
fn shapes_that_claim_more_than_there_is_cost_nothing() {
    let home = Home::foreign();
    for shape in
        ["0, 18446744073709551615", "18446744073709551615, 0", "1099511627776, 0", "4294967295, 4294967295"]
    {
        copy(&home.path(JUNE), &home.path("vast"));
        edit(&home.path("vast/tensor_dump.json"), "\"shape\": [4, 1]", &format!("\"shape\": [{shape}]"));
        for command in ["view vast", "view vast --show", "view vast --index 0 --slice :,0:1", "stats vast"] {
            let ended = home.argus(command);
            assert!([0, 2].contains(&ended.code), "{command} {shape}: {}", ended.stderr);
            home.argus(&format!("{command} --json"));
        }
        let ended = home.argus("export vast --format npy -o arrays --force");
        assert!([0, 1].contains(&ended.code), "{shape}: {}", ended.stderr);
        let ended = home.argus("export vast --format txt -o texts --force");
        assert!([0, 1].contains(&ended.code), "{shape}: {}", ended.stderr);
    }
}

#[test]
fn a_name_of_an_unknown_dtype_is_shown_as_such() {
    let home = Home::foreign();
    edit(&home.path(JUNE).join("tensor_dump.json"), "\"dtype\": \"FLOAT32\"", "\"dtype\": \"FLOAT99\"");
    let text = home.good(&format!("view {JUNE}"));
    assert!(text.contains("UNKNOWN  [4, 1]     16  dtype unknown\n"), "{text}");
    let verdict = home.argus(&format!("verify {JUNE}"));
    assert_eq!(verdict.code, 0, "a later version may have more types: {}", verdict.stdout);
    assert!(
        verdict.stdout.contains("warning: record 0: its dtype is none that is known"),
        "{}",
        verdict.stdout
    );
}

#[test]
fn what_cannot_be_written_is_an_error_and_leaves_nothing() {
    let home = Home::foreign();
    fs::create_dir(home.path("locked")).unwrap();
    fs::set_permissions(home.path("locked"), fs::Permissions::from_mode(0o555)).unwrap();
    if fs::write(home.path("locked/probe"), "").is_ok() {
        // Nothing is locked for a superuser; a file in the way stops every user.
        fs::remove_dir_all(home.path("locked")).unwrap();
        fs::write(home.path("locked"), "").unwrap();
    }
    for line in [
        "export june --format npy -o locked/a",
        "convert june --to august -o locked/a",
        "stats june --parquet locked/a",
    ] {
        let said = home.bad(line, 2);
        assert!(said.starts_with("error: cannot "), "{line}: {said}");
        assert!(said.contains("locked"), "{line}: {said}");
    }
    fs::set_permissions(home.path("locked"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!home.path("locked/a").exists());
}
