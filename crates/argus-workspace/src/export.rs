//! Whether an export of msprof is complete.
//!
//! In: a workspace after a collection. Out: its `simulator` directory and what lies in it. A missing or empty
//! file, a trace that is not JSON and an instruction table without rows are errors that name the file.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

/// A complete export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Export {
    pub simulator: PathBuf,
    /// The instruction table of each core, sorted.
    pub instruction_tables: Vec<PathBuf>,
}

/// What is wrong with an export.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error("no OPPROF_*/simulator directory in {}: msprof exported nothing", folder.display())]
    NoSimulator { folder: PathBuf },
    #[error("the export in {} lacks {}", simulator.display(), missing.join(" and "))]
    Missing { simulator: PathBuf, missing: Vec<&'static str> },
    #[error("no core*/*instr_exe*.csv in {}: msprof saw no instruction", simulator.display())]
    NoTables { simulator: PathBuf },
    #[error("{} is broken", path.display())]
    Broken { path: PathBuf, source: serde_json::Error },
    #[error("{} is broken: it has no row below its header", path.display())]
    EmptyTable { path: PathBuf },
    #[error("cannot read {}", path.display())]
    Read { path: PathBuf, source: io::Error },
}

/// Checks the newest export of a workspace.
pub fn check_export(workspace: &Path) -> Result<Export, ExportError> {
    let folder = workspace.join("insight_export");
    let runs = folders(&folder, "OPPROF_").unwrap_or_default();
    // Names end in a time, so the last one is the newest.
    let Some(simulator) = runs.iter().map(|run| run.join("simulator")).rfind(|path| path.is_dir()) else {
        return Err(ExportError::NoSimulator { folder });
    };
    let filled =
        |name: &str| fs::metadata(simulator.join(name)).is_ok_and(|file| file.is_file() && file.len() > 0);
    let missing: Vec<_> =
        ["trace.json", "visualize_data.bin"].into_iter().filter(|name| !filled(name)).collect();
    if !missing.is_empty() {
        return Err(ExportError::Missing { simulator, missing });
    }
    check_json(&simulator.join("trace.json"))?;
    let mut instruction_tables = Vec::new();
    for core in read(&simulator, folders(&simulator, "core"))? {
        for path in read(&core, entries(&core))? {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.contains("instr_exe") && name.ends_with(".csv") {
                check_table(&path)?;
                instruction_tables.push(path);
            }
        }
    }
    if instruction_tables.is_empty() {
        return Err(ExportError::NoTables { simulator });
    }
    Ok(Export { simulator, instruction_tables })
}

fn check_json(path: &Path) -> Result<(), ExportError> {
    let text = read(path, fs::read(path))?;
    match serde_json::from_slice::<IgnoredAny>(&text) {
        Ok(_) => Ok(()),
        Err(source) => Err(ExportError::Broken { path: path.to_owned(), source }),
    }
}

fn check_table(path: &Path) -> Result<(), ExportError> {
    let mut lines = BufReader::new(read(path, File::open(path))?).lines();
    let rows = read(path, lines.by_ref().take(2).collect::<io::Result<Vec<_>>>())?;
    if rows.len() < 2 {
        return Err(ExportError::EmptyTable { path: path.to_owned() });
    }
    Ok(())
}

/// Directories whose name begins so, sorted.
fn folders(folder: &Path, prefix: &str) -> io::Result<Vec<PathBuf>> {
    let named = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(prefix))
    };
    Ok(entries(folder)?.into_iter().filter(|path| named(path) && path.is_dir()).collect())
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

fn read<T>(path: &Path, result: io::Result<T>) -> Result<T, ExportError> {
    result.map_err(|source| ExportError::Read { path: path.to_owned(), source })
}
