//! The dump itself: what it holds, how it ended, what it lost.
//!
//! | file | subject |
//! |---|---|
//! | `assemble` | a dump put together from its files, whatever is wrong with some of them |

mod assemble;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argus_abi::{Kind, Stage, TaskId};
use argus_facts::{Graph, RunTimes, kernel_info::joined_names};

use super::checked::Checksums;
use super::error::{OpenError, PayloadError, TimesError};
use super::from_journal::Table;
use super::from_manifest::Listed;
use super::locate::{DumpFiles, Holds, locate, newest};
use super::record::Record;
use super::run_facts::RunFacts;
use crate::map::Bytes;
use crate::timeline_file;
use crate::{GRAPH_FILE, RUN_FILE, TIMELINE_FILE};

/// Bytes of the payload file after which pages are let go of.
const LET_GO_EVERY: u64 = 64 << 20;

/// Who wrote a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FormatVersion {
    /// This project.
    Argus,
    /// The reference at three points of its history.
    April,
    June,
    August,
}

impl FormatVersion {
    pub const fn name(self) -> &'static str {
        match self {
            FormatVersion::Argus => "argus",
            FormatVersion::April => "april",
            FormatVersion::June => "june",
            FormatVersion::August => "august",
        }
    }
}

impl fmt::Display for FormatVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How the run ended that a dump tells about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    Complete,
    Failed {
        error: String,
    },
    /// It is still active, was killed, or its journal is damaged: what is there can be read.
    Unfinished {
        why: String,
    },
    /// The reference's dumps do not say.
    Unknown,
}

/// Something that should have been captured and was not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skip {
    pub task_id: TaskId,
    pub func_id: Option<i32>,
    /// `None`: the whole task.
    pub arg_index: Option<u32>,
    pub stage: Stage,
    pub reason: Cow<'static, str>,
}

/// What the dump itself says is missing from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Losses {
    /// Records that never came.
    pub dropped_records: u64,
    /// Payload bytes that never came.
    pub dropped_bytes: u64,
    /// Records whose payload was overwritten on the device.
    pub overwritten: u64,
    /// Records with a part of their payload.
    pub truncated: u64,
    pub skipped: Vec<Skip>,
}

impl Losses {
    pub fn is_empty(&self) -> bool {
        *self == Losses::default()
    }

    pub(super) fn add(&mut self, other: Losses) {
        self.dropped_records = self.dropped_records.saturating_add(other.dropped_records);
        self.dropped_bytes = self.dropped_bytes.saturating_add(other.dropped_bytes);
        self.overwritten = self.overwritten.saturating_add(other.overwritten);
        self.truncated = self.truncated.saturating_add(other.truncated);
        self.skipped.extend(other.skipped);
    }
}

/// Where payloads come from.
enum Payloads {
    Here {
        path: PathBuf,
        bytes: Bytes,
    },
    Missing {
        path: PathBuf,
        error: Arc<io::Error>,
    },
    /// The dump says that it has none.
    None,
}

/// Where records come from.
pub(crate) enum Records {
    Journal(Box<Table>),
    /// Captures of many ranks may share one list.
    Manifest {
        listed: Arc<Listed>,
        graph: Option<Box<Graph>>,
    },
}

/// A dump that was opened.
///
/// Files are mapped as long as they were when it was opened; a run that is still active may append to them, nothing may
/// shorten them.
pub struct Dump {
    directory: PathBuf,
    version: FormatVersion,
    records: Records,
    payloads: Payloads,
    checksums: Checksums,
    ending: Ending,
    losses: Losses,
    run: Option<RunFacts>,
    /// Whether `run` is from run.json and not from a manifest.
    has_run_file: bool,
    notes: Vec<String>,
    /// Files that could not be read and were done without.
    damage: Vec<String>,
    supplied: Supplied,
    /// The manifest that the records come from.
    manifest: Option<PathBuf>,
}

/// What files beside a dump tell of it. It counts where the dump says nothing itself.
#[derive(Clone, Debug, Default)]
pub struct Supplied {
    pub graph: Option<Graph>,
    /// Kernels by number.
    pub names: BTreeMap<i32, String>,
    /// Tasks that had not ended when the run did, as its log says.
    pub running: BTreeSet<TaskId>,
}

impl Dump {
    /// Opens the dump that `path` means: a dump's directory, the directory of a run with one dump, or a file of
    /// a dump.
    pub fn open(path: &Path) -> Result<Dump, OpenError> {
        let place = locate(path)?;
        let directory = place.directory.clone();
        Dump::assemble(&place, &|name| match name.ends_with(".bin") {
            true => Bytes::open(&directory.join(name)),
            false => Bytes::open_dense(&directory.join(name)),
        })
    }

    /// The same, for one of many captures of one program: where its manifest is that of `like` byte for byte, the records are
    /// taken from there and not read again.
    pub fn open_like(path: &Path, like: &Dump) -> Result<Dump, OpenError> {
        let place = locate(path)?;
        let directory = place.directory.clone();
        let fetch = |name: &str| match name.ends_with(".bin") {
            true => Bytes::open(&directory.join(name)),
            false => Bytes::open_dense(&directory.join(name)),
        };
        match Dump::with_list_of(like, &place, &fetch) {
            Some(dump) => Ok(dump),
            None => Dump::assemble(&place, &fetch),
        }
    }

    /// The newest dump in a directory of runs that holds something of a kind.
    pub fn newest(outputs: &Path, what: Holds) -> Result<PathBuf, OpenError> {
        newest(outputs, what)
    }

    /// When what ran where. `None` if the dump does not tell; the error says what is wrong with what it tells.
    pub fn times(&self) -> Result<Option<RunTimes>, TimesError> {
        let path = self.directory.join(TIMELINE_FILE);
        match Bytes::open_dense(&path) {
            Ok(text) => timeline_file::parse(text.as_ref())
                .map(Some)
                .map_err(|source| TimesError::Content { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(TimesError::Io { path, source }),
        }
    }

    /// A dump whose files, by name, are in memory; for tests that make up files.
    #[doc(hidden)]
    pub fn from_bytes(files: &[(&str, &[u8])]) -> Result<Dump, OpenError> {
        let named = |ending: &str| {
            let mut names = files.iter().map(|(name, _)| *name);
            names.find(|name| name.ends_with(ending) && ![RUN_FILE, GRAPH_FILE, TIMELINE_FILE].contains(name))
        };
        let place = DumpFiles {
            directory: PathBuf::from("memory"),
            journal: named(".journal").map(str::to_owned),
            manifest: named(".json").map(str::to_owned),
        };
        Dump::assemble(&place, &|wanted| {
            let found = files.iter().find(|(name, _)| *name == wanted);
            let (_, bytes) = found.ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
            Ok(Bytes::Owned(bytes.to_vec()))
        })
    }

    /// Where the dump's files lie.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn format_version(&self) -> FormatVersion {
        self.version
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        match &self.records {
            Records::Journal(table) => table.len(),
            Records::Manifest { listed, .. } => listed.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Record `index`, decoded now.
    ///
    /// # Panics
    /// If `index` is not less than [`Dump::len`].
    pub fn record(&self, index: usize) -> Record {
        match &self.records {
            Records::Journal(table) => table.record(index),
            Records::Manifest { listed, .. } => {
                let mut record = listed.record(index);
                // June has no kernels in its dumps.
                if record.func_ids.is_empty()
                    && let Some(graph) = &self.supplied.graph
                    && let Some(task) = graph.task(record.task_id)
                {
                    record.func_ids = task.func_ids;
                }
                record.partial |=
                    record.stage == Stage::AfterCompletion && self.supplied.running.contains(&record.task_id);
                record
            }
        }
    }

    /// All records, by task, stage, argument and role; those of a manifest in its own order, which is the same
    /// unless it was changed.
    pub fn records(&self) -> impl ExactSizeIterator<Item = Record> + '_ {
        (0..self.len()).map(|index| self.record(index))
    }

    /// The bytes of a tensor, contiguous in logical order; of a truncated one as many as there are.
    ///
    /// Where the dump has a checksum of them, they are those that were captured: bytes that changed since are an
    /// error, not values.
    pub fn payload(&self, record: &Record) -> Result<&[u8], PayloadError> {
        let bytes = self.stored_payload(record)?;
        let (Some(expected), Payloads::Here { path, .. }) = (record.checksum, &self.payloads) else {
            return Ok(bytes);
        };
        let found = self.checksums.of(record.bin_offset, bytes);
        if found == expected || bytes.is_empty() {
            return Ok(bytes);
        }
        Err(PayloadError::Damaged {
            record: record.index,
            path: path.clone(),
            offset: record.bin_offset,
            size: record.bin_size,
            expected,
            found,
        })
    }

    /// Whether these bytes lie in the dump's payload file, as those of a record do: then they stay as long as the dump.
    pub fn holds(&self, bytes: &[u8]) -> bool {
        let Payloads::Here { bytes: file, .. } = &self.payloads else { return false };
        let (file, bytes) = (file.as_ptr_range(), bytes.as_ptr_range());
        file.start <= bytes.start && bytes.end <= file.end
    }

    /// Whether damaged payloads can be told from others: dumps of the reference have no checksums.
    pub fn has_checksums(&self) -> bool {
        self.version == FormatVersion::Argus
    }

    /// The bytes that lie where a tensor's should, whether or not they are those that were captured. For someone who looks
    /// at a part of a tensor that is too large to be hashed first, and says so.
    pub fn stored_payload(&self, record: &Record) -> Result<&[u8], PayloadError> {
        let index = record.index;
        if record.kind == Kind::Scalar {
            return Err(PayloadError::Scalar { record: index });
        }
        if record.overwritten {
            return Err(PayloadError::Overwritten { record: index });
        }
        if record.bin_size == 0 {
            return match record.logical_bytes {
                Some(0) => Ok(&[]),
                _ => Err(PayloadError::NotKept { record: index }),
            };
        }
        match &self.payloads {
            Payloads::None => Err(PayloadError::NotKept { record: index }),
            Payloads::Missing { path, error } => {
                Err(PayloadError::Missing { record: index, path: path.clone(), source: Arc::clone(error) })
            }
            Payloads::Here { path, bytes } => {
                let (offset, size) = (record.bin_offset, record.bin_size);
                // Every way through the payloads crosses these places, so none of them keeps all pages in memory.
                if offset / LET_GO_EVERY != offset.saturating_add(size) / LET_GO_EVERY {
                    bytes.let_go_of_all();
                }
                slice(bytes, offset, size).ok_or_else(|| PayloadError::PastEnd {
                    record: index,
                    path: path.clone(),
                    offset,
                    size,
                    len: bytes.len() as u64,
                })
            }
        }
    }

    /// The task's different kernels, `QK` or `A+B`; by number where they have no names, empty if unknown.
    pub fn kernel_names(&self, record: &Record) -> String {
        joined_names(&record.func_ids, |func_id| self.kernel_name(func_id))
    }

    /// The name of a kernel, if it has one.
    pub fn kernel_name(&self, func_id: i32) -> Option<&str> {
        match &self.records {
            Records::Journal(table) => table.kernel_name(func_id),
            Records::Manifest { listed, graph } => {
                let kernel = graph.as_ref().and_then(|graph| graph.kernel(func_id));
                let own = kernel.map(|kernel| kernel.name.as_str()).or_else(|| listed.kernel_name(func_id));
                own.or_else(|| self.supplied.names.get(&func_id).map(String::as_str))
            }
        }
    }

    /// The graph: the dump's own, put together when it is asked for first, else the one that was supplied.
    pub fn graph(&self) -> Option<&Graph> {
        self.own_graph().or(self.supplied.graph.as_ref())
    }

    /// The same for a caller that looks at it once: a graph that was not asked for before is not kept, which saves the
    /// memory of large ones.
    pub fn passing_graph(&self) -> Option<Cow<'_, Graph>> {
        let own = match &self.records {
            Records::Journal(table) => Some(table.passing_graph()),
            Records::Manifest { graph, .. } => graph.as_deref().map(Cow::Borrowed),
        };
        own.or_else(|| self.supplied.graph.as_ref().map(Cow::Borrowed))
    }

    /// Whether the dump itself has a graph.
    pub fn has_own_graph(&self) -> bool {
        match &self.records {
            Records::Journal(_) => true,
            Records::Manifest { graph, .. } => graph.is_some(),
        }
    }

    /// The graph that the dump itself has; the reference's dumps have none.
    pub fn own_graph(&self) -> Option<&Graph> {
        match &self.records {
            Records::Journal(table) => Some(table.graph()),
            Records::Manifest { graph, .. } => graph.as_deref(),
        }
    }

    /// Gives the dump what files beside it tell.
    pub fn supply(&mut self, supplied: Supplied) {
        self.supplied = supplied;
    }

    /// Adds what a user should be told of files beside the dump.
    pub fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    pub fn ending(&self) -> &Ending {
        &self.ending
    }

    pub fn losses(&self) -> &Losses {
        &self.losses
    }

    pub fn run(&self) -> Option<&RunFacts> {
        self.run.as_ref()
    }

    /// What run.json says; not what a manifest says in its place.
    pub(crate) fn run_file(&self) -> Option<&RunFacts> {
        self.run.as_ref().filter(|_| self.has_run_file)
    }

    /// Where the records come from.
    pub(crate) fn source(&self) -> &Records {
        &self.records
    }

    /// Files that could not be read and were done without.
    pub(crate) fn damage(&self) -> &[String] {
        &self.damage
    }

    /// Bytes of the payload file, if there is one.
    pub(crate) fn payload_file_len(&self) -> Option<u64> {
        match &self.payloads {
            Payloads::Here { bytes, .. } => Some(bytes.len() as u64),
            Payloads::Missing { .. } | Payloads::None => None,
        }
    }

    /// Another file of the dump.
    pub(crate) fn beside(&self, name: &str) -> Result<(PathBuf, Bytes), OpenError> {
        let path = self.directory.join(name);
        match Bytes::open_dense(&path) {
            Ok(bytes) => Ok((path, bytes)),
            Err(source) => Err(OpenError::io(&path, source)),
        }
    }

    /// What a user should be told before anything else.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }
}

fn slice(bytes: &[u8], offset: u64, size: u64) -> Option<&[u8]> {
    let start = usize::try_from(offset).ok()?;
    bytes.get(start..start.checked_add(usize::try_from(size).ok()?)?)
}
