//! `argus replay --gdb`: the real debugger, stopped in the kernel, with the captured bytes.

use std::fs;
use std::path::Path;
use std::process::Command as Process;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;

use crate::tool::{Ended, argus, argus_in};

/// A small project with a dump of its right case.
fn project() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for line in ["new demo", "run demo --case good --dump-tensor -o run"] {
        let ended = argus_in(home.path(), line);
        assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    }
    home
}

/// What a debugger says to these commands, one line each, on its standard input.
fn debugged(home: &Path, line: &str, commands: &[String]) -> Ended {
    let output = Command::new(cargo_bin!("argus"))
        .args(line.split_whitespace())
        .current_dir(home)
        .env("DEBUGINFOD_URLS", "")
        .write_stdin(commands.join("\n") + "\n")
        .output()
        .unwrap();
    Ended {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

fn there(program: &str) -> bool {
    Process::new(program).arg("--version").output().is_ok()
}

/// The line of the kernel that holds this text.
fn line_of(home: &Path, text: &str) -> usize {
    let source = fs::read_to_string(home.join("demo/kernels/aiv/scale.cpp")).unwrap();
    source.lines().position(|line| line.contains(text)).unwrap() + 1
}

#[test]
fn gdb_stops_at_the_first_line_of_the_kernel_and_shows_tiles_as_matrices() {
    if !there("gdb") {
        return missing("gdb");
    }
    let home = project();
    let after = line_of(home.path(), "TMULS(") + 1;
    let commands = [
        "tensor args[0] 2 3",
        &format!("tbreak {after}"),
        "continue",
        "tile tile 2 3",
        "info locals",
        "tile nonsense",
        "continue",
    ];
    let told = debugged(home.path(), "replay run --task scale:0 --gdb", &commands.map(str::to_owned));
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    // The first statement of the body, in the dump's own copy of the source.
    let entry = line_of(home.path(), "void kernel_entry(") + 1;
    let stop = told.stdout.find("Temporary breakpoint 1, kernel_entry (").expect(&told.stdout);
    let place = format!("tensor_dump/scene/kernels/aiv/scale.cpp:{entry}\n");
    assert!(told.stdout[stop..].contains(&place), "{}", told.stdout);
    // The sum of the first kernel is 0.25 i + 1; this one multiplies it by 3.
    let row = |row: u32, factor: f32| {
        let value = |col: u32| (0.25 * (64 * row + col) as f32 + 1.0) * factor;
        format!("{row} {} {} {} ...", value(0), value(1), value(2))
    };
    let words: Vec<String> =
        told.stdout.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for wanted in [row(0, 1.0), row(1, 1.0), row(0, 3.0), row(1, 3.0)] {
        assert!(words.contains(&wanted), "{wanted}: {}", told.stdout);
    }
    for part in ["tile = Vec tile at 0x", "bit-equal"] {
        assert!(told.stdout.contains(part), "{part}: {}", told.stdout);
    }
    assert!(told.stderr.contains("tile: No symbol \"nonsense\" in current context."), "{}", told.stderr);
}

#[test]
fn lldb_stops_there_too() {
    if !there("lldb") {
        return missing("lldb");
    }
    let home = project();
    // Commands on a pipe do not wait for the program, so only the first stop is looked at.
    let told = debugged(home.path(), "replay run --task scale:0 --lldb", &["kill".into(), "quit".into()]);
    assert!(told.stdout.contains("stop reason = one-shot breakpoint 1"), "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("kernel_entry(args="), "{}", told.stdout);
}

/// A debugger that is not installed.
fn missing(program: &str) {
    let home = project();
    let told = argus_in(home.path(), &format!("replay run --task scale:0 --{program}"));
    assert_eq!(told.code, 2, "{}", told.stderr);
    assert!(told.stderr.starts_with(&format!("error: {program} is not on PATH\n")), "{}", told.stderr);
}

#[test]
fn what_cannot_be_debugged_is_one_message() {
    let home = tempfile::tempdir().unwrap();
    let empty = Command::new(cargo_bin!("argus"))
        .args(["replay", "vector_example", "--kernel", "add", "--gdb"])
        .current_dir(home.path())
        .env("PATH", home.path())
        .output()
        .unwrap();
    assert_eq!(empty.status.code(), Some(2));
    let said = String::from_utf8(empty.stderr).unwrap();
    assert_eq!(
        said,
        "error: gdb is not on PATH\n\nhint: install it (Debian: apt install gdb); or replay with --debug-build under a debugger of your own\n"
    );
    let told = argus("replay vector_example --kernel add --debug-build");
    assert_eq!(told.code, 2);
    assert!(
        told.stderr
            .starts_with("error: kernel 'add' is part of this program, not compiled from a C++ source\n"),
        "{}",
        told.stderr
    );
    let told = argus("replay vector_example --kernel add --gdb --json");
    assert_eq!(told.code, 2);
    // With --json every message is an object on stdout.
    assert!(told.stdout.contains("cannot be used with"), "{}{}", told.stdout, told.stderr);
}
