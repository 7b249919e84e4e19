//! The README keeps its word: its commands work, its scenes exist.

use argus_facts::select::KEYS;
use argus_runtime::inject::InjectionKind;

use crate::tool::{argus_in, scenes};

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

/// The files that the README shows: fenced blocks with a name behind the language.
fn files() -> Vec<(&'static str, String)> {
    let mut files: Vec<(&str, String)> = Vec::new();
    let mut inside = None;
    for line in README.lines() {
        match (inside, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let name = info.split_once(' ').map(|(_, name)| name);
                files.extend(name.map(|name| (name, String::new())));
                inside = Some(name.is_some());
            }
            (Some(_), Some(_)) => inside = None,
            (Some(true), None) => {
                let (_, text) = files.last_mut().unwrap();
                *text += &format!("{line}\n");
            }
            _ => {}
        }
    }
    files
}

#[test]
fn each_command_works() {
    let calls = calls();
    assert!(calls.contains(&"run paged_attention --case CaseSmall1 --dump-tensor"), "{calls:?}");
    // In one directory, one after the other, as a reader would.
    let home = tempfile::tempdir().unwrap();
    for (name, text) in files() {
        std::fs::write(home.path().join(name), text).unwrap();
    }
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

/// Long options that the help of a command lists.
fn options(command: &str) -> Vec<String> {
    let help = argus_in(std::path::Path::new("."), &format!("{command} --help")).stdout;
    let listed = help.lines().filter(|line| line.trim_start().starts_with('-'));
    let option = |line: &str| {
        let start = line.find("--")?;
        let name = line[start..].split(|sign: char| !(sign.is_ascii_alphanumeric() || sign == '-')).next()?;
        Some(name.to_owned())
    };
    listed.filter_map(option).filter(|name| name != "--help" && name != "--version").collect()
}

#[test]
fn each_option_is_documented() {
    let documented = [
        README,
        include_str!("../../../../docs/json.md"),
        include_str!("../../../../docs/timing.md"),
        include_str!("../../../../docs/scene-file.md"),
        include_str!("../../../../docs/runs.md"),
    ];
    let commands = [
        "list",
        "run",
        "view",
        "tui",
        "open",
        "stats",
        "verify",
        "export",
        "convert",
        "find",
        "diff",
        "merge",
        "replay",
        "trace",
        "pytest",
        "dumps",
        "doctor",
        "completions",
    ];
    let mut seen = 0;
    for command in commands {
        for option in options(command) {
            seen += 1;
            let named = |text: &&str| {
                text.match_indices(&option).any(|(at, _)| {
                    let rest = &text[at + option.len()..];
                    !rest.starts_with(|sign: char| sign.is_ascii_alphanumeric() || sign == '-')
                })
            };
            assert!(documented.iter().any(named), "argus {command} {option} is in README.md");
        }
    }
    assert!(seen > 100, "{seen} options were looked for");
}

/// Lists that are written out for people hold what the code knows, all of it.
#[test]
fn help_and_readme_name_every_fault_and_every_key() {
    let help = argus_in(std::path::Path::new("."), "run --help").stdout;
    let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
    let kinds = InjectionKind::ALL.map(InjectionKind::name);
    assert!(help.contains(&format!("Kinds: {}", kinds.join(", "))), "{help}");
    assert!(help.contains(&format!("Keys: {}", KEYS.join(", "))), "{help}");
    for kind in kinds {
        assert!(README.contains(&format!("`{kind}`")), "{kind}");
    }
    let keys = README.lines().find(|line| line.starts_with("| `--dump-select SELECTOR`")).unwrap();
    let filters = README.lines().find(|line| line.starts_with("Filters combine freely")).unwrap();
    for key in KEYS {
        assert!(keys.contains(&format!("`{key}`")), "{key}");
        assert!(filters.contains(&format!("`--{key}`")), "{key}");
    }
}
