//! `argus new`, walked through as its README says; and what a dump knows of a scene in files.

use std::fs;
use std::path::Path;

use crate::tool::{Ended, argus, argus_in};

/// The commands in the README of a project, in order.
fn commands(readme: &str) -> Vec<&str> {
    readme.lines().filter_map(|line| line.strip_prefix("$ argus ")).collect()
}

fn project() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let made = argus_in(home.path(), "new demo");
    assert_eq!((made.code, &made.stderr[..]), (0, ""));
    assert!(made.stdout.ends_with("next: cd demo && argus run . --dump-tensor -o good\n"), "{}", made.stdout);
    home
}

fn walked(project: &Path) -> Vec<Ended> {
    let readme = fs::read_to_string(project.join("README.md")).unwrap();
    let commands = commands(&readme);
    assert_eq!(commands.len(), 5, "{commands:?}");
    commands.iter().map(|command| argus_in(project, command)).collect()
}

#[test]
fn the_walk_of_a_new_project_leads_to_the_guilty_line() {
    let home = project();
    let project = home.path().join("demo");
    let [good, bad, found, replayed, traced] = &walked(&project)[..] else { panic!("five commands") };
    assert_eq!(good.code, 0, "{}{}", good.stdout, good.stderr);
    assert_eq!(bad.code, 1, "{}{}", bad.stdout, bad.stderr);
    assert!(bad.stdout.contains("FAIL"), "{}", bad.stdout);
    assert_eq!(found.code, 1, "{}", found.stderr);
    let first = found.stdout.lines().find(|line| line.starts_with("first wrong task")).unwrap();
    assert!(first.contains("0x0000000000000001 (scale)"), "{first}");
    // The right product is 3 (0.25 * 64 + 1) = 51; one float further on it is 51.75.
    assert!(bad.stdout.contains("out[64] is 51.75, expected 51"), "{}", bad.stdout);
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
    assert!(replayed.stdout.contains("bit-equal"), "{}", replayed.stdout);
    assert_eq!(traced.code, 0, "{}{}", traced.stdout, traced.stderr);
    let source = fs::read_to_string(project.join("kernels/aiv/scale.cpp")).unwrap();
    let load = source.lines().position(|line| line.contains("TLOAD(")).unwrap() + 1;
    assert!(traced.stdout.contains(&format!("kernels/aiv/scale.cpp:{load}")), "{}", traced.stdout);
}

#[test]
fn a_dump_is_replayed_with_the_sources_that_ran_and_says_what_changed_since() {
    let home = project();
    let project = home.path().join("demo");
    let captured = argus_in(&project, "run . --case good --dump-tensor -o good");
    assert_eq!(captured.code, 0, "{}", captured.stderr);
    let source = project.join("kernels/aiv/scale.cpp");
    let edited =
        fs::read_to_string(&source).unwrap().replace("TMULS(tile, tile, k)", "TMULS(tile, tile, k + 1)");
    fs::write(&source, edited).unwrap();
    // Elsewhere, with the sources changed: still the code that ran.
    let moved = home.path().join("moved");
    fs::rename(project.join("good"), &moved).unwrap();
    let replayed = argus_in(home.path(), "replay moved --task scale:0");
    assert_eq!(replayed.code, 0, "{}{}", replayed.stdout, replayed.stderr);
    assert!(replayed.stderr.contains("kernels/aiv/scale.cpp: changed since the run"), "{}", replayed.stderr);
    // A copy that was edited in the dump is not used.
    fs::write(moved.join("tensor_dump/scene/kernels/aiv/scale.cpp"), "int x;").unwrap();
    let refused = argus_in(home.path(), "replay moved --task scale:0");
    assert_ne!(refused.code, 0);
    assert!(refused.stderr.contains("was changed in the dump"), "{}", refused.stderr);
}

#[test]
fn nothing_is_overwritten_and_odd_names_are_refused() {
    let home = project();
    let again = argus_in(home.path(), "new demo");
    assert_eq!(again.code, 2);
    assert!(again.stderr.contains("'demo' exists already"), "{}", again.stderr);
    let odd = argus("new ../demo");
    assert_eq!(odd.code, 2);
    assert!(odd.stderr.contains("'../demo' cannot be the name of a project"), "{}", odd.stderr);
}

#[test]
fn scenes_in_files_are_listed_and_bad_ones_say_what_is_wrong() {
    let home = project();
    let listed = argus_in(home.path(), "list demo");
    assert_eq!(listed.code, 0, "{}", listed.stderr);
    assert!(listed.stdout.contains("good") && listed.stdout.contains("bug"), "{}", listed.stdout);
    fs::write(
        home.path().join("demo/kernels/aiv/add.cpp"),
        "#include <pto/pto-inst.hpp>\nint x = nonsense;\n",
    )
    .unwrap();
    let broken = argus_in(home.path(), "run demo");
    assert_eq!(broken.code, 2);
    for part in ["add.cpp does not compile", "nonsense", "The command was"] {
        assert!(broken.stderr.contains(part), "{part}: {}", broken.stderr);
    }
    let no_compiler = argus_in(home.path(), "run demo --cxx no-such-compiler");
    assert_eq!(no_compiler.code, 2);
    assert!(no_compiler.stderr.contains("'no-such-compiler' cannot be started"), "{}", no_compiler.stderr);
    assert!(no_compiler.stderr.contains("--cxx names another compiler"), "{}", no_compiler.stderr);
}
