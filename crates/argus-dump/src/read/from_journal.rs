//! A journal as a table of records.

use std::borrow::Cow;
use std::path::Path;
use std::sync::OnceLock;

use argus_abi::args::KernelAbi;
use argus_abi::capture::{argument_flags, skip_reason};
use argus_abi::{ArgDirection, CoreType, DType, Kind, MAX_DIMS, Role, Stage, TaskId, TaskState};
use argus_facts::{FuncIds, Graph, KernelInfo, TaskInfo, kernel_info};
use rayon::prelude::*;
use zerocopy::FromZeros;

use super::dump::{Ending, Losses, Skip};
use super::error::OpenError;
use super::record::{Record, Scalar};
use crate::journal::{
    ArgumentRecord, Entry, Journal, KernelRecord, SkipRecord, Tail, TaskRecord, marks, status,
};
use crate::stats::Statistics;

/// Entries that one thread looks through at a time.
const STEP: usize = 16 << 10;
/// Steps whose findings are held before they are joined.
const STEPS_HELD: usize = 64;
/// [`Table::task_of`] for a record whose task is not described.
const NO_TASK: u32 = u32::MAX;

/// The arguments of a journal in the manifest's order; each is decoded when it is asked for.
pub(crate) struct Table {
    journal: Journal,
    /// Entry of each record.
    order: Vec<u32>,
    /// For each record the entry that describes its task.
    task_of: Vec<u32>,
    /// Sorted by number.
    kernels: Vec<KernelInfo>,
    graph: OnceLock<Graph>,
}

/// What a journal tells beside its records.
pub(super) struct JournalEnd {
    pub(super) ending: Ending,
    pub(super) losses: Losses,
}

/// What is found in one step of entries.
#[derive(Default)]
struct Found {
    /// Task, then stage, argument and role, then entry.
    arguments: Vec<(u64, u32, u32)>,
    tasks: Vec<(u64, u64, u32)>,
    kernels: Vec<KernelInfo>,
    losses: Losses,
    ended: Option<Ending>,
}

impl Table {
    pub(super) fn new(path: &Path, journal: Journal) -> Result<(Table, JournalEnd), OpenError> {
        if u32::try_from(journal.len()).is_err() {
            return Err(OpenError::Entry {
                path: path.to_path_buf(),
                entry: journal.len(),
                field: "number",
                found: journal.len().to_string(),
                allowed: "less than 2^32 entries",
            });
        }
        let mut all = Found::default();
        for held in (0..journal.len().div_ceil(STEP)).collect::<Vec<_>>().chunks(STEPS_HELD) {
            let steps: Vec<Found> = held
                .par_iter()
                .map(|step| find(path, &journal, step * STEP..journal.len().min((step + 1) * STEP)))
                .collect::<Result<_, _>>()?;
            for found in steps {
                all.arguments.extend(found.arguments);
                all.tasks.extend(found.tasks);
                all.kernels.extend(found.kernels);
                all.losses.add(found.losses);
                all.ended = all.ended.or(found.ended);
            }
        }
        if !all.arguments.is_sorted() {
            all.arguments.par_sort_unstable();
        }
        all.tasks.sort_unstable();
        all.kernels.sort_by_key(|kernel| kernel.func_id);
        let told = JournalEnd {
            ending: all.ended.unwrap_or_else(|| unfinished(journal.tail())),
            losses: all.losses,
        };
        let table = Table {
            task_of: describe(&all.arguments, &all.tasks),
            order: all.arguments.iter().map(|argument| argument.2).collect(),
            kernels: all.kernels,
            graph: OnceLock::new(),
            journal,
        };
        Ok((table, told))
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The entry as it was written.
    pub(crate) fn raw(&self, index: usize) -> ArgumentRecord {
        match self.journal.get(self.order[index] as usize) {
            Some(Entry::Argument(record)) => record,
            // The file was changed since it was opened.
            _ => ArgumentRecord::new_zeroed(),
        }
    }

    pub(crate) fn record(&self, index: usize) -> Record {
        let mut record = record_of(index, &self.raw(index));
        if let Some(Entry::Task(entry)) = self.journal.get(self.task_of[index] as usize) {
            record.func_ids = entry.task.func_ids.into_iter().collect();
        }
        record
    }

    pub(super) fn kernel_name(&self, func_id: i32) -> Option<&str> {
        kernel_info::find(&self.kernels, func_id).map(|kernel| kernel.name.as_str())
    }

    pub(crate) fn graph(&self) -> &Graph {
        self.graph.get_or_init(|| self.read_graph())
    }

    /// The graph as it is kept, or put together and not kept.
    pub(crate) fn passing_graph(&self) -> Cow<'_, Graph> {
        self.graph.get().map_or_else(|| Cow::Owned(self.read_graph()), Cow::Borrowed)
    }

    fn read_graph(&self) -> Graph {
        let (mut tasks, mut edges) = (Vec::new(), Vec::new());
        for entry in self.journal.entries() {
            match entry {
                Entry::Task(record) => tasks.extend(TaskInfo::from_fields(&record.task)),
                // What has another reason was refused when the journal was opened.
                Entry::Edges(record) => edges.extend(record.edges().into_iter().flatten()),
                _ => {}
            }
        }
        Graph::new(self.kernels.clone(), tasks, edges)
    }
}

/// Looks through some entries and refuses those that cannot be represented.
fn find(path: &Path, journal: &Journal, entries: std::ops::Range<usize>) -> Result<Found, OpenError> {
    let mut found = Found::default();
    for number in entries {
        let refuse = |field, value: u64, allowed| OpenError::Entry {
            path: path.to_path_buf(),
            entry: number,
            field,
            found: value.to_string(),
            allowed,
        };
        match journal.get(number) {
            Some(Entry::Argument(record)) => {
                if usize::from(record.head.ndims) > MAX_DIMS {
                    return Err(refuse("ndims", record.head.ndims.into(), "0 to 5"));
                }
                if Stage::from_raw(record.head.stage).is_none() {
                    return Err(refuse("stage", record.head.stage.into(), "0 or 1"));
                }
                if Role::from_raw(record.head.role).is_none() {
                    return Err(refuse("role", record.head.role.into(), "0 to 2"));
                }
                if Kind::from_raw(record.head.kind).is_none() {
                    return Err(refuse("kind", record.head.kind.into(), "0 or 1"));
                }
                let key = record.head.place();
                found.arguments.push((record.head.task_id, key, number as u32));
            }
            Some(Entry::Task(TaskRecord { task, .. })) => {
                if TaskState::from_raw(task.state).is_none() {
                    return Err(refuse("state", task.state.into(), "0 to 2"));
                }
                found.tasks.push((task.task_id, task.finished_ns, number as u32));
            }
            Some(Entry::Edges(record)) => {
                if let Err(reason) = record.edges() {
                    return Err(refuse("reason", reason.into(), "0 to 3"));
                }
            }
            Some(Entry::Kernel(record)) => found.kernels.push(
                kernel_of(&record).map_err(|(field, value, allowed)| refuse(field, value.into(), allowed))?,
            ),
            Some(Entry::Skip(record)) => found
                .losses
                .skipped
                .push(skip_of(&record).ok_or_else(|| refuse("stage", record.stage.into(), "0 or 1"))?),
            Some(Entry::Loss(record)) => {
                found.losses.dropped_records =
                    found.losses.dropped_records.saturating_add(record.lost_entries);
                found.losses.dropped_bytes = found.losses.dropped_bytes.saturating_add(record.lost_bytes);
            }
            Some(Entry::End(record)) => {
                let error = record.error.get(..usize::from(record.error_len)).unwrap_or(&record.error);
                let error = String::from_utf8_lossy(error).into_owned();
                found.ended = Some(match record.status {
                    status::COMPLETE => Ending::Complete,
                    status::UNFINISHED => Ending::Unfinished { why: error },
                    status::UNKNOWN => Ending::Unknown,
                    _ => Ending::Failed { error },
                });
            }
            None => {}
        }
    }
    Ok(found)
}

/// For each argument the last entry about its task, by time; both lists are sorted.
fn describe(arguments: &[(u64, u32, u32)], tasks: &[(u64, u64, u32)]) -> Vec<u32> {
    let mut next = 0;
    let mut last = None;
    let mut entries = Vec::with_capacity(arguments.len());
    for &(task_id, ..) in arguments {
        while next < tasks.len() && tasks[next].0 <= task_id {
            last = Some(tasks[next]);
            next += 1;
        }
        entries.push(last.filter(|task| task.0 == task_id).map_or(NO_TASK, |task| task.2));
    }
    entries
}

fn unfinished(tail: Tail) -> Ending {
    let why = match tail {
        Tail::Ended => return Ending::Complete,
        Tail::Open => "the journal has no end: the run is still active, or was killed".to_owned(),
        Tail::Torn { at } => {
            format!("the journal stops inside an entry at byte {at}: the run is still active, or was killed")
        }
        Tail::Damaged { at, why } => {
            format!("the journal is damaged at byte {at} ({why}); nothing behind that can be read")
        }
    };
    Ending::Unfinished { why }
}

/// Everything an argument's entry says; what the task's entry says is left out.
pub(super) fn record_of(index: usize, record: &ArgumentRecord) -> Record {
    let head = &record.head;
    let kind = Kind::from_raw(head.kind).unwrap_or(Kind::Tensor);
    let scalar = kind == Kind::Scalar;
    let ndims = if scalar { 0 } else { head.ndims() };
    let dtype = DType::from_raw(head.dtype);
    let wide = |values: [u32; MAX_DIMS]| {
        let mut wide = [0; MAX_DIMS];
        for (wide, &value) in wide.iter_mut().zip(&values[..ndims]) {
            *wide = u64::from(value);
        }
        wide
    };
    let mut decoded = Record {
        index,
        task_id: TaskId::from_raw(head.task_id),
        func_ids: FuncIds::default(),
        subtask: None,
        arg_index: head.arg_index.into(),
        ambiguous_index: false,
        stage: Stage::from_raw(head.stage).unwrap_or(Stage::BeforeDispatch),
        role: Role::from_raw(head.role).unwrap_or(Role::Input),
        kind,
        dtype,
        ndims: ndims as u8,
        shape: wide(head.shapes),
        strides: wide(head.strides),
        start_offset: head.start_offset,
        contiguous: scalar || head.has(argument_flags::CONTIGUOUS),
        scalar: (scalar && !head.has(argument_flags::NO_VALUE)).then_some(Scalar::Bits(head.scalar_bits)),
        bin_offset: head.bin_offset,
        bin_size: head.bin_size,
        logical_bytes: None,
        truncated: false,
        overwritten: false,
        partial: head.has(argument_flags::PARTIAL),
        created: !scalar && head.has(argument_flags::CREATED),
        shared: head.has(marks::SHARED),
        // A dump of another format version has none to copy; nothing ever lies at 0.
        address: (!scalar && head.address != 0).then_some(head.address),
        time_ns: Some(head.time_ns).filter(|&time| time != u64::MAX),
        checksum: head.has(marks::CHECKSUM).then(|| u128::from_be_bytes(head.checksum)),
        statistics: Statistics::from_record(record),
    };
    decoded.logical_bytes = decoded.view_bytes();
    decoded
}

fn kernel_of(record: &KernelRecord) -> Result<KernelInfo, (&'static str, u8, &'static str)> {
    let signature = (record.signature().iter())
        .map(|&direction| {
            ArgDirection::from_raw(direction).ok_or(("signature", direction, "directions from 0 to 3"))
        })
        .collect::<Result<_, _>>()?;
    Ok(KernelInfo {
        func_id: record.func_id,
        name: record.name().to_owned(),
        core_type: CoreType::from_raw(record.core_type).ok_or(("core_type", record.core_type, "0 or 1"))?,
        signature,
        abi: KernelAbi::from_raw(record.abi).ok_or(("abi", record.abi, "0 or 1"))?,
    })
}

fn skip_of(record: &SkipRecord) -> Option<Skip> {
    Some(Skip {
        task_id: TaskId::from_raw(record.task_id),
        func_id: Some(record.func_id).filter(|&func_id| func_id >= 0),
        arg_index: Some(record.arg_index).filter(|&index| index != u16::MAX).map(u32::from),
        stage: Stage::from_raw(record.stage)?,
        reason: skip_reason::text(record.reason).into(),
    })
}
