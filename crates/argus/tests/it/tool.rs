//! Runs the built tool.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::thread::JoinHandle;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
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

/// A terminal that a command writes to.
pub struct Terminal {
    end: File,
    read: JoinHandle<Vec<u8>>,
}

impl Terminal {
    /// With so many columns.
    pub fn new(columns: u16) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let path = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let end = File::options().read(true).write(true).open(path).unwrap();
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&end, size).unwrap();
        let mut reader = File::from(master);
        let read = std::thread::spawn(move || {
            let mut text = Vec::new();
            let mut piece = [0; 4096];
            // When the last writer has gone, a terminal answers with an error instead of an end.
            while let Ok(count @ 1..) = reader.read(&mut piece) {
                text.extend_from_slice(&piece[..count]);
            }
            text
        });
        Terminal { end, read }
    }

    /// For stdout or stderr of a command.
    pub fn end(&self) -> File {
        self.end.try_clone().unwrap()
    }

    /// Everything that was written, once the command has ended.
    pub fn text(self) -> String {
        drop(self.end);
        String::from_utf8(self.read.join().unwrap()).unwrap()
    }
}
