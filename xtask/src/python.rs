//! The Python of the tests: a virtual environment at `target/python`.
//!
//! What comes in: `tests/python/requirements.txt`. What goes out: the interpreter that has exactly those
//! packages; tests find it as `ARGUS_PYTHON` or at that place. It is made once and again whenever the
//! requirements change. A copy of them, written last, says what is inside.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::step::{Result, root, run};

/// The variable by which tests are told the interpreter.
pub const VARIABLE: &str = "ARGUS_PYTHON";
/// The variable by which tests are told an interpreter that has torch.
pub const TORCH_VARIABLE: &str = "ARGUS_TORCH_PYTHON";
const SYSTEM: &str = "/usr/bin/python3";
/// The system's own Python may work where the first one in the path does not.
const CANDIDATES: [&str; 2] = ["python3", SYSTEM];
const STAMP: &str = "requirements.txt";

/// The interpreter, with everything installed.
pub fn prepare() -> Result<PathBuf> {
    let requirements = root().join("tests/python/requirements.txt");
    let wanted = fs::read_to_string(&requirements)
        .map_err(|error| format!("cannot read {}: {error}", requirements.display()))?;
    let environment = root().join("target/python");
    let interpreter = environment.join("bin/python");
    let stamp = environment.join(STAMP);
    if interpreter.exists() && fs::read_to_string(&stamp).is_ok_and(|present| present == wanted) {
        return Ok(interpreter);
    }
    if !create(&environment) {
        install_python()?;
        if !create(&environment) {
            return Err("`python3 -m venv` fails although python3-venv is installed; \
                        run it by hand to see why"
                .into());
        }
    }
    run(Command::new(&interpreter)
        .args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"])
        .arg(&requirements))?;
    fs::write(&stamp, wanted).map_err(|error| format!("cannot write {}: {error}", stamp.display()))?;
    Ok(interpreter)
}

/// An interpreter with torch: the one that the variable names, or the system's, for which torch comes as a package. None where
/// there is none to be had, after saying what is left out.
pub fn with_torch() -> Option<PathBuf> {
    let python = std::env::var_os(TORCH_VARIABLE).map_or_else(|| PathBuf::from(SYSTEM), PathBuf::from);
    if has_torch(&python) {
        return Some(python);
    }
    let mut packages = vec!["install", "--yes", "--no-install-recommends"];
    packages.extend(["python3-torch", "python3-numpy", "python3-pytest", "python3-pytest-xdist"]);
    let installed = apt_get(&["update"]).and_then(|()| apt_get(&packages));
    if installed.is_ok() && has_torch(Path::new(SYSTEM)) {
        return Some(SYSTEM.into());
    }
    eprintln!(
        "left out: the scene tests with torch. {} cannot import torch, numpy, pytest and xdist, and apt-get does not bring \
         them; {TORCH_VARIABLE} names another interpreter",
        python.display()
    );
    None
}

fn has_torch(python: &Path) -> bool {
    let mut command = Command::new(python);
    command.args(["-c", "import torch, numpy, pytest, xdist"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Builds the package and makes it importable in the environment, as it lies in the sources.
pub fn develop() -> Result<()> {
    run(&mut maturin(&["develop"])?)
}

/// Builds the package as a wheel, with the C++ headers in it, and tries it in a fresh environment.
pub fn wheel(target: &Path) -> Result<()> {
    let place = target.join("wheels");
    let headers = Headers::put()?;
    let built = run(maturin(&["build", "--release", "--out"])?.arg(&place));
    drop(headers);
    built?;
    try_wheel(&newest(&place)?, &target.join("wheel-python"))
}

/// The C++ headers inside the package, as long as a wheel is built.
struct Headers(PathBuf);

impl Headers {
    fn put() -> Result<Headers> {
        let headers = Headers(root().join("python/argus/include"));
        copy(&root().join("include"), &headers.0)?;
        Ok(headers)
    }
}

impl Drop for Headers {
    fn drop(&mut self) {
        // What stays is ignored by git and replaced by the next build.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        match entry.file_type()?.is_dir() {
            true => copy(&entry.path(), &target)?,
            false => fs::copy(entry.path(), target).map(drop)?,
        }
    }
    Ok(())
}

/// The wheel that was written last.
fn newest(place: &Path) -> Result<PathBuf> {
    let mut wheels = Vec::new();
    for entry in fs::read_dir(place)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "whl") {
            wheels.push((fs::metadata(&path)?.modified()?, path));
        }
    }
    wheels.sort();
    wheels.pop().map(|(_, path)| path).ok_or_else(|| "maturin wrote no wheel".into())
}

/// Installs a wheel into an environment with nothing else in it, and runs the examples and the scene in C++ there, away
/// from the checkout.
fn try_wheel(wheel: &Path, environment: &Path) -> Result<()> {
    if !create(environment) {
        return Err("`python3 -m venv` fails; run it by hand to see why".into());
    }
    let python = environment.join("bin/python");
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
    run(Command::new(&python).args(pip).arg(wheel))?;
    let elsewhere = environment.join("tried");
    fs::create_dir_all(&elsewhere)?;
    for script in ["examples/quick_start.py", "examples/golden.py", "examples/cpp_scene.py"] {
        let mut command = Command::new(&python);
        run(command.arg("-I").arg(root().join("python").join(script)).current_dir(&elsewhere))?;
    }
    eprintln!("{} works in a fresh environment", wheel.display());
    Ok(())
}

fn maturin(arguments: &[&str]) -> Result<Command> {
    let interpreter = prepare()?;
    let mut command = Command::new(interpreter);
    command.args(["-m", "maturin"]).args(arguments).current_dir(root().join("python"));
    // Maturin installs into the environment that it is told of.
    command.env("VIRTUAL_ENV", root().join("target/python")).env_remove("CONDA_PREFIX");
    Ok(command)
}

/// Makes an empty environment; false if no Python here can.
fn create(environment: &Path) -> bool {
    CANDIDATES.iter().any(|python| {
        let mut command = Command::new(python);
        command.args(["-m", "venv", "--clear"]).arg(environment);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    })
}

fn install_python() -> Result<()> {
    let hint = "the tests need Python 3.11 or newer with venv, and `apt-get install python3 python3-venv` \
                does not work here; install it and run this again";
    eprintln!("`python3 -m venv` does not work: installing python3 and python3-venv");
    let packages = ["install", "--yes", "--no-install-recommends", "python3", "python3-venv"];
    let installed = apt_get(&["update"]).and_then(|()| apt_get(&packages));
    installed.map_err(|error| format!("{hint} ({error})").into())
}

/// As root, or through sudo if that asks no questions.
fn apt_get(arguments: &[&str]) -> Result<()> {
    let root = Command::new("id").arg("-u").output().is_ok_and(|answer| answer.stdout.trim_ascii() == b"0");
    let mut command = Command::new(if root { "apt-get" } else { "sudo" });
    if !root {
        command.args(["--non-interactive", "apt-get"]);
    }
    run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
}
