//! The README keeps its word: its commands work, its scenes exist.

use argus_scenes::registry::scenes;

use crate::tool::argus_in;

const README: &str = include_str!("../../../../README.md");

/// The calls of the tool in fenced `sh` and `console` blocks, without the words that start it.
fn calls() -> Vec<&'static str> {
    let mut calls = Vec::new();
    let mut fence = None;
    for line in README.lines() {
        match (fence, line.strip_prefix("```")) {
            (None, Some(language)) => fence = Some(language),
            (Some(_), Some(_)) => fence = None,
            (Some("sh" | "console"), None) => {
                let starts = ["argus ", "cargo run --release -- "];
                let call = starts.iter().find_map(|start| line.trim_start_matches("$ ").strip_prefix(start));
                calls.extend(call);
            }
            _ => {}
        }
    }
    calls
}

#[test]
fn each_command_works() {
    let calls = calls();
    assert!(calls.contains(&"run paged_attention --case CaseSmall1 --dump-tensor"), "{calls:?}");
    // In one directory, one after the other, as a reader would.
    let home = tempfile::tempdir().unwrap();
    for line in calls {
        let (call, code) = match line.split_once("  # exits ") {
            Some((call, code)) => (call, code.parse().unwrap()),
            None => (line, 0),
        };
        let ended = argus_in(home.path(), call);
        assert_eq!(ended.code, code, "argus {call}: {}{}", ended.stdout, ended.stderr);
    }
}

#[test]
fn each_scene_has_a_row() {
    for scene in scenes() {
        assert!(README.contains(&format!("| `{}` |", scene.name)), "{}", scene.name);
    }
}
