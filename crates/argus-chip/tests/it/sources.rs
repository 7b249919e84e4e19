//! Chips are named in their own files and nowhere else.

use std::path::{Path, PathBuf};

use argus_chip::CHIPS;

/// Every file below the `src` of every other crate, test modules left out.
fn sources() -> Vec<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let crates = std::fs::read_dir(workspace.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    let mut left: Vec<PathBuf> = crates
        .filter(|path| path.file_name().is_some_and(|name| name != "argus-chip"))
        .chain([workspace.join("xtask")])
        .map(|path| path.join("src"))
        .collect();
    let mut files = Vec::new();
    while let Some(path) = left.pop() {
        if path.is_file() {
            files.push(path);
        } else if !path.ends_with("tests") {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    files.sort();
    files
}

/// The text up to the test module at its end.
fn without_tests(text: &str) -> &str {
    let mut at = 0;
    let mut marked = None;
    for line in text.split_inclusive('\n') {
        match marked {
            Some(start) if line.contains("mod ") && line.trim_end().ends_with('{') => {
                return &text[..start];
            }
            Some(_) if line.starts_with("#[") => {}
            _ => marked = (line.starts_with("#[cfg(") && line.contains("test")).then_some(at),
        }
        at += line.len();
    }
    text
}

/// Whether `name` is a word of `line`, or a part of one between underscores.
fn names(line: &str, name: &str) -> bool {
    let line = line.to_ascii_lowercase();
    let name = name.to_ascii_lowercase();
    let bounded = |at: usize| {
        let outside = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric());
        outside(line[..at].chars().next_back()) && outside(line[at + name.len()..].chars().next())
    };
    line.match_indices(&name).any(|(at, _)| bounded(at))
}

#[test]
fn no_source_outside_this_crate_names_a_chip() {
    let words: Vec<&str> = CHIPS
        .iter()
        .flat_map(|chip| {
            let vendor = &chip.vendor;
            let theirs = [vendor.simulator_dir, vendor.soc_version, vendor.compiler_arch, vendor.insight];
            [chip.name, chip.hardware].into_iter().chain(theirs)
        })
        .collect();
    let files = sources();
    assert!(files.len() > 300, "only {} files were found", files.len());
    let mut found = Vec::new();
    for path in files {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        for (number, line) in without_tests(&text).lines().enumerate() {
            if words.iter().any(|word| names(line, word)) {
                found.push(format!("{}:{}: {}", path.display(), number + 1, line.trim()));
            }
        }
    }
    assert_eq!(found, Vec::<String>::new());
}
