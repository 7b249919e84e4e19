//! `argus list`, help and version.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use crate::tool::{Terminal, argus, argus_json, scenes};

#[test]
fn every_scene_case_and_alias_is_listed() {
    let ended = argus("list");
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
    assert!(ended.stdout.starts_with("SCENE"), "{}", ended.stdout);
    for scene in scenes() {
        assert!(ended.stdout.contains(&scene.name) && ended.stdout.contains(&scene.about), "{}", scene.name);
        for case in scene.cases {
            for name in case.names() {
                assert!(ended.stdout.contains(name), "{} {name}", scene.name);
            }
        }
    }
}

#[test]
fn a_narrow_terminal_shows_all_of_it_in_lines_that_fit() {
    for columns in [40u16, 80, 100, 200] {
        let terminal = Terminal::new(columns);
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("argus"));
        let ended = command.arg("list").env("TERM", "xterm").stdout(terminal.end()).status().unwrap();
        drop(command);
        assert!(ended.success());
        let text = terminal.text();
        let cases: usize = scenes().iter().map(|scene| scene.cases.len()).sum();
        assert!(text.lines().count() < 4 * cases, "{columns} columns: {} lines", text.lines().count());
        for scene in scenes() {
            assert!(text.contains(&scene.name), "{columns} columns: {}", scene.name);
            for word in scene.about.split(' ') {
                assert!(text.contains(word), "{columns} columns, {}: {word}", scene.name);
            }
        }
        if columns >= 80 {
            let longest = text.lines().map(|line| line.trim_end().chars().count()).max();
            assert!(longest <= Some(columns.into()), "{columns} columns: {longest:?}\n{text}");
        }
    }
}

#[test]
fn json_lists_the_same() {
    let (code, object) = argus_json("list --json");
    assert_eq!(code, 0);
    let listed = object["scenes"].as_array().unwrap();
    assert_eq!(listed.len(), scenes().len());
    for (listed, scene) in listed.iter().zip(scenes()) {
        assert_eq!(listed["name"], scene.name);
        assert_eq!(listed["about"], scene.about);
        assert_eq!(listed["cases"].as_array().unwrap().len(), scene.cases.len());
        assert_eq!(listed["cases"][0]["runtimes"][0], scene.cases[0].runtimes[0].name());
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    for arguments in [&["list"][..], &["list", "--json"], &["run", "vector_example"], &["run", "--help"]] {
        let tool = assert_cmd::cargo::cargo_bin!("argus");
        let mut child =
            Command::new(tool).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        // Gone before the first word is written, which is the worst moment.
        drop(child.stdout.take());
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_result_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let tool = assert_cmd::cargo::cargo_bin!("argus");
    let ended = Command::new(tool).arg("list").stdout(full).output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.starts_with("error: cannot write the result: "), "{said}");
}

#[test]
fn help_has_examples_and_exit_codes() {
    for line in ["--help", "run --help", "-h"] {
        let ended = argus(line);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{line}");
        for words in ["Examples:", "argus run vector_example", "Exit codes: 0"] {
            assert!(ended.stdout.contains(words), "{line}: {}", ended.stdout);
        }
    }
}

#[test]
fn the_version_is_the_package_s() {
    assert_eq!(argus("--version").stdout, concat!("argus ", env!("CARGO_PKG_VERSION"), "\n"));
}
