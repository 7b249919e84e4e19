//! Runs as a whole: files beside a dump, ranks, hangs.
//!
//! | file | subject |
//! |---|---|
//! | `made` | captures in the reference's layout, written by hand |
//! | `ranks` | trees of captures: tables, faults that are found, shards that are merged |
//! | `beside` | files beside a dump: used, damaged, of another run |
//! | `written` | what `argus run --artefacts` writes |

mod beside;
mod made;
mod ranks;
mod shapes;
mod written;

use std::path::PathBuf;

use assert_cmd::cargo::cargo_bin;

use crate::python::run;
use crate::tool::{argus, argus_json};

/// Every sample, every file of it, value by value, read a second time by a script that shares nothing with this.
#[test]
fn what_is_said_of_the_samples_is_what_their_files_say() {
    let Some(samples) = std::env::var_os("ARGUS_SAMPLES").map(PathBuf::from) else {
        eprintln!("skipped: ARGUS_SAMPLES names no directory with runs of the reference");
        return;
    };
    let samples = samples.join("artefacts");
    if samples.is_dir() {
        run("check_runs.py", &[cargo_bin!("argus"), &samples]);
    }
}

/// The same for runs that are made here, of every age and layout, so that a fresh clone checks the same paths.
#[test]
fn what_is_said_of_made_runs_is_what_their_files_say() {
    let home = tempfile::tempdir().unwrap();
    run("make_runs.py", &[home.path()]);
    run("check_runs.py", &[cargo_bin!("argus"), home.path()]);
}

/// The object of a command that fails.
fn failed(line: &str) -> serde_json::Value {
    let (code, object) = argus_json(line);
    assert_eq!(code, 1, "{line}");
    object
}

#[test]
fn a_hang_of_our_own_has_the_class_that_the_reference_would_give_it() {
    let stuck = failed("run failures --case stuck_kernel --json");
    assert_eq!(stuck["stall"]["class"], "S1:running-stalled");
    assert_eq!((&stuck["stall"]["running"], &stuck["stall"]["submitted"]), (&1.into(), &1.into()));
    assert_eq!(stuck["stall"]["stuck_task_id"], "0x0000000000000000");
    assert_eq!(stuck["stall"]["stuck_core"], stuck["core"]);
    for runtime in ["hbg", "abg"] {
        let deadlock = failed(&format!("run failures --case dependency_deadlock --runtime {runtime} --json"));
        assert_eq!(deadlock["stall"]["class"], "S4:dependency-deadlock");
        assert_eq!((&deadlock["stall"]["waiting"], &deadlock["stall"]["detail"]), (&2.into(), &4.into()));
    }
    let told = argus("run failures --case stuck_kernel");
    assert!(
        told.stderr.contains("stall: S1:running-stalled: a task was on a core and did not end"),
        "{}",
        told.stderr
    );
    // A run that failed otherwise did not stand still.
    assert!(failed("run failures --case faulting_kernel --json").get("stall").is_none());
}
