//! To our own layout, through the writer that a run uses.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use argus_abi::capture::{
    ArgumentEntry, EDGES_PER_ENTRY, ENTRY_MAGIC, ENTRY_VERSION, EdgesEntry, EntryHeader, SkipEntry,
    argument_flags, skip_reason, what,
};
use argus_abi::{Kind, TaskId};
use argus_dump::read::{Dump, Ending, FormatVersion, Record, Skip};
use argus_dump::{DumpInfo, DumpOptions, DumpWriter, RunEnd, RunStatus, Sink, StatsMode, new_run_id};
use argus_facts::{Ledger, RingLedger, TaskInfo, with_causes};

use super::Work;
use crate::content::{NoArray, scalar_bits};
use crate::error::ExportError;

/// A number that no element type has.
const NO_DTYPE: u8 = u8::MAX;
/// When a record was captured whose dump does not tell.
const UNKNOWN_TIME: u64 = u64::MAX;
/// Payloads are handed over in pieces, so that the writer never holds much of one.
const PIECE: usize = 4 << 20;

pub(super) fn write(work: &mut Work<'_>, directory: &Path) -> Result<(), ExportError> {
    let dump = work.dump;
    let statistics = dump.records().any(|record| record.statistics.is_some() && record.has_payload());
    let options = DumpOptions {
        stats: if statistics { StatsMode::Beside } else { StatsMode::Off },
        ..DumpOptions::default()
    };
    let mut writer = DumpWriter::create(directory, options, info(dump))?;
    for record in dump.records() {
        argument(work, &mut writer, &record)?;
        work.progress.add(&record);
    }
    graph(work, &mut writer)?;
    for skip in &dump.losses().skipped {
        writer.skip(&skip_entry(skip))?;
    }
    let (status, error) = match dump.ending() {
        Ending::Complete => (RunStatus::Complete, None),
        Ending::Failed { error } => (RunStatus::Failed, Some(error.clone())),
        Ending::Unfinished { why } => (RunStatus::Unfinished, Some(why.clone())),
        Ending::Unknown => (RunStatus::Unknown, None),
    };
    let losses = dump.losses();
    let (lost_entries, lost_bytes) = (losses.dropped_records, losses.dropped_bytes);
    // Whose loss it was is not known any more: it is on one account.
    let ring = RingLedger { lost_entries, lost_bytes, ..RingLedger::default() };
    let rings = if ring == RingLedger::default() { Vec::new() } else { vec![ring] };
    let ledger = Ledger { rings };
    let times = dump.times().unwrap_or_else(|wrong| {
        work.remarks.general(format!("the times of the run are left out: {}", with_causes(&wrong)));
        None
    });
    let times = times.unwrap_or_default();
    writer.finish(RunEnd { status, error, ledger, times: Arc::new(times), ..RunEnd::default() })?;
    Ok(())
}

fn info(dump: &Dump) -> DumpInfo {
    let run = dump.run().cloned().unwrap_or_default();
    let mut config = run.configuration;
    config.insert("converted_from".to_owned(), dump.format_version().name().into());
    let kernels = dump.graph().map_or(&[][..], |graph| &graph.kernels);
    DumpInfo {
        scene: run.scene,
        case: run.case,
        platform: run.platform,
        runtime: run.runtime,
        level: run.level,
        run_id: u128::from_str_radix(&run.run_id, 16).unwrap_or_else(|_| new_run_id()),
        kernels: kernels.to_vec(),
        config,
        versions: run.versions,
        orchestration_args: Vec::new(),
        // Sources that cannot be read are the reader's to complain about, not the copy's to repair.
        origin: argus_dump::origin_file::read(dump.directory()).ok().flatten(),
    }
}

fn header(what: u8) -> EntryHeader {
    EntryHeader { magic: ENTRY_MAGIC, version: ENTRY_VERSION, what, ring: 0, sequence: 0 }
}

fn argument(work: &mut Work<'_>, writer: &mut DumpWriter, record: &Record) -> Result<(), ExportError> {
    let index = record.index;
    let Some(mut entry) = entry(record) else {
        work.without.add(index, "left out as a whole: a number of its view is too large for a journal");
        return Ok(());
    };
    let mut payload: &[u8] = &[];
    match record.kind {
        Kind::Scalar => match scalar_bits(record) {
            Some((bits, remark)) => {
                entry.scalar_bits = bits;
                work.remarks.take(index, remark);
            }
            // As for a tensor: its description is here, its value is not.
            None => {
                entry.flags |= argument_flags::NO_VALUE;
                work.without.without(index, &NoArray::NoValue);
            }
        },
        Kind::Tensor => match work.dump.payload(record) {
            Ok(bytes) => payload = bytes,
            Err(error) => {
                entry.flags |= argument_flags::NO_PAYLOAD;
                work.without.without(index, &error.into());
            }
        },
    }
    if record.truncated && !payload.is_empty() {
        work.remarks
            .add(index, "truncated: the copy has the bytes that are there and no mark, its size tells");
    }
    if record.ambiguous_index {
        work.remarks.add(index, "its argument may be another one: the copy has no mark for that");
    }
    if record.subtask.is_some_and(|member| member > 0) {
        work.remarks.add(index, "it belongs to a member of its task: the copy does not tell members apart");
    }
    if record.statistics.is_some() && payload.is_empty() {
        work.remarks.add(index, "its statistics are left out with its payload");
    }
    entry.payload_bytes = payload.len() as u64;
    writer.begin_argument(&entry)?;
    for piece in payload.chunks(PIECE) {
        writer.payload(piece)?;
    }
    writer.end_argument()?;
    Ok(())
}

/// The record as a device would have written it; `None` if a number does not fit.
fn entry(record: &Record) -> Option<ArgumentEntry> {
    let mut entry = ArgumentEntry {
        header: header(what::ARGUMENT),
        task_id: record.task_id.raw(),
        time_ns: record.time_ns.unwrap_or(UNKNOWN_TIME),
        arg_index: u16::try_from(record.arg_index).ok()?,
        stage: record.stage as u8,
        role: record.role as u8,
        kind: record.kind as u8,
        dtype: record.dtype.map_or(NO_DTYPE, |dtype| dtype as u8),
        ndims: record.ndims,
        flags: 0,
        address: record.address.unwrap_or(0),
        start_offset: record.start_offset,
        payload_bytes: 0,
        scalar_bits: 0,
        shapes: [0; argus_abi::MAX_DIMS],
        strides: [0; argus_abi::MAX_DIMS],
        reserved: [0; 16],
    };
    for (place, &extent) in entry.shapes.iter_mut().zip(record.shape()) {
        *place = u32::try_from(extent).ok()?;
    }
    for (place, &stride) in entry.strides.iter_mut().zip(record.strides()) {
        *place = u32::try_from(stride).ok()?;
    }
    for (set, flag) in [
        (record.contiguous, argument_flags::CONTIGUOUS),
        (record.partial, argument_flags::PARTIAL),
        (record.created, argument_flags::CREATED),
    ] {
        entry.flags |= if set { flag } else { 0 };
    }
    Some(entry)
}

/// Tasks and edges of the dump's graph; of a dump without one, the tasks as far as the records tell.
fn graph(work: &mut Work<'_>, writer: &mut DumpWriter) -> Result<(), ExportError> {
    let Some(graph) = work.dump.graph() else {
        for task in tasks(work.dump) {
            writer.task(&task.entry(header(what::TASK)))?;
        }
        work.remarks.general("the dump has no graph: the copy has its tasks and no edges, names or times");
        return Ok(());
    };
    for task in &graph.tasks {
        writer.task(&task.entry(header(what::TASK)))?;
    }
    for of_consumer in graph.edges.chunk_by(|left, right| left.to == right.to) {
        for edges in of_consumer.chunks(EDGES_PER_ENTRY) {
            let mut entry = EdgesEntry {
                header: header(what::EDGES),
                consumer: edges[0].to.raw(),
                count: edges.len() as u8,
                reserved: [0; 7],
                reasons: [0; 16],
                producers: [0; EDGES_PER_ENTRY],
            };
            for (place, edge) in edges.iter().enumerate() {
                entry.producers[place] = edge.from.raw();
                entry.reasons[place] = edge.reason as u8;
            }
            writer.edges(&entry)?;
        }
    }
    Ok(())
}

/// A task for each id among the records. When it ran is not known, which an order of all ones says.
fn tasks(dump: &Dump) -> Vec<TaskInfo> {
    #[derive(Default)]
    struct Known {
        funcs: Option<[i32; 3]>,
        members: BTreeMap<u8, i32>,
        tensors: Vec<u32>,
        scalars: Vec<u32>,
    }
    let mut known: BTreeMap<TaskId, Known> = BTreeMap::new();
    for record in dump.records() {
        let task = known.entry(record.task_id).or_default();
        let ids = record.func_ids;
        match (dump.format_version(), record.subtask, ids.first()) {
            (FormatVersion::April, Some(member), Some(&id)) => drop(task.members.insert(member, id)),
            (_, _, Some(_)) => task.funcs = Some(ids.padded()),
            _ => {}
        }
        let list = if record.kind == Kind::Tensor { &mut task.tensors } else { &mut task.scalars };
        if !list.contains(&record.arg_index) {
            list.push(record.arg_index);
        }
    }
    let count = |list: &[u32]| u16::try_from(list.len()).unwrap_or(u16::MAX);
    let entries = known.into_iter().map(|(id, task)| {
        let mut func_ids = task.funcs.unwrap_or([-1; 3]);
        for (member, id) in task.members {
            if let Some(place) = func_ids.get_mut(usize::from(member)) {
                *place = id;
            }
        }
        TaskInfo {
            func_ids: func_ids.into_iter().collect(),
            tensors: count(&task.tensors),
            scalars: count(&task.scalars),
            ..TaskInfo::new(id)
        }
    });
    entries.collect()
}

fn skip_entry(skip: &Skip) -> SkipEntry {
    let known = (0..u8::MAX).find(|&code| skip_reason::text(code) == skip.reason);
    SkipEntry {
        header: header(what::SKIP),
        task_id: skip.task_id.raw(),
        func_id: skip.func_id.unwrap_or(-1),
        arg_index: skip.arg_index.map_or(u16::MAX, |index| u16::try_from(index).unwrap_or(u16::MAX)),
        stage: skip.stage as u8,
        reason: known.unwrap_or(u8::MAX),
        reserved: [0; 96],
    }
}
