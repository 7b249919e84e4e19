//! Building a workspace and recording it with the vendor's simulator, where that is installed.
//!
//! In: a workspace directory and the environment to run in. Out: the exported `simulator` directory, checked.
//! First everything that is missing is said at once; nothing is run then. Every step writes its output to a log
//! in the workspace. A step that takes too long or is interrupted is ended with all the processes it started.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Component, Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};

use crate::config::{Build, BuildOnly, CONFIG_FILE};
use crate::export::{Export, ExportError, check_export};
use crate::symbols::{SymbolError, kernel_symbol, require};

/// Where programs and toolkits are looked for.
#[derive(Clone, Debug, Default)]
pub struct Toolkit {
    /// A list of directories like `PATH`.
    pub path: OsString,
    /// Roots by the name of their variable.
    pub variables: BTreeMap<String, OsString>,
}

/// Variables that a workspace may ask for, and the other name of the toolkit's root.
const VARIABLES: [&str; 5] = ["CANN_HOME", "ASCEND_HOME_PATH", "PTO_ISA_ROOT", "SIMPLER_ROOT", "PTOAS_ROOT"];

impl Toolkit {
    /// What this process was started with.
    pub fn of_this_process() -> Toolkit {
        let variables = VARIABLES.iter().filter_map(|name| Some(((*name).to_owned(), env::var_os(name)?)));
        Toolkit { path: env::var_os("PATH").unwrap_or_default(), variables: variables.collect() }
    }

    /// The first program of this name on the path.
    pub fn program(&self, name: &str) -> Option<PathBuf> {
        let runnable = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
        };
        env::split_paths(&self.path).map(|folder| folder.join(name)).find(runnable)
    }

    fn has_root(&self, name: &str) -> bool {
        let set = |name: &str| self.variables.get(name).is_some_and(|value| !value.is_empty());
        set(name) || name == "CANN_HOME" && set("ASCEND_HOME_PATH")
    }
}

/// Limits and choices of one collection.
#[derive(Clone, Debug)]
pub struct CollectOptions {
    /// For all steps together.
    pub max_time: Duration,
    /// The kernel's exported name, where it cannot be found or is not unique.
    pub kernel_symbol: Option<String>,
    /// Set from elsewhere to end the collection.
    pub interrupted: Arc<AtomicBool>,
}

impl Default for CollectOptions {
    fn default() -> CollectOptions {
        let interrupted = Arc::default();
        CollectOptions { max_time: Duration::from_secs(1800), kernel_symbol: None, interrupted }
    }
}

/// A recorded workspace.
#[derive(Clone, Debug)]
pub struct Collected {
    pub symbol: String,
    pub export: Export,
}

/// Why a workspace could not be recorded.
#[derive(Debug, thiserror::Error)]
pub enum CollectError {
    #[error("{} is not a workspace", path.display())]
    NotAWorkspace { path: PathBuf, source: RecordError },
    #[error(
        "cannot collect, because {}; the workspace is complete and its run_collect.sh runs wherever they are there",
        missing.iter().map(Lack::to_string).collect::<Vec<_>>().join(", ")
    )]
    Missing { missing: Vec<Lack> },
    #[error("cannot run {step}")]
    Start { step: &'static str, source: io::Error },
    #[error("timed out after {seconds} s in step {step}; its output is in {}", log.display())]
    TimedOut { step: &'static str, seconds: u64, log: PathBuf },
    #[error("interrupted in step {step}; its output is in {}", log.display())]
    Interrupted { step: &'static str, log: PathBuf },
    #[error("step {step} failed ({status}); its output is in {}", log.display())]
    Failed { step: &'static str, status: ExitStatus, log: PathBuf },
    #[error("cannot read the built library {}", path.display())]
    Library { path: PathBuf, source: io::Error },
    #[error("cannot find the kernel in {}", path.display())]
    Symbol { path: PathBuf, source: SymbolError },
    #[error(transparent)]
    Export(#[from] ExportError),
}

/// What is wrong with the record of a workspace.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    #[error("{CONFIG_FILE}")]
    Read(#[source] io::Error),
    #[error("{CONFIG_FILE}")]
    Json(#[source] serde_json::Error),
    #[error("{CONFIG_FILE}: the library `{library}` is outside")]
    Outside { library: String },
}

/// Something that collecting needs and that is not here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A program that the path does not have.
    Program(String),
    /// A variable that names no root.
    Root(String),
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lack::Program(name) => write!(f, "{name} is not on the PATH"),
            Lack::Root(name) => write!(f, "{name} is not set"),
        }
    }
}

/// Everything that collecting this workspace needs and the toolkit lacks.
pub fn missing(build: &Build, toolkit: &Toolkit) -> Vec<Lack> {
    let programs = build.programs.iter().filter(|name| toolkit.program(name).is_none());
    let roots = build.roots.iter().filter(|name| !toolkit.has_root(name));
    programs.cloned().map(Lack::Program).chain(roots.cloned().map(Lack::Root)).collect()
}

/// What a workspace needs, from its record.
pub fn build_of(workspace: &Path) -> Result<Build, CollectError> {
    let wrong = |source| CollectError::NotAWorkspace { path: workspace.to_owned(), source };
    let record = fs::read(workspace.join(CONFIG_FILE)).map_err(|error| wrong(RecordError::Read(error)))?;
    let BuildOnly { build } =
        serde_json::from_slice(&record).map_err(|error| wrong(RecordError::Json(error)))?;
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
    if !Path::new(&build.library).components().all(inside) {
        return Err(wrong(RecordError::Outside { library: build.library }));
    }
    Ok(build)
}

/// Builds the workspace, finds the kernel's symbol, records, exports and checks the export.
pub fn collect(
    workspace: &Path,
    toolkit: &Toolkit,
    options: &CollectOptions,
) -> Result<Collected, CollectError> {
    let build = build_of(workspace)?;
    let missing = missing(&build, toolkit);
    let Some(bash) = toolkit.program("bash").filter(|_| missing.is_empty()) else {
        return Err(CollectError::Missing { missing });
    };
    let steps = Steps { workspace, toolkit, bash, options, started: Instant::now() };
    steps.run("build", &["build"])?;
    let symbol = find_symbol(workspace, &build, options)?;
    steps.run("collect", &["collect", &symbol])?;
    Ok(Collected { symbol, export: check_export(workspace)? })
}

fn find_symbol(workspace: &Path, build: &Build, options: &CollectOptions) -> Result<String, CollectError> {
    let path = workspace.join(&build.library);
    let elf = fs::read(&path).map_err(|source| CollectError::Library { path: path.clone(), source })?;
    let fixed: Vec<&str> = build.symbols.iter().map(String::as_str).collect();
    let found = require(&elf, &fixed).and_then(|()| {
        match (&options.kernel_symbol, &build.base_name, fixed.first()) {
            (Some(symbol), ..) => require(&elf, &[symbol]).map(|()| symbol.clone()),
            (None, Some(base_name), _) => kernel_symbol(&elf, base_name),
            (None, None, first) => Ok(first.copied().unwrap_or_default().to_owned()),
        }
    });
    found.map_err(|source| CollectError::Symbol { path, source })
}

/// The steps of `run_collect.sh`, against one clock.
struct Steps<'a> {
    workspace: &'a Path,
    toolkit: &'a Toolkit,
    bash: PathBuf,
    options: &'a CollectOptions,
    started: Instant,
}

impl Steps<'_> {
    fn run(&self, step: &'static str, arguments: &[&str]) -> Result<(), CollectError> {
        let log = self.workspace.join("logs").join(format!("{step}.log"));
        let child = self.start(&log, arguments).map_err(|source| CollectError::Start { step, source })?;
        match self.wait(child).map_err(|source| CollectError::Start { step, source })? {
            None if self.is_interrupted() => Err(CollectError::Interrupted { step, log }),
            None => Err(CollectError::TimedOut { step, seconds: self.options.max_time.as_secs(), log }),
            Some(status) if !status.success() => Err(CollectError::Failed { step, status, log }),
            Some(_) => Ok(()),
        }
    }

    fn start(&self, log: &Path, arguments: &[&str]) -> io::Result<Child> {
        fs::create_dir_all(self.workspace.join("logs"))?;
        let output = File::create(log)?;
        Command::new(&self.bash)
            .arg("run_collect.sh")
            .args(arguments)
            .current_dir(self.workspace)
            .env("PATH", &self.toolkit.path)
            .envs(&self.toolkit.variables)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(output)
            // A group of its own, so that a step can be ended with everything it started.
            .process_group(0)
            .spawn()
    }

    fn is_interrupted(&self) -> bool {
        self.options.interrupted.load(Ordering::Relaxed)
    }

    /// The status, or `None` when time is up or the collection was interrupted.
    fn wait(&self, mut child: Child) -> io::Result<Option<ExitStatus>> {
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(Some(status));
            }
            if self.is_interrupted() || self.started.elapsed() >= self.options.max_time {
                // The child has not been waited for, so its number still names it and its group.
                if let Some(group) = Pid::from_raw(child.id() as i32) {
                    kill_process_group(group, Signal::KILL)?;
                }
                child.wait()?;
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}
