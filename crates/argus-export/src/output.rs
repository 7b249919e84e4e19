//! Files that appear together, whole, or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use argus_dump::read::Dump;
use argus_files::Stage;

use crate::error::ExportError;
use crate::report::{Group, Report};

/// From so many files on it is said what they cost.
const WORTH_MEASURING: usize = 1000;
/// Files that are made to measure it.
const SAMPLE: u32 = 256;
/// Of which the quickest batch counts.
const BATCH: u32 = 32;

/// The directory on the stage that becomes the export's, where there was none.
const FRESH: &str = "files";

/// An export under way. Dropped before [`Output::publish`], it leaves nothing behind.
pub(crate) struct Output {
    directory: PathBuf,
    force: bool,
    /// Everything is written here first, so that renaming is enough.
    stage: Stage,
    /// There was no directory: the files lie in one on the stage, and all of them get their place with it, in one step.
    fresh: bool,
    /// The files, with their sizes where they are known.
    names: Mutex<Vec<(String, Option<u64>)>>,
    _made: MadeDirectories,
}

impl Output {
    /// Prepares the directory `out`, creating what is missing of it.
    pub(crate) fn begin(dump: &Dump, out: &Path, force: bool) -> Result<Output, ExportError> {
        refuse_dump(dump, out)?;
        let fresh = !taken(out);
        let (made, stage) = if fresh {
            argus_files::check_directory(out).map_err(ExportError::create(out))?;
            let made = MadeDirectories::create(out.parent().unwrap_or(out))?;
            let stage = Stage::beside(out).map_err(ExportError::create(out))?;
            fs::create_dir(stage.path().join(FRESH)).map_err(ExportError::create(out))?;
            (made, stage)
        } else {
            (MadeDirectories::create(out)?, Stage::inside(out).map_err(ExportError::create(out))?)
        };
        Ok(Output { directory: out.to_path_buf(), force, stage, fresh, names: Mutex::default(), _made: made })
    }

    /// Where the files lie before they get their place.
    fn staged(&self) -> PathBuf {
        if self.fresh { self.stage.path().join(FRESH) } else { self.stage.path().to_path_buf() }
    }

    /// Fails for the first of `names` that is taken.
    pub(crate) fn check_free(&self, names: impl IntoIterator<Item = String>) -> Result<(), ExportError> {
        if self.force || self.fresh {
            return Ok(());
        }
        match names.into_iter().map(|name| self.directory.join(name)).find(|path| taken(path)) {
            Some(path) => Err(ExportError::Exists { path }),
            None => Ok(()),
        }
    }

    /// Where a file called `name` is written before it gets its place.
    pub(crate) fn stage(&self, name: &str) -> PathBuf {
        self.add(name, None)
    }

    fn add(&self, name: &str, bytes: Option<u64>) -> PathBuf {
        self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((name.to_owned(), bytes));
        self.staged().join(name)
    }

    /// Opens a file called `name`.
    pub(crate) fn create(&self, name: &str) -> Result<Draft, ExportError> {
        let path = self.directory.join(name);
        let file = File::create_new(self.stage(name)).map_err(ExportError::create(&path))?;
        Ok(Draft { path, file: BufWriter::with_capacity(1 << 16, file) })
    }

    /// Writes a whole file called `name`.
    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ExportError> {
        let path = || self.directory.join(name);
        let place = self.add(name, Some(bytes.len() as u64));
        let mut file = File::create_new(place).map_err(|error| ExportError::create(&path())(error))?;
        file.write_all(bytes).map_err(|error| ExportError::write(&path())(error))
    }

    /// The least that it takes to create and name so many files, whatever is in them: measured with a few empty ones. None
    /// if it is too little to speak of.
    pub(crate) fn file_system_time(&self, files: usize) -> Result<Option<Duration>, ExportError> {
        if files < WORTH_MEASURING {
            return Ok(None);
        }
        let place = |name: &str, number: u32| self.stage.path().join(format!(".{name}{number}"));
        // Whatever else the machine does makes a batch slower, never quicker.
        let mut batch = Duration::MAX;
        for first in (0..SAMPLE).step_by(BATCH as usize) {
            let start = Instant::now();
            for number in first..first + BATCH {
                let path = place("empty", number);
                File::create_new(&path).map_err(ExportError::create(&path))?;
                if !self.fresh {
                    fs::rename(&path, place("named", number)).map_err(ExportError::create(&path))?;
                }
            }
            batch = batch.min(start.elapsed());
        }
        let last = if self.fresh { "empty" } else { "named" };
        for number in 0..SAMPLE {
            let path = place(last, number);
            fs::remove_file(&path).map_err(ExportError::create(&path))?;
        }
        Ok(Some(batch.mul_f64(files as f64 / f64::from(BATCH))))
    }

    /// A file for what is put together on the side; it goes away with the stage.
    pub(crate) fn scratch(&self, name: &str) -> Result<File, ExportError> {
        let path = self.stage.path().join(format!(".{name}"));
        let file = File::options().read(true).write(true).create_new(true).open(&path);
        file.map_err(ExportError::create(&path))
    }

    /// Gives every file its name and counts them into `report`.
    pub(crate) fn publish(self, report: &mut Report) -> Result<(), ExportError> {
        let names = std::mem::take(&mut *self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        let staged = self.staged();
        let size = |name: &str| fs::metadata(staged.join(name)).map_or(0, |file| file.len());
        let bytes: u64 = names.iter().map(|(name, bytes)| bytes.unwrap_or_else(|| size(name))).sum();
        // Should another process have put something there meanwhile, the files go beside it.
        if !self.fresh || self.stage.publish(FRESH, &self.directory).is_err() {
            self.publish_each(&names)?;
        }
        report.files += names.len() as u64;
        report.bytes += bytes;
        report.directory = self.directory;
        self._made.keep();
        Ok(())
    }

    fn publish_each(&self, names: &[(String, Option<u64>)]) -> Result<(), ExportError> {
        argus_files::make_directory(&self.directory).map_err(ExportError::create(&self.directory))?;
        let mut fresh: Vec<PathBuf> = Vec::new();
        for (name, _) in names {
            let path = self.directory.join(name);
            let new = !taken(&path);
            if !new && !self.force {
                // Another process came first while this one was writing.
                fresh.iter().for_each(|path| drop(fs::remove_file(path)));
                return Err(ExportError::Exists { path });
            }
            let staged = if self.fresh { format!("{FRESH}/{name}") } else { name.clone() };
            if let Err(error) = self.stage.publish(&staged, &path) {
                fresh.iter().for_each(|path| drop(fs::remove_file(path)));
                return Err(ExportError::write(&path)(error));
            }
            if new {
                fresh.push(path);
            }
        }
        Ok(())
    }
}

/// A file being written, under the name that it will have in messages.
pub(crate) struct Draft {
    path: PathBuf,
    pub(crate) file: BufWriter<File>,
}

impl Draft {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes through `write` and to the end.
    pub(crate) fn fill(
        mut self,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), ExportError> {
        let written = write(&mut self.file);
        let flushed = written.and_then(|()| self.file.into_inner().map_err(io::IntoInnerError::into_error));
        flushed.map(drop).map_err(ExportError::write(&self.path))
    }
}

/// Whether there is anything under this name, a broken link included.
pub(crate) fn taken(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// Refuses the directory in which the dump's own files lie.
pub(crate) fn refuse_dump(dump: &Dump, out: &Path) -> Result<(), ExportError> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    match (real(out), real(dump.directory())) {
        (Some(out), Some(own)) if out == own => Err(ExportError::InsideDump { path: out }),
        _ => Ok(()),
    }
}

/// Directories that this export created; removed again unless they are kept.
pub(crate) struct MadeDirectories {
    paths: Mutex<Vec<PathBuf>>,
}

impl MadeDirectories {
    pub(crate) fn create(path: &Path) -> Result<MadeDirectories, ExportError> {
        let mut missing: Vec<PathBuf> = Vec::new();
        let mut at = Some(path);
        while let Some(ancestor) = at.filter(|ancestor| !ancestor.as_os_str().is_empty() && !taken(ancestor))
        {
            missing.push(ancestor.to_path_buf());
            at = ancestor.parent();
        }
        argus_files::make_directory(path).map_err(ExportError::create(path))?;
        Ok(MadeDirectories { paths: Mutex::new(missing) })
    }

    pub(crate) fn keep(&self) {
        self.paths.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).clear();
    }
}

impl Drop for MadeDirectories {
    fn drop(&mut self) {
        // Innermost first; one that another process has put something into stays.
        let paths = std::mem::take(&mut *self.paths.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
        paths.iter().for_each(|path| drop(fs::remove_dir(path)));
    }
}

/// Two lists of remarks in a report.
pub(crate) fn finish(
    output: Output,
    records: usize,
    without_payload: Vec<Group>,
    remarks: Vec<Group>,
) -> Result<Report, ExportError> {
    let mut report = Report { records: records as u64, without_payload, remarks, ..Report::default() };
    output.publish(&mut report)?;
    Ok(report)
}
