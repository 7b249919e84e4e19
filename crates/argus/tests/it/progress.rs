//! Progress is for terminals: there it shows and goes away, elsewhere there is no byte of it.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

use std::process::{Command, Stdio};

use assert_cmd::cargo::cargo_bin;

use crate::tool::Terminal;

/// A run that takes longer than progress waits: its kernel never ends and is given up after a second and a
/// half.
const LONG: &[&str] =
    &["run", "failures", "--case", "stuck_kernel", "--timeout", "1.5", "--dump-tensor", "-o", "run"];

/// Everything that a call of the tool writes to a terminal as its stderr.
fn on_a_terminal(more: &[&str]) -> (Option<i32>, String) {
    let home = tempfile::tempdir().unwrap();
    let terminal = Terminal::new(100);
    let mut child = Command::new(cargo_bin!("argus"))
        .args(LONG)
        .args(more)
        .current_dir(home.path())
        .env("TERM", "xterm")
        .stdout(Stdio::null())
        .stderr(terminal.end())
        .spawn()
        .unwrap();
    let code = child.wait().unwrap().code();
    (code, terminal.text())
}

#[test]
fn a_long_run_shows_its_progress_on_a_terminal_and_clears_it() {
    let (code, text) = on_a_terminal(&[]);
    assert_eq!(code, Some(1));
    let line = "0 of 1 tasks, ";
    let (before, after) = text.rsplit_once(line).unwrap_or_else(|| panic!("no progress in {text:?}"));
    assert!(before.contains("0 of 1 tasks"), "drawn again and again: {text:?}");
    let (rest, error) = after.split_once("error:").unwrap_or_else(|| panic!("no error in {text:?}"));
    assert!(rest.contains("\u{1b}[2K"), "the line is cleared before the error: {text:?}");
    assert!(error.contains("fatal 100"), "{text:?}");
}

#[test]
fn beside_json_there_is_no_progress_on_a_terminal_either() {
    assert_eq!(on_a_terminal(&["--json"]), (Some(1), String::new()));
}

#[test]
fn in_a_pipe_there_is_no_progress() {
    let home = tempfile::tempdir().unwrap();
    let ended = Command::new(cargo_bin!("argus")).args(LONG).current_dir(home.path()).output().unwrap();
    let said = String::from_utf8(ended.stderr).unwrap();
    assert!(said.starts_with("error: fatal 100"), "{said}");
    assert!(!said.contains("tasks,") && !said.contains('\u{1b}') && !said.contains('\r'), "{said:?}");
}
