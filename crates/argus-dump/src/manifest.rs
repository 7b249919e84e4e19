//! The manifest: the reference's keys in the reference's order and text style, then ours.

//!
//! What records have in common is put together once: the text of a view, and that of a task's kernels. All that
//! graph.json tells of a task is told there.

use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};

use argus_abi::capture::{TaskFields, argument_flags, skip_reason};
use argus_abi::{DType, Kind, MAX_DIMS, Role, Stage};
use argus_facts::{FuncIds, KernelInfo, kernel_info::joined_names};
use rustc_hash::FxHashMap;

use crate::info::{DumpInfo, DumpSummary, RunEnd};
use crate::journal::{ArgumentHead, SkipRecord, StatisticsRecord, marks};
use crate::kept::{Joined, KeptRecords};
use crate::run_file::argument as orchestration_argument;
use crate::sorted::{Sorted, last_of_each};
use crate::spool::{Failure, Spool};
use crate::stats::Statistics;
use crate::stream::Stream;
use crate::text::{
    put, put_bool, put_f64, put_float, put_hex64, put_i64, put_list, put_number, put_string, put_u64,
    put_word,
};
use crate::{DUMP_DIRECTORY, MANIFEST_FILE, PAYLOAD_FILE};
use argus_facts::number::{Number, number};

/// Records per step: one thread formats a step while another stores the one before.
const STEP: usize = 512;
/// Steps whose text is made or waits to be stored.
const UNDER_WAY: usize = 4;
/// Different texts that are kept. Most records of a run have one of a few views.
const TEXTS: usize = 4096;

/// Everything the manifest tells.
pub(crate) struct Contents<'a> {
    pub(crate) info: &'a DumpInfo,
    pub(crate) end: &'a RunEnd,
    pub(crate) summary: &'a DumpSummary,
    pub(crate) records: &'a KeptRecords,
    pub(crate) tasks: &'a Sorted<TaskFields>,
    pub(crate) skipped: &'a Sorted<SkipRecord>,
    /// Counts of records by role: input, output, in and out.
    pub(crate) roles: [u64; 3],
}

/// The text of all records, step by step.
struct Steps<'a, T: Iterator<Item = io::Result<TaskFields>>> {
    records: Joined<'a>,
    tasks: std::iter::Peekable<T>,
    texts: Texts<'a>,
    step: Step,
}

/// Some records in their order, and the tasks they belong to.
#[derive(Default)]
struct Step {
    records: Vec<ArgumentHead>,
    /// Of those records that have some.
    statistics: Vec<StatisticsRecord>,
    /// By id.
    tasks: Vec<TaskFields>,
}

impl<T: Iterator<Item = io::Result<TaskFields>>> Steps<'_, T> {
    /// Puts the text of the next records into `text`; whether there were any.
    fn next(&mut self, text: &mut Vec<u8>) -> io::Result<bool> {
        text.clear();
        let step = &mut self.step;
        step.records.clear();
        step.statistics.clear();
        step.tasks.clear();
        while step.records.len() < STEP {
            let Some(record) = self.records.next()? else { break };
            let id = record.task_id;
            let first_of_task = step.records.last().is_none_or(|last| last.task_id != id);
            let with_statistics = record.has(marks::STATISTICS);
            step.records.push(*record);
            if with_statistics {
                step.statistics.push(self.records.statistics()?);
            }
            if first_of_task && let Some(task) = task(&mut self.tasks, id)? {
                step.tasks.push(task);
            }
        }
        self.texts.put_records(text, step);
        Ok(!step.records.is_empty())
    }
}

/// The task with this id; ids are asked for in ascending order.
fn task(
    tasks: &mut std::iter::Peekable<impl Iterator<Item = io::Result<TaskFields>>>,
    id: u64,
) -> io::Result<Option<TaskFields>> {
    let earlier = |task: &io::Result<TaskFields>| task.as_ref().is_ok_and(|task| task.task_id < id);
    while tasks.next_if(earlier).is_some() {}
    // The next step may begin with more records of the same task.
    match tasks.peek() {
        Some(Ok(task)) => Ok(Some(*task).filter(|task| task.task_id == id)),
        Some(Err(_)) => tasks.next().transpose(),
        None => Ok(None),
    }
}

/// Tasks by id, each as it was last.
pub(crate) fn last_tasks(tasks: &Sorted<TaskFields>) -> impl Iterator<Item = io::Result<TaskFields>> + '_ {
    last_of_each(tasks.iter(), |earlier, later| earlier.task_id == later.task_id)
}

/// Writes the manifest's text.
pub(crate) fn write(contents: &Contents<'_>, stream: &mut Stream, spool: &mut Spool) -> Result<(), Failure> {
    let path = std::path::Path::new(DUMP_DIRECTORY).join(MANIFEST_FILE);
    let unsorted = |error: io::Error| Failure::early(&path, &error);
    let mut out = Vec::with_capacity(STEP * 8);
    put_head(&mut out, contents).map_err(unsorted)?;
    stream.write(spool, &out)?;
    let mut steps = Steps {
        records: contents.records.iter(),
        tasks: last_tasks(contents.tasks).peekable(),
        texts: Texts::new(&contents.info.kernels),
        step: Step::default(),
    };
    let mut first = true;
    let mut store = |text: &[u8]| {
        // The first record has no comma before it.
        let text = &text[usize::from(std::mem::take(&mut first))..];
        stream.write(spool, text)
    };
    // Another thread puts the texts together while this one stores them, if there can be another.
    std::thread::scope(|scope| {
        let (begin, begun) = channel::<Steps<'_, _>>();
        let (give, given) = channel::<io::Result<Vec<u8>>>();
        let (hand_back, empty) = channel::<Vec<u8>>();
        let thread = std::thread::Builder::new()
            .name("argus-manifest".to_owned())
            .spawn_scoped(scope, move || begun.iter().for_each(|steps| make_texts(steps, &empty, &give)));
        if thread.is_err() {
            let mut text = Vec::new();
            while steps.next(&mut text).map_err(unsorted)? {
                store(&text)?;
            }
            return Ok(());
        }
        // No text is lost without a word: if the thread is gone, the end of the scope tells why.
        _ = begin.send(steps);
        drop(begin);
        for _ in 0..UNDER_WAY {
            _ = hand_back.send(Vec::with_capacity(STEP * 500));
        }
        for text in given {
            let text = text.map_err(unsorted)?;
            store(&text)?;
            _ = hand_back.send(text);
        }
        Ok(())
    })?;
    stream.write(spool, b"\n  ]\n}\n")
}

/// Fills what is empty until there are no more records or nothing takes their text.
fn make_texts<T: Iterator<Item = io::Result<TaskFields>>>(
    mut steps: Steps<'_, T>,
    empty: &Receiver<Vec<u8>>,
    give: &Sender<io::Result<Vec<u8>>>,
) {
    for mut text in empty {
        let made = match steps.next(&mut text) {
            Ok(false) => return,
            Ok(true) => Ok(text),
            Err(error) => Err(error),
        };
        if give.send(made).is_err() {
            return;
        }
    }
}

fn put_head(out: &mut Vec<u8>, contents: &Contents<'_>) -> io::Result<()> {
    let Contents { info, end, summary, roles, .. } = *contents;
    let text = |out: &mut Vec<u8>, key: &str, value: &str| {
        put(out, "  \"");
        put(out, key);
        put(out, "\": ");
        put_string(out, value);
        put(out, ",\n");
    };
    let count = |out: &mut Vec<u8>, key: &str, value: u64| {
        put(out, "  \"");
        put(out, key);
        put(out, "\": ");
        put_u64(out, value);
        put(out, ",\n");
    };
    put(out, "{\n");
    text(out, "run_dir", DUMP_DIRECTORY);
    put(out, "  \"bin_format\": {\n    \"type\": \"logical_contiguous\",\n");
    put(out, "    \"byte_order\": \"little_endian\"\n  },\n");
    count(out, "total_tensors", summary.records);
    count(out, "before_dispatch", summary.before_dispatch);
    count(out, "after_completion", summary.after_completion);
    count(out, "input_tensors", roles[0]);
    count(out, "output_tensors", roles[1]);
    count(out, "inout_tensors", roles[2]);
    count(out, "truncated_tensors", 0);
    count(out, "dropped_records", end.ledger.total().lost_entries);
    count(out, "dropped_overwrite", 0);
    text(out, "bin_file", PAYLOAD_FILE);

    text(out, "schema", "argus-2");
    text(out, "run_id", &format!("{:032x}", info.run_id));
    text(out, "scene", &info.scene);
    text(out, "case", &info.case);
    text(out, "platform", &info.platform);
    text(out, "runtime", &info.runtime);
    text(out, "level", &info.level);
    text(out, "status", end.status.name());
    if let Some(error) = &end.error {
        text(out, "error", error);
    }
    count(out, "total_scalars", summary.scalars);
    count(out, "partial_records", summary.partial);
    count(out, "payload_bytes", summary.payload_bytes);
    count(out, "stored_bytes", summary.stored_bytes);
    count(out, "dropped_bytes", end.ledger.total().lost_bytes);
    put_lines(out, "skipped", contents.skipped.iter(), put_skip)?;
    put_lines(out, "orchestration_args", info.orchestration_args.iter().map(Ok), |out, argument| {
        put(out, &orchestration_argument(argument).to_string());
    })?;
    put(out, "  \"tensors\": [");
    Ok(())
}

/// An array with one item per line.
fn put_lines<T>(
    out: &mut Vec<u8>,
    key: &str,
    items: impl Iterator<Item = io::Result<T>>,
    put_item: impl Fn(&mut Vec<u8>, &T),
) -> io::Result<()> {
    put(out, "  \"");
    put(out, key);
    put(out, "\": [");
    let mut empty = true;
    for item in items {
        put(out, if empty { "\n    " } else { ",\n    " });
        put_item(out, &item?);
        empty = false;
    }
    put(out, if empty { "],\n" } else { "\n  ],\n" });
    Ok(())
}

fn put_skip(out: &mut Vec<u8>, skip: &SkipRecord) {
    put(out, "{\"task_id\": ");
    put_word(out, skip.task_id);
    put(out, ", \"func_id\": ");
    put_i64(out, skip.func_id.into());
    put(out, ", \"arg_index\": ");
    if skip.arg_index == u16::MAX {
        put(out, "null")
    } else {
        put_u64(out, skip.arg_index.into())
    }
    put(out, ", \"stage\": \"");
    put(out, stage_name(skip.stage));
    put(out, "\", \"reason\": \"");
    put(out, skip_reason::text(skip.reason));
    put(out, "\"}");
}

/// What the text of a record's view depends on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct View {
    shapes: [u32; MAX_DIMS],
    strides: [u32; MAX_DIMS],
    arg_index: u16,
    stage: u8,
    role: u8,
    kind: u8,
    dtype: u8,
    ndims: u8,
    contiguous: bool,
}

impl View {
    fn of(record: &ArgumentHead) -> View {
        View {
            shapes: record.shapes,
            strides: record.strides,
            arg_index: record.arg_index,
            stage: record.stage,
            role: record.role,
            kind: record.kind,
            dtype: record.dtype,
            ndims: record.ndims,
            contiguous: record.has(argument_flags::CONTIGUOUS),
        }
    }
}

/// Texts that many records have in common.
struct Texts<'a> {
    /// The text before and the text after the start of a view.
    views: FxHashMap<View, [Box<[u8]>; 2]>,
    tasks: TaskTexts<'a>,
}

impl<'a> Texts<'a> {
    fn new(kernels: &'a [KernelInfo]) -> Texts<'a> {
        Texts { views: FxHashMap::default(), tasks: TaskTexts::new(kernels) }
    }

    /// Records in the order of tasks, each with the separator before it.
    fn put_records(&mut self, out: &mut Vec<u8>, step: &Step) {
        if self.views.len() > TEXTS {
            self.views.clear();
        }
        let mut tasks = step.tasks.iter().peekable();
        let mut statistics = step.statistics.iter();
        for records in step.records.chunk_by(|a, b| a.task_id == b.task_id) {
            while tasks.next_if(|task| task.task_id < records[0].task_id).is_some() {}
            let task = tasks.next_if(|task| task.task_id == records[0].task_id);
            let keys = task.map_or(&[][..], |task| self.tasks.kernels(task));
            for record in records {
                let view = self.views.entry(View::of(record)).or_insert_with(|| view_texts(record));
                put(out, ",\n    ");
                put_record(out, record, view, keys);
                if record.has(marks::STATISTICS) {
                    let found = statistics.next().and_then(|bits| Statistics::from_parts(record, bits));
                    found.iter().for_each(|statistics| put_statistics(out, statistics));
                }
                put(out, "}");
            }
        }
    }
}

/// What stands before and behind the start of a record's view.
fn view_texts(record: &ArgumentHead) -> [Box<[u8]>; 2] {
    let scalar = record.kind == Kind::Scalar as u8;
    let ndims = if scalar { 0 } else { record.ndims() };
    let mut out = Vec::new();
    put(&mut out, ", \"arg_index\": ");
    put_u64(&mut out, record.arg_index.into());
    put(&mut out, ", \"role\": \"");
    put(&mut out, Role::from_raw(record.role).map_or("unknown", Role::name));
    put(&mut out, "\", \"stage\": \"");
    put(&mut out, stage_name(record.stage));
    put(&mut out, "\", \"kind\": \"");
    put(&mut out, Kind::from_raw(record.kind).map_or("unknown", Kind::name));
    put(&mut out, "\", \"dtype\": \"");
    put(&mut out, DType::from_raw(record.dtype).map_or("UNKNOWN", DType::name));
    put(&mut out, "\", \"is_contiguous\": ");
    put_bool(&mut out, scalar || record.has(argument_flags::CONTIGUOUS));
    put(&mut out, ", \"shape\": ");
    put_list(&mut out, &record.shapes[..ndims], |out, &extent| put_u64(out, extent.into()));
    put(&mut out, ", \"strides\": ");
    put_list(&mut out, &record.strides[..ndims], |out, &stride| put_u64(out, stride.into()));
    put(&mut out, ", \"start_offset\": ");
    let mut behind = Vec::new();
    put(&mut behind, ", \"numel\": ");
    put_u64(&mut behind, if scalar { 1 } else { record.numel().unwrap_or(u64::MAX) });
    [out.into(), behind.into()]
}

/// A record up to its statistics.
fn put_record(out: &mut Vec<u8>, record: &ArgumentHead, view: &[Box<[u8]>; 2], task_keys: &[u8]) {
    let scalar = record.kind == Kind::Scalar as u8;
    put(out, "{\"task_id\": ");
    put_word(out, record.task_id);
    out.extend_from_slice(&view[0]);
    put_u64(out, record.start_offset);
    out.extend_from_slice(&view[1]);
    // A copy of a dump may know of a scalar without knowing its value.
    let valued = scalar && !record.has(argument_flags::NO_VALUE);
    if valued {
        put(out, ", \"value\": ");
        put_value(out, DType::from_raw(record.dtype), record.scalar_bits);
    }
    put(out, ", \"bin_offset\": ");
    put_u64(out, record.bin_offset);
    put(out, ", \"bin_size\": ");
    put_u64(out, record.bin_size);
    put(out, ", \"truncated\": false, \"overwritten\": false");
    if valued {
        put(out, ", \"value_bits\": ");
        put_word(out, record.scalar_bits);
    }
    out.extend_from_slice(task_keys);
    // What comes from a dump of another format version has no time either.
    if record.time_ns != u64::MAX {
        put(out, ", \"time_ns\": ");
        put_u64(out, record.time_ns);
    }
    // What comes from a dump of another format version has none; nothing ever lies at 0.
    if !scalar && record.address != 0 {
        put(out, ", \"address\": ");
        put_word(out, record.address);
    }
    if record.has(argument_flags::PARTIAL) {
        put(out, ", \"partial\": true");
    }
    if !scalar && record.has(argument_flags::CREATED) {
        put(out, ", \"created\": true");
    }
    if record.has(argument_flags::NO_PAYLOAD) {
        put(out, ", \"payload\": \"left_out\"");
    } else if record.payload_bytes > record.bin_size {
        put(out, ", \"payload\": \"statistics_only\"");
    }
    if record.has(marks::CHECKSUM) {
        let checksum = u128::from_be_bytes(record.checksum);
        put(out, ", \"checksum\": \"xxh3_128:");
        put_hex64(out, (checksum >> 64) as u64);
        put_hex64(out, checksum as u64);
        put(out, "\"");
    }
}

/// The scalar's value as its type means it; the bits are beside it.
fn put_value(out: &mut Vec<u8>, dtype: Option<DType>, bits: u64) {
    match dtype.map_or(Number::Unsigned(bits), |dtype| number(dtype, bits)) {
        // The shortest text for an f32 is shorter than that for the same number as an f64.
        Number::Float(value) if dtype == Some(DType::F32) => {
            put_float(out, &format!("{:?}", f32::from_bits(bits as u32)), value);
        }
        value => put_number(out, value),
    }
}

fn put_statistics(out: &mut Vec<u8>, statistics: &Statistics) {
    let extreme = |out: &mut Vec<u8>, value| match value {
        Some(value) => put_number(out, value),
        None => put(out, "null"),
    };
    put(out, ", \"statistics\": {\"min\": ");
    extreme(out, statistics.min);
    put(out, ", \"max\": ");
    extreme(out, statistics.max);
    put(out, ", \"mean\": ");
    match statistics.mean {
        Some(mean) => put_f64(out, mean),
        None => put(out, "null"),
    }
    for (key, count) in
        [(", \"nan\": ", statistics.nan), (", \"inf\": ", statistics.inf), (", \"zero\": ", statistics.zero)]
    {
        put(out, key);
        put_u64(out, count);
    }
    put(out, "}");
}

/// Texts of tasks, each made once for all that run the same kernels.
pub(crate) struct TaskTexts<'a> {
    kernels: &'a [KernelInfo],
    known: FxHashMap<[i32; 3], Box<[u8]>>,
}

impl<'a> TaskTexts<'a> {
    pub(crate) fn new(kernels: &'a [KernelInfo]) -> TaskTexts<'a> {
        TaskTexts { kernels, known: FxHashMap::default() }
    }

    /// What a task adds to each of its records, with the separator before it.
    fn kernels(&mut self, task: &TaskFields) -> &[u8] {
        if self.known.len() > TEXTS {
            self.known.clear();
        }
        self.known.entry(task.func_ids).or_insert_with(|| {
            let func_ids: FuncIds = task.func_ids.into_iter().collect();
            let mut out = Vec::new();
            put(&mut out, ", \"func_id\": ");
            put_list(&mut out, func_ids.iter(), |out, &func_id| put_i64(out, func_id.into()));
            put(&mut out, ", \"kernel\": ");
            put_string(&mut out, &kernel_names(&func_ids, self.kernels));
            out.into()
        })
    }

    /// How a task ran, with the separator before it.
    pub(crate) fn put_task(&mut self, out: &mut Vec<u8>, task: &TaskFields) {
        out.extend_from_slice(self.kernels(task));
        put(out, ", \"blocks\": ");
        put_u64(out, task.blocks.into());
        put(out, ", \"cores\": ");
        put_list(out, task.cores.iter(), |out, core| put_u64(out, core as u64));
        let dispatched = task.dispatch_order != u64::MAX;
        for (key, value) in [
            (", \"dispatch_order\": ", task.dispatch_order),
            (", \"dispatched_ns\": ", task.dispatched_ns),
            (", \"finished_ns\": ", task.finished_ns),
        ] {
            put(out, key);
            if dispatched { put_u64(out, value) } else { put(out, "null") }
        }
    }
}

/// The different kernels of a task by name, or by number where the program named none.
fn kernel_names(func_ids: &[i32], kernels: &[KernelInfo]) -> String {
    joined_names(func_ids, |func_id| {
        let kernel = kernels.iter().find(|kernel| i64::from(kernel.func_id) == i64::from(func_id));
        kernel.map(|kernel| kernel.name.as_str())
    })
}

fn stage_name(stage: u8) -> &'static str {
    Stage::from_raw(stage).map_or("unknown", Stage::name)
}
