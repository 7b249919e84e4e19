//! The page of `argus open`: its types, its bundle, its tests, the latter in a browser too.
//!
//! `cargo build` needs none of this: the bundle is committed. What this machine lacks is said and left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{Result, root, run};

/// Names under which the browser is found.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// The package that brings it.
const PACKAGE: &str = "chromium";

/// Checks that the bundle is what its sources give, and runs the tests of the page; those of its views if there is a browser,
/// with this tool.
pub fn check(tool: &Path) -> Result<()> {
    let web = root().join("web");
    if !works("node", &["--version"]) || !works("npm", &["--version"]) {
        left_out("there is no Node.js: the bundle is not built again, and the tests of the page are not run");
        return Ok(());
    }
    if let Err(error) = packages(&web) {
        left_out(&format!(
            "the packages of the page cannot be had ({error}): its bundle and tests are not checked"
        ));
        return Ok(());
    }
    let mut tests = Command::new("node");
    tests.arg("test.mjs").current_dir(&web);
    match browser() {
        Some(browser) => {
            tests.arg("--browser").env("ARGUS_CHROMIUM", browser).env("ARGUS_BIN", tool);
        }
        None => left_out(&format!(
            "there is no browser: the views are not tested; the package {PACKAGE} brings one"
        )),
    }
    run(&mut tests)
}

fn left_out(what: &str) {
    eprintln!("left out: {what}");
}

fn works(program: &str, arguments: &[&str]) -> bool {
    let started = Command::new(program).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).status();
    started.is_ok_and(|status| status.success())
}

/// Installs the packages that the lock file names, unless they are there.
fn packages(web: &Path) -> Result<()> {
    let wanted = fs::read_to_string(web.join("package-lock.json"))?;
    let stamp = web.join("node_modules/.argus-lock");
    if fs::read_to_string(&stamp).is_ok_and(|present| present == wanted) {
        return Ok(());
    }
    run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(web))?;
    Ok(fs::write(stamp, wanted)?)
}

/// The browser; it is installed if that is possible without asking.
fn browser() -> Option<PathBuf> {
    find().or_else(|| {
        install();
        find()
    })
}

fn find() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("ARGUS_CHROMIUM") {
        return Some(named.into());
    }
    let path = std::env::var_os("PATH")?;
    let places: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let all = BROWSERS.iter().flat_map(|name| places.iter().map(move |place| place.join(name)));
    all.into_iter().find(|candidate| candidate.is_file())
}

fn install() {
    let root = Command::new("id").arg("-u").output().is_ok_and(|answer| answer.stdout.trim_ascii() == b"0");
    if !root || !works("apt-get", &["--version"]) {
        return;
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null()))
    };
    let installed = apt(&["update", "--quiet"])
        .and_then(|()| apt(&["install", "--quiet", "--yes", "--no-install-recommends", PACKAGE]));
    if let Err(error) = installed {
        eprintln!("the package {PACKAGE} is not installed: {error}");
    }
}
