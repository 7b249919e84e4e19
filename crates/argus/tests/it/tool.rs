//! Runs the built tool.

use std::path::Path;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use serde_json::Value;

/// What one call of the tool left behind.
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Calls the tool with the words of a line, in a directory that is gone afterwards.
pub fn argus(line: &str) -> Ended {
    argus_in(tempfile::tempdir().expect("a temporary directory").path(), line)
}

/// Calls the tool in a directory.
pub fn argus_in(directory: &Path, line: &str) -> Ended {
    let output = Command::new(cargo_bin!("argus"))
        .args(line.split_whitespace())
        .current_dir(directory)
        .output()
        .expect("argus starts");
    let ended = Ended {
        code: output.status.code().expect("not ended by a signal"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8 on stdout"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8 on stderr"),
    };
    for text in [&ended.stdout, &ended.stderr] {
        assert!(!text.contains("panicked at"), "argus {line}: {text}");
        assert!(!text.contains('\u{1b}'), "argus {line} colours what is not a terminal: {text}");
    }
    ended
}

/// Calls the tool and reads its one JSON object; nothing may be said beside it.
pub fn argus_json(line: &str) -> (i32, Value) {
    let ended = argus(line);
    assert_eq!(ended.stderr, "", "argus {line}");
    (ended.code, serde_json::from_str(&ended.stdout).expect("one JSON object"))
}

/// Every scene that the tool knows by name, in the order in which it lists them.
pub fn scenes() -> Vec<argus_scene::Scene> {
    let own = argus_scenes::scenes::all();
    let twins = own.iter().cloned().map(std::sync::Arc::new).collect();
    let files = argus_scene_file::SceneFiles { cxx: None, log: std::sync::Arc::new(|_, _, _| ()), twins };
    let shipped = argus_scene_file::shipped(&files).expect("what ships can be read");
    own.into_iter().chain(shipped).collect()
}
