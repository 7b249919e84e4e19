//! Who may depend on whom in this workspace.
//!
//! Directions are part of the design: readers of dumps never lean on the runtime, nothing leans on the
//! command-line tool. A table keeps them visible, and this check keeps the table true. Development
//! dependencies count as well: a test that reaches the wrong way makes the same knot.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::step::{Result, cargo};

enum Allowed {
    Only(&'static [&'static str]),
    Everything,
}

const ALLOWED: &[(&str, Allowed)] = &[
    ("argus-abi", Allowed::Only(&[])),
    ("argus-child", Allowed::Only(&[])),
    ("argus-chip", Allowed::Only(&["argus-abi"])),
    ("argus-facts", Allowed::Only(&["argus-abi"])),
    ("argus-gm", Allowed::Only(&["argus-abi"])),
    ("argus-files", Allowed::Only(&[])),
    ("argus-signals", Allowed::Only(&[])),
    ("argus-sync", Allowed::Only(&[])),
    ("argus-tile", Allowed::Only(&["argus-abi", "argus-chip", "argus-gm"])),
    ("argus-capture", Allowed::Only(&["argus-abi", "argus-facts", "argus-gm", "argus-sync"])),
    (
        "argus-runtime",
        Allowed::Only(&[
            "argus-abi",
            "argus-chip",
            "argus-facts",
            "argus-gm",
            "argus-sync",
            "argus-tile",
            "argus-capture",
            "argus-child",
        ]),
    ),
    ("argus-dump", Allowed::Only(&["argus-abi", "argus-facts", "argus-files", "argus-signals"])),
    (
        "argus-scene",
        // The example on its front page has a kernel.
        Allowed::Only(&["argus-abi", "argus-chip", "argus-facts", "argus-gm", "argus-tile", "argus-runtime"]),
    ),
    (
        "argus-scenes",
        Allowed::Only(&[
            "argus-abi",
            "argus-chip",
            "argus-facts",
            "argus-gm",
            "argus-tile",
            "argus-runtime",
            "argus-scene",
        ]),
    ),
    (
        "argus-record",
        // Runtime and dump meet here; the tests play scenes.
        Allowed::Only(&[
            "argus-abi",
            "argus-chip",
            "argus-facts",
            "argus-gm",
            "argus-tile",
            "argus-capture",
            "argus-dump",
            "argus-runtime",
            "argus-scene",
            "argus-scenes",
        ]),
    ),
    ("argus-artefacts", Allowed::Only(&["argus-abi", "argus-facts", "argus-files"])),
    (
        "argus-runs",
        Allowed::Only(&[
            "argus-abi",
            "argus-artefacts",
            "argus-dump",
            "argus-facts",
            "argus-files",
            "argus-trace",
        ]),
    ),
    ("argus-arrays", Allowed::Only(&["argus-abi", "argus-files"])),
    ("argus-compile", Allowed::Only(&["argus-abi", "argus-chip", "argus-files"])),
    (
        "argus-loaded",
        // The tests compile scenes, run them, and compare what they record.
        Allowed::Only(&[
            "argus-abi",
            "argus-chip",
            "argus-facts",
            "argus-gm",
            "argus-tile",
            "argus-runtime",
            "argus-compile",
            "argus-dump",
            "argus-record",
        ]),
    ),
    (
        "argus-scene-file",
        Allowed::Only(&[
            "argus-abi",
            "argus-arrays",
            "argus-chip",
            "argus-compile",
            "argus-facts",
            "argus-files",
            "argus-loaded",
            "argus-runtime",
            "argus-scene",
        ]),
    ),
    ("argus-text", Allowed::Only(&["argus-abi", "argus-facts", "argus-dump"])),
    ("argus-tui", Allowed::Only(&["argus-abi", "argus-facts", "argus-dump", "argus-text"])),
    ("argus-export", Allowed::Only(&["argus-abi", "argus-facts", "argus-files", "argus-dump"])),
    ("argus-find", Allowed::Only(&["argus-abi", "argus-arrays", "argus-facts", "argus-dump"])),
    (
        "argus-trace",
        Allowed::Only(&["argus-abi", "argus-chip", "argus-facts", "argus-files", "argus-gm", "argus-tile"]),
    ),
    (
        "argus-replay",
        // The tests record scenes and replay what they recorded.
        Allowed::Only(&[
            "argus-abi",
            "argus-arrays",
            "argus-chip",
            "argus-facts",
            "argus-gm",
            "argus-tile",
            "argus-capture",
            "argus-dump",
            "argus-files",
            "argus-runtime",
            "argus-scene",
            "argus-scenes",
            "argus-record",
            "argus-trace",
        ]),
    ),
    (
        "argus-dump-scene",
        // The tests run a scene that ships.
        Allowed::Only(&[
            "argus-abi",
            "argus-chip",
            "argus-dump",
            "argus-facts",
            "argus-find",
            "argus-record",
            "argus-replay",
            "argus-runtime",
            "argus-scene",
            "argus-scenes",
            "argus-trace",
        ]),
    ),
    (
        "argus-workspace",
        Allowed::Only(&["argus-abi", "argus-chip", "argus-facts", "argus-files", "argus-gm", "argus-replay"]),
    ),
    (
        "argus-c",
        Allowed::Only(&[
            "argus-abi",
            "argus-chip",
            "argus-compile",
            "argus-dump",
            "argus-facts",
            "argus-files",
            "argus-loaded",
            "argus-record",
            "argus-runs",
            "argus-runtime",
        ]),
    ),
    ("argus-layout", Allowed::Only(&[])),
    (
        "argus-web",
        // The tests record scenes and ask for what they recorded.
        Allowed::Only(&[
            "argus-abi",
            "argus-chip",
            "argus-dump",
            "argus-dump-scene",
            "argus-facts",
            "argus-files",
            "argus-find",
            "argus-layout",
            "argus-record",
            "argus-replay",
            "argus-runs",
            "argus-runtime",
            "argus-scene",
            "argus-scenes",
            "argus-text",
            "argus-trace",
        ]),
    ),
    ("argus", Allowed::Everything),
    // A face like the tool, beside it: neither leans on the other.
    (
        "argus-python",
        Allowed::Only(&[
            "argus-abi",
            "argus-child",
            "argus-chip",
            "argus-compile",
            "argus-dump",
            "argus-dump-scene",
            "argus-export",
            "argus-facts",
            "argus-find",
            "argus-loaded",
            "argus-record",
            "argus-replay",
            "argus-runtime",
            "argus-scene",
            "argus-scene-file",
            "argus-scenes",
            "argus-trace",
        ]),
    ),
    ("xtask", Allowed::Only(&[])),
];

/// What cargo knows about the members of the workspace.
pub fn metadata() -> Result<Value> {
    let answer = cargo(&["metadata", "--format-version", "1", "--no-deps"]).output()?;
    if !answer.status.success() {
        return Err(String::from_utf8_lossy(&answer.stderr).trim().into());
    }
    Ok(serde_json::from_slice(&answer.stdout)?)
}

/// Fails with every edge that the table does not allow.
pub fn check(metadata: &Value) -> Result<()> {
    let members = edges(metadata);
    let mut complaints = Vec::new();
    for (member, needed) in &members {
        match ALLOWED.iter().find(|(name, _)| name == member) {
            None => complaints.push(format!("{member} is not in the table of xtask/src/deps.rs")),
            Some((_, Allowed::Everything)) => {}
            Some((_, Allowed::Only(allowed))) => {
                let inner = needed.iter().filter(|name| members.contains_key(*name));
                let wrong = inner.filter(|name| !allowed.contains(name));
                complaints.extend(wrong.map(|name| format!("{member} must not depend on {name}")));
            }
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("; ").into()) }
}

/// Fails with every row of the crate table of ARCHITECTURE.md that does not say what its crate leans on at run time.
pub fn check_document(metadata: &Value, document: &str) -> Result<()> {
    let mut complaints = Vec::new();
    for package in items(&metadata["packages"]) {
        let Some(member) = package["name"].as_str().filter(|name| name.starts_with("argus-")) else {
            continue;
        };
        let row = document.lines().find(|line| line.starts_with(&format!("| `{member}` |")));
        let Some(said) = row.and_then(|row| row.trim_end_matches([' ', '|']).rsplit('|').next()) else {
            complaints.push(format!("{member} has no row in the table of ARCHITECTURE.md"));
            continue;
        };
        let mut said: Vec<&str> = said.split(',').map(str::trim).filter(|name| *name != "-").collect();
        said.sort_unstable();
        let needed = items(&package["dependencies"]).iter().filter(|dependency| dependency["kind"].is_null());
        let names = needed.filter_map(|dependency| dependency["name"].as_str());
        let mut truth: Vec<&str> = names.filter_map(|name| name.strip_prefix("argus-")).collect();
        truth.sort_unstable();
        if said != truth {
            let truth = truth.join(", ");
            complaints.push(format!(
                "{member} leans on {truth}, the table of ARCHITECTURE.md says {}",
                said.join(", ")
            ));
        }
    }
    if complaints.is_empty() { Ok(()) } else { Err(complaints.join("; ").into()) }
}

/// For each member, the names it depends on in any way: at run time, for its build or for its tests.
fn edges(metadata: &Value) -> BTreeMap<&str, Vec<&str>> {
    let edges = items(&metadata["packages"]).iter().filter_map(|package| {
        let dependencies = items(&package["dependencies"]).iter();
        let names = dependencies.filter_map(|dependency| dependency["name"].as_str());
        Some((package["name"].as_str()?, names.collect()))
    });
    edges.collect()
}

fn items(list: &Value) -> &[Value] {
    list.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn workspace(member: &str, dependency: Value) -> Value {
        json!({ "packages": [
            { "name": "argus-runtime", "dependencies": [] },
            { "name": "argus-abi", "dependencies": [] },
            { "name": member, "dependencies": [dependency] },
        ] })
    }

    #[test]
    fn edges_of_the_table_and_foreign_crates_are_allowed() {
        for name in ["argus-abi", "serde"] {
            check(&workspace("argus-dump", json!({ "name": name, "kind": null }))).unwrap();
        }
        check(&workspace("argus", json!({ "name": "argus-runtime", "kind": null }))).unwrap();
    }

    #[test]
    fn other_edges_are_not_even_for_tests() {
        for kind in [Value::Null, json!("dev"), json!("build")] {
            let error = check(&workspace("argus-dump", json!({ "name": "argus-runtime", "kind": kind })));
            assert_eq!(error.unwrap_err().to_string(), "argus-dump must not depend on argus-runtime");
        }
    }

    #[test]
    fn a_member_without_a_row_is_refused() {
        let error = check(&workspace("argus-new", json!({ "name": "serde", "kind": null })));
        assert!(error.unwrap_err().to_string().contains("argus-new is not in the table"));
    }

    #[test]
    fn the_document_says_what_a_crate_leans_on() {
        let workspace = workspace("argus-dump", json!({ "name": "argus-abi", "kind": null }));
        let rows = "| `argus-runtime` | x | - |\n| `argus-abi` | x | - |\n";
        check_document(&workspace, &format!("{rows}| `argus-dump` | x | abi |\n")).unwrap();
        let error = check_document(&workspace, &format!("{rows}| `argus-dump` | x | abi, facts |"));
        let expected = "argus-dump leans on abi, the table of ARCHITECTURE.md says abi, facts";
        assert_eq!(error.unwrap_err().to_string(), expected);
        assert!(check_document(&workspace, rows).unwrap_err().to_string().contains("argus-dump has no row"));
    }

    #[test]
    fn this_workspace_keeps_to_the_tables() {
        check(&metadata().unwrap()).unwrap();
        check_document(&metadata().unwrap(), include_str!("../../ARCHITECTURE.md")).unwrap();
    }
}
