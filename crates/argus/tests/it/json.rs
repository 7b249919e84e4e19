//! `docs/json.md` shows the JSON of each command as it is.

use serde_json::Value;

use crate::tool::argus_in;

const DOCUMENT: &str = include_str!("../../../../docs/json.md");

/// Fenced blocks of the document, each with what stands behind the fence.
fn blocks() -> Vec<(&'static str, String)> {
    let mut blocks = Vec::new();
    let mut lines = DOCUMENT.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let text: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push((info, text.join("\n")));
    }
    blocks
}

/// Keys whose values are the same each time.
const FIXED: [&str; 8] =
    ["schema", "verdict", "task_id", "kernel", "stage", "role", "dtype", "format_version"];

/// The same keys with values of the same type; of lists the first items.
fn same_form(path: &str, shown: &Value, real: &Value) {
    match (shown, real) {
        (Value::Null, _) | (_, Value::Null) => {}
        (Value::Object(shown), Value::Object(real)) => {
            let keys = |object: &serde_json::Map<String, Value>| {
                let mut keys: Vec<String> = object.keys().cloned().collect();
                keys.sort();
                keys
            };
            assert_eq!(keys(shown), keys(real), "keys of {path}");
            for (key, value) in shown {
                same_form(&format!("{path}.{key}"), value, &real[key]);
            }
        }
        (Value::Array(shown), Value::Array(real)) => {
            assert!(shown.is_empty() || !real.is_empty(), "{path} is not empty");
            for (number, (shown, real)) in shown.iter().zip(real).enumerate() {
                same_form(&format!("{path}[{number}]"), shown, real);
            }
        }
        _ => {
            assert_eq!(
                std::mem::discriminant(shown),
                std::mem::discriminant(real),
                "{path}: {shown}, {real}"
            );
            if FIXED.contains(&path.rsplit('.').next().unwrap_or_default()) {
                assert_eq!(shown, real, "{path}");
            }
        }
    }
}

#[test]
fn each_example_has_the_form_of_what_the_command_prints() {
    let home = tempfile::tempdir().unwrap();
    let mut schemas = Vec::new();
    for (info, text) in blocks() {
        if info == "sh" {
            for line in text.lines() {
                let call = line.strip_prefix("argus ").unwrap().split("  #").next().unwrap();
                argus_in(home.path(), call);
            }
            continue;
        }
        let Some(call) = info.strip_prefix("json argus ") else { continue };
        let shown: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{call}: {error}"));
        let ended = argus_in(home.path(), call);
        assert_eq!(ended.stderr, "", "argus {call}");
        let real: Value = serde_json::from_str(&ended.stdout).unwrap();
        same_form(call, &shown, &real);
        schemas.push(shown["schema"].as_str().unwrap().to_owned());
    }
    // Every schema that the tool knows is shown.
    let source = include_str!("../../src/schema.rs");
    let known = source.lines().filter_map(|line| line.split('"').nth(1)).chain(["argus-find-3"]);
    // A workspace needs a C++ source, and no command leaves a run of the reference that failed: their objects are tested
    // with others of their kind.
    let elsewhere = ["argus-workspace", "argus-failed-run"];
    let elsewhere = |schema: &str| elsewhere.iter().any(|start| schema.starts_with(start));
    for schema in known.filter(|schema| schema.starts_with("argus-") && !elsewhere(schema)) {
        assert!(schemas.iter().any(|shown| shown == schema), "docs/json.md has an example of {schema}");
    }
}
