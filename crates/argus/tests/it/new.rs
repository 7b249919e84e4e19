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
fn an_output_without_expected_values_is_named_beside_a_pass() {
    let home = project();
    let scene = home.path().join("demo/scene.toml");
    let text = fs::read_to_string(&scene).unwrap();
    let extra = "\n[[tensor]]\nname = \"extra\"\ndirection = \"out\"\ndtype = \"f32\"\nshape = [4]\n";
    let at = text.find("\n[[case]]").unwrap();
    fs::write(&scene, format!("{}{extra}{}", &text[..at], &text[at..])).unwrap();
    let ended = argus_in(home.path(), "run demo --case good");
    assert_eq!(ended.code, 0, "{}{}", ended.stdout, ended.stderr);
    let last = ended.stdout.lines().last().unwrap();
    assert!(last.starts_with("PASS  every compared element is within"), "{last}");
    assert!(last.ends_with("not compared, because there are no expected values: extra"), "{last}");
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
    // Both tasks of the kernel are wrong and neither waits for the other: the first is the one that ran first.
    let scales = ["0x0000000000000001 (scale)", "0x0000000000000003 (scale)"];
    assert!(scales.iter().any(|task| first.contains(task)), "{first}");
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
    let odd = argus("new 1demo --rust");
    assert_eq!(odd.code, 2);
    assert!(odd.stderr.contains("and a letter first"), "{}", odd.stderr);
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

/// The scene that a Rust project begins with, as an example of the crate: its tool without a build of its own.
fn example() -> std::path::PathBuf {
    let own = std::env::current_exe().unwrap();
    let tool = own.parent().and_then(Path::parent).unwrap().join("examples/own_scene");
    assert!(tool.is_file(), "{} is built with the tests", tool.display());
    tool
}

/// Walks the README of a Rust project; `tool` stands for `cargo run -q --`.
fn walk_rust(home: &Path, name: &str, tool: impl Fn(&[&str]) -> std::process::Command) {
    let readme = fs::read_to_string(home.join(name).join("README.md")).unwrap();
    let lines = readme.lines().filter_map(|line| line.strip_prefix("$ cargo run -q -- "));
    let ended: Vec<(i32, String)> = lines
        .map(|line| {
            let words: Vec<&str> = line.split(' ').collect();
            let output = tool(&words).current_dir(home.join(name)).output().unwrap();
            let told = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()).concat();
            (output.status.code().unwrap(), told)
        })
        .collect();
    let [good, bad, found, replayed, traced] = &ended[..] else { panic!("five commands: {ended:?}") };
    assert_eq!(good.0, 0, "{}", good.1);
    assert_eq!(bad.0, 1, "{}", bad.1);
    // Row 1 begins at element 63 of the sum: 3 (0.25 * 63 + 1), one step less than it should be.
    assert!(bad.1.contains("out[64] is 50.25, expected 51"), "{}", bad.1);
    assert_eq!(found.0, 1, "{}", found.1);
    assert!(found.1.contains("(scale) introduced the error"), "{}", found.1);
    assert_eq!(replayed.0, 0, "{}", replayed.1);
    assert!(replayed.1.contains("bit-equal"), "{}", replayed.1);
    assert_eq!(traced.0, 0, "{}", traced.1);
    let source = fs::read_to_string(home.join(name).join("src/main.rs")).unwrap();
    let load = source.lines().position(|line| line.contains("core.tload(&TILES[0]")).unwrap() + 1;
    let places = [format!("src/main.rs:{load}"), format!("examples/own_scene.rs:{load}")];
    assert!(places.iter().any(|place| traced.1.contains(place)), "{}", traced.1);
}

#[test]
fn a_scene_of_another_crate_in_sixty_lines_gets_run_find_replay_and_trace() {
    let home = tempfile::tempdir().unwrap();
    let made = argus_in(home.path(), "new own_scene --rust");
    assert_eq!((made.code, &made.stderr[..]), (0, ""));
    assert!(made.stdout.ends_with("next: cd own_scene && cargo run -q -- list\n"), "{}", made.stdout);
    let source = fs::read_to_string(home.path().join("own_scene/src/main.rs")).unwrap();
    assert!(source.lines().count() <= 60, "{} lines", source.lines().count());
    // What is written is the example, under the project's name; so the example's tool stands for the project's.
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/own_scene.rs")).unwrap();
    assert_eq!(source, text.replace("own_scene.rs", "main.rs"));
    walk_rust(home.path(), "own_scene", |words| {
        let mut tool = std::process::Command::new(example());
        tool.args(words);
        tool
    });
}

/// The same with cargo, in a crate of its own: it compiles all of Argus once more.
#[test]
fn a_new_crate_is_built_by_cargo_and_walked_through() {
    if std::env::var_os("ARGUS_LONG").is_none() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let made = argus_in(home.path(), "new mine --rust");
    assert_eq!(made.code, 0, "{}", made.stderr);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The versions that this workspace was tested with.
    fs::copy(root.join("Cargo.lock"), home.path().join("mine/Cargo.lock")).unwrap();
    walk_rust(home.path(), "mine", |words| {
        let mut tool = std::process::Command::new(env!("CARGO"));
        tool.args(["run", "-q", "--"]).args(words).env("CARGO_NET_OFFLINE", "true");
        tool
    });
}

#[test]
fn a_rust_project_needs_the_sources_and_says_so() {
    let home = tempfile::tempdir().unwrap();
    let made = argus_in(home.path(), "new mine --rust --argus .");
    assert_eq!(made.code, 2);
    for part in ["does not hold the sources of Argus", "--argus DIR names a checkout"] {
        assert!(made.stderr.contains(part), "{}", made.stderr);
    }
    assert!(!home.path().join("mine").exists());
    let both = argus_in(home.path(), "new mine --rust --cpp");
    assert_eq!(both.code, 2);
}
