//! The user's browser, if there is one.
//!
//! Everyone on the machine can see the arguments of a program, and the address holds a secret. So the browser is given a
//! file that only its owner can read, and that leads on.

use std::ffi::OsString;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::output;

/// The file; it is removed when this is dropped.
pub struct Page {
    _directory: TempDir,
}

impl Page {
    /// Opens an address in the browser. `None` if there is none, or it cannot be started; the address was printed anyway.
    pub fn show(url: &str) -> Option<Page> {
        let program = program()?;
        let private = std::fs::Permissions::from_mode(0o700);
        let directory = tempfile::Builder::new().prefix("argus-open-").permissions(private).tempdir().ok()?;
        let page = directory.path().join("open.html");
        std::fs::File::create_new(&page).ok()?.write_all(leads_to(url).as_bytes()).ok()?;
        let started = Command::new(&program)
            .arg(&page)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        match started {
            Ok(mut child) => {
                // Its exit code is not needed, but it must not stay as a zombie.
                std::thread::spawn(move || child.wait());
                Some(Page { _directory: directory })
            }
            Err(error) => {
                output::detail(&format!("{} is not started: {error}", Path::new(&program).display()));
                None
            }
        }
    }
}

/// A page that goes to the address at once. The address is ours: nothing in it needs escaping.
fn leads_to(url: &str) -> String {
    format!(
        "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=\"0;url={url}\"><a href=\"{url}\">argus</a>\n"
    )
}

/// `$BROWSER`, or what opens files on a desktop. Without a screen there is none.
fn program() -> Option<OsString> {
    if let Some(named) = std::env::var_os("BROWSER").filter(|named| !named.is_empty()) {
        return Some(named);
    }
    if cfg!(target_os = "macos") {
        return Some("open".into());
    }
    let screen = ["WAYLAND_DISPLAY", "DISPLAY"]
        .iter()
        .any(|name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    let found = std::env::split_paths(&std::env::var_os("PATH")?)
        .any(|place: PathBuf| place.join("xdg-open").is_file());
    (screen && found).then(|| "xdg-open".into())
}
