//! A whole dump in another layout: ours, or one of the reference's.
//!
//! What comes in: a dump of any format version. What goes out: a directory `tensor_dump` or `args_dump` in the given one,
//! complete or not there at all. Values that the layout has no place for are listed in the report.

mod argus;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use argus_dump::origin_file::SCENE_DIRECTORY;
use argus_dump::read::Dump;
use argus_dump::runs::{self, RemoveError};
use argus_files::Stage;

use crate::error::ExportError;
use crate::output::{MadeDirectories, refuse_dump, taken};
use crate::report::{Progress, Remarks, Report};

/// A layout that a dump can be converted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// Ours: journal, payload, manifest and graph, in `tensor_dump`.
    Argus,
    /// The reference's of June: `tensor_dump/tensor_dump.json` and `tensor_dump.bin`.
    June,
    /// The reference's of August: `args_dump/args_dump.json` and `args.bin`.
    August,
}

impl Target {
    pub const ALL: [Target; 3] = [Target::Argus, Target::June, Target::August];

    pub const fn name(self) -> &'static str {
        match self {
            Target::Argus => "argus",
            Target::June => "june",
            Target::August => "august",
        }
    }

    pub fn from_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name() == name)
    }

    /// Name of the directory that holds the files.
    const fn directory(self) -> &'static str {
        match self {
            Target::Argus | Target::June => argus_dump::DUMP_DIRECTORY,
            Target::August => "args_dump",
        }
    }
}

/// Files that a dump of any layout may consist of.
const DUMP_FILES: [&str; 8] = [
    argus_dump::PAYLOAD_FILE,
    argus_dump::JOURNAL_FILE,
    argus_dump::MANIFEST_FILE,
    argus_dump::GRAPH_FILE,
    argus_dump::RUN_FILE,
    argus_dump::TIMELINE_FILE,
    "args_dump.json",
    "args.bin",
];

/// Converts `dump` to a directory in `out`. With `force` a dump that is there already is replaced as a whole.
///
/// `progress` is told how much of how much is done, as in [`crate::export`].
pub fn convert(
    dump: &Dump,
    target: Target,
    out: &Path,
    force: bool,
    progress: &(dyn Fn(u64, u64) + Sync),
) -> Result<Report, ExportError> {
    let place = out.join(target.directory());
    refuse_dump(dump, &place)?;
    if taken(&place) {
        if !force {
            return Err(ExportError::Exists { path: place });
        }
        only_a_dump(&place)?;
    }
    let made = MadeDirectories::create(out)?;
    let stage = Stage::inside(out).map_err(ExportError::create(out))?;
    let fresh = stage.path().join(target.directory());
    fs::create_dir(&fresh).map_err(ExportError::create(&fresh))?;
    let progress = Progress::new(dump.records(), progress);
    let (mut without, mut remarks) = (Remarks::default(), Remarks::default());
    let mut work = Work { dump, progress: &progress, without: &mut without, remarks: &mut remarks };
    match target {
        Target::Argus => argus::write(&mut work, &fresh)?,
        Target::June => reference::write(&mut work, &fresh, reference::June)?,
        Target::August => reference::write(&mut work, &fresh, reference::August)?,
    }
    let mut report = Report {
        directory: place.clone(),
        records: dump.len() as u64,
        without_payload: without.groups(),
        remarks: remarks.groups(),
        ..Report::default()
    };
    count(&fresh, &mut report)?;
    // What was there goes away with the stage.
    stage.exchange(target.directory(), &place).map_err(ExportError::write(&place))?;
    made.keep();
    Ok(report)
}

/// Counts the files below a directory.
fn count(directory: &Path, report: &mut Report) -> Result<(), ExportError> {
    for entry in fs::read_dir(directory).map_err(ExportError::write(directory))? {
        let entry = entry.map_err(ExportError::write(directory))?;
        let about = entry.metadata().map_err(ExportError::write(directory))?;
        if about.is_dir() {
            count(&entry.path(), report)?;
        } else {
            report.files += 1;
            report.bytes += about.len();
        }
    }
    Ok(())
}

/// What a conversion works on.
struct Work<'a> {
    dump: &'a Dump,
    progress: &'a Progress<'a>,
    without: &'a mut Remarks,
    remarks: &'a mut Remarks,
}

/// Replacing a directory must not take other people's files with it.
fn only_a_dump(place: &Path) -> Result<(), ExportError> {
    let cannot = || ExportError::write(place);
    for entry in fs::read_dir(place).map_err(cannot())? {
        let name = entry.map_err(cannot())?.file_name();
        let foreign = |name: String| ExportError::NotOnlyADump { path: PathBuf::from(place), name };
        if name == SCENE_DIRECTORY {
            runs::check_sources(place).map_err(|error| match error {
                RemoveError::Stranger { path } => {
                    foreign(path.strip_prefix(place).unwrap_or(&path).display().to_string())
                }
                _ => foreign(SCENE_DIRECTORY.to_owned()),
            })?;
        } else if !DUMP_FILES.iter().any(|known| name == *known) {
            return Err(foreign(name.to_string_lossy().into_owned()));
        }
    }
    Ok(())
}
