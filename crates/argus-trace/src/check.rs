//! Reads back everything that a trace wrote and holds it to the rules of its readers, and to itself.
//!
//! Nothing here uses the code of the writers: files are parsed as a stranger would, and what several files say
//! about the same thing must agree. The first fault is reported with its file and place.

mod bin;
mod broken;
mod core;
mod csv;
mod details;
mod events;
mod perfetto;
mod tables;
mod trace;
mod window;
mod wire;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::check::broken::rule;
use crate::check::trace::TraceFacts;

pub use crate::check::broken::{Broken, FilePlace};

/// Why a directory was refused.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("{file}")]
    Invalid { file: String, source: Broken },
}

/// What a valid directory holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckReport {
    pub cores: Vec<String>,
    pub tracks: usize,
    /// Instructions, flags included.
    pub slices: u64,
    /// Arrows from a set to its wait.
    pub flows: u64,
    /// Flags that nothing waited for, as the summary says.
    pub unpaired_flags: u64,
    /// Rows of the instruction table.
    pub addresses: usize,
    pub sources: usize,
    pub trace_blocks: usize,
    /// Slices of `perfetto.pftrace`, those around tile instructions included.
    pub native_slices: u64,
}

/// What a rule gives, unless the file breaks it.
type Rule<T = ()> = Result<T, Broken>;

/// The part of the summary that other files must agree with.
#[derive(Debug, Deserialize)]
struct Promise {
    statement: String,
    parameters: String,
    mhz: f64,
    cycles: u64,
    instructions: u64,
    unpaired_flags: u64,
}

/// Checks `dir/simulator`, or `dir` itself if that is what it is.
pub fn check(dir: &Path) -> Result<CheckReport, CheckError> {
    let inner = dir.join("simulator");
    let dir = if inner.is_dir() { inner } else { dir.to_owned() };
    let files = Files { dir };
    let promise: Promise = files.parse("summary.json", |reader| Ok(serde_json::from_reader(reader)?))?;
    files.judge("summary.json", check_promise(&promise))?;

    let mut seen = TraceFacts::new(promise.mhz);
    files.parse("trace.json", |reader| events::read(reader, 2, &mut |event| seen.event(event)))?;
    files.judge("trace.json", seen.finish())?;
    files.judge("summary.json", agree(&promise, &seen))?;

    let (files, seen) = (&files, &seen);
    let data = || {
        let blocks = files.parse("visualize_data.bin", |reader| bin::read(reader, seen))?;
        files.judge("visualize_data.bin", tables::check(&blocks, seen))?;
        files.judge("visualize_data.bin", details::check(&blocks, seen))?;
        Ok(blocks)
    };
    let others = || {
        for core in seen.cores() {
            let name = format!("{core}/trace.json");
            files.parse(&name, |reader| core::read(reader, core, seen))?;
            files.tables_of(core, seen)?;
        }
        files.parse("perfetto.json", |reader| perfetto::read_json(reader, seen))?;
        files.parse("perfetto.pftrace", |reader| perfetto::read_native(reader, seen))
    };
    // Each file is held to the first one and to no other. Without a second thread they are read in turn.
    let (blocks, native_slices): (Result<_, CheckError>, Result<_, CheckError>) =
        std::thread::scope(|scope| {
            let helper = std::thread::Builder::new().spawn_scoped(scope, data);
            match helper {
                Ok(helper) => {
                    let native = others();
                    (helper.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), native)
                }
                Err(_) => (data(), others()),
            }
        });
    let (blocks, native_slices, flows) = (blocks?, native_slices?, seen.flows());
    Ok(CheckReport {
        cores: seen.cores().map(str::to_owned).collect(),
        tracks: seen.tracks.len(),
        slices: seen.slices(),
        flows,
        unpaired_flags: promise.unpaired_flags,
        addresses: blocks.rows(),
        sources: blocks.sources.len(),
        trace_blocks: blocks.traces,
        native_slices,
    })
}

fn check_promise(promise: &Promise) -> Rule {
    if promise.statement.is_empty() || promise.parameters.is_empty() {
        return Err("it does not say that it is a model, or with which parameters".into());
    }
    if !(promise.mhz.is_finite() && promise.mhz > 0.0) {
        return Err(rule!("a clock of {} MHz", promise.mhz));
    }
    Ok(())
}

fn agree(promise: &Promise, seen: &TraceFacts) -> Rule {
    let pairs = [
        ("instructions", promise.instructions, seen.slices()),
        ("unpaired flags", promise.unpaired_flags, seen.unpaired()),
        ("cycles", promise.cycles, (seen.end_ps() as f64 * promise.mhz / 1e6).round() as u64),
    ];
    for (what, promised, found) in pairs {
        if promised != found {
            return Err(rule!("it promises {promised} {what}, trace.json has {found}"));
        }
    }
    Ok(())
}

struct Files {
    dir: PathBuf,
}

impl Files {
    /// Opens a file and parses it.
    fn parse<T>(&self, name: &str, parse: impl FnOnce(BufReader<File>) -> Rule<T>) -> Result<T, CheckError> {
        let path = self.dir.join(name);
        let read = |source| CheckError::Read { path: path.clone(), source };
        let meta = fs::symlink_metadata(&path).map_err(read)?;
        let problem = if !meta.is_file() {
            Some("it is not a regular file")
        } else if meta.mode() & 0o002 != 0 {
            Some("everyone may write it, so MindStudio Insight refuses it")
        } else {
            None
        };
        self.judge(name, problem.map_or(Ok(()), |problem| Err(problem.into())))?;
        let file = File::open(&path).map_err(|source| CheckError::Read { path: path.clone(), source })?;
        self.judge(name, parse(BufReader::with_capacity(1 << 20, file)))
    }

    fn judge<T>(&self, name: &str, result: Rule<T>) -> Result<T, CheckError> {
        result.map_err(|source| CheckError::Invalid { file: name.to_owned(), source })
    }

    /// The two tables of a core, whose names carry the time of writing.
    fn tables_of(&self, core: &str, seen: &TraceFacts) -> Result<(), CheckError> {
        let directory = self.dir.join(core);
        let read = |source| CheckError::Read { path: directory.clone(), source };
        let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for entry in fs::read_dir(&directory).map_err(read)? {
            let name = entry.map_err(read)?.file_name().to_string_lossy().into_owned();
            for kind in ["instr", "code"] {
                if name.contains(&format!("_{kind}_exe")) {
                    found.entry(kind).or_default().push(name.clone());
                }
            }
        }
        let mut stamps = Vec::new();
        for kind in ["instr", "code"] {
            let names = found.remove(kind).unwrap_or_default();
            let [name] = &names[..] else {
                let broken = rule!("{} files *_{kind}_exe_*.csv instead of one", names.len());
                return self.judge(core, Err(broken));
            };
            let stamp = name
                .strip_prefix(&format!("{core}_{kind}_exe_"))
                .and_then(|rest| rest.strip_suffix(".csv"))
                .filter(|stamp| stamp.len() == 17 && stamp.bytes().all(|byte| byte.is_ascii_digit()));
            let full = format!("{core}/{name}");
            let Some(stamp) = stamp else {
                return self.judge(&full, Err("the name is not CORE_KIND_exe_STAMP.csv".into()));
            };
            stamps.push(stamp.to_owned());
            self.parse(&full, |reader| match kind {
                "instr" => csv::instr_exe(reader, core, seen),
                _ => csv::code_exe(reader, core, seen),
            })?;
        }
        if stamps[0] != stamps[1] {
            return self.judge(core, Err("its two tables have different stamps".into()));
        }
        Ok(())
    }
}
