//! The manifest: the reference's keys in the reference's order and text style, then ours.

use std::sync::mpsc::channel;

use argus_abi::capture::{argument_flags, skip_reason};
use argus_abi::{DType, Kind, Role, Stage};
use argus_facts::{FuncIds, KernelInfo, kernel_info::joined_names};

use crate::info::{DumpInfo, DumpSummary, RunEnd};
use crate::journal::{ArgumentRecord, SkipRecord, TaskRecord, marks};
use crate::run_file::argument as orchestration_argument;
use crate::spool::{Failure, Spool};
use crate::stats::Statistics;
use crate::stream::Stream;
use crate::text::{
    put, put_bool, put_f64, put_float, put_hex64, put_i64, put_list, put_number, put_string, put_u64,
    put_word,
};
use crate::{DUMP_DIRECTORY, PAYLOAD_FILE};
use argus_facts::number::{Number, number};

/// Records per step: one thread formats a step while another formats or stores the next.
const STEP: usize = 512;

/// Everything the manifest tells.
pub(crate) struct Contents<'a> {
    pub(crate) info: &'a DumpInfo,
    pub(crate) end: &'a RunEnd,
    pub(crate) summary: &'a DumpSummary,
    pub(crate) records: &'a [ArgumentRecord],
    /// Sorted by id.
    pub(crate) tasks: &'a [TaskRecord],
    pub(crate) skipped: &'a [SkipRecord],
    /// Counts of records by role: input, output, in and out.
    pub(crate) roles: [u64; 3],
}

/// Writes the manifest's text.
pub(crate) fn write(contents: &Contents<'_>, stream: &mut Stream, spool: &mut Spool) -> Result<(), Failure> {
    let order = sorted(contents.records);
    let mut out = Vec::with_capacity(STEP * 700);
    put_head(&mut out, contents);
    stream.write(spool, &out)?;
    let steps = order.chunks(STEP);
    // Every second step is formatted by a helper. Its buffers come back to it, because fresh memory would
    // cost more than the formatting.
    std::thread::scope(|scope| {
        let (ready, formatted) = channel::<Vec<u8>>();
        let (give_back, empty) = channel::<Vec<u8>>();
        for _ in 0..2 {
            let _ = give_back.send(Vec::with_capacity(STEP * 700));
        }
        let others = steps.clone().skip(1).step_by(2);
        scope.spawn(move || {
            for step in others {
                let Ok(mut buffer) = empty.recv() else { return };
                buffer.clear();
                put_records(&mut buffer, contents, step);
                if ready.send(buffer).is_err() {
                    return;
                }
            }
        });
        for (index, step) in steps.enumerate() {
            if index % 2 == 0 {
                out.clear();
                put_records(&mut out, contents, step);
                if index == 0 {
                    // The first record has no comma before it.
                    out.drain(..1);
                }
                stream.write(spool, &out)?;
            } else {
                let Ok(buffer) = formatted.recv() else { break };
                stream.write(spool, &buffer)?;
                let _ = give_back.send(buffer);
            }
        }
        Ok(())
    })?;
    stream.write(spool, b"\n  ]\n}\n")
}

/// Record numbers in the reference's order; equal keys stay in the order in which they came.
fn sorted(records: &[ArgumentRecord]) -> Vec<u32> {
    let mut keys: Vec<(u64, u32, u32)> = records
        .iter()
        .zip(0..)
        .map(|(record, index)| {
            let key =
                u32::from(record.stage) << 24 | u32::from(record.arg_index) << 8 | u32::from(record.role);
            (record.task_id, key, index)
        })
        .collect();
    keys.sort();
    keys.into_iter().map(|(_, _, index)| index).collect()
}

fn put_head(out: &mut Vec<u8>, contents: &Contents<'_>) {
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

    text(out, "schema", "argus-1");
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
    put_lines(out, "skipped", contents.skipped, put_skip);
    put_lines(out, "orchestration_args", &info.orchestration_args, |out, argument| {
        put(out, &orchestration_argument(argument).to_string());
    });
    put(out, "  \"tensors\": [");
}

/// An array with one item per line.
fn put_lines<T>(out: &mut Vec<u8>, key: &str, items: &[T], put_item: impl Fn(&mut Vec<u8>, &T)) {
    put(out, "  \"");
    put(out, key);
    put(out, "\": [");
    for (index, item) in items.iter().enumerate() {
        put(out, if index == 0 { "\n    " } else { ",\n    " });
        put_item(out, item);
    }
    put(out, if items.is_empty() { "],\n" } else { "\n  ],\n" });
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

/// Records `order`, each with the separator before it.
fn put_records(out: &mut Vec<u8>, contents: &Contents<'_>, order: &[u32]) {
    let mut keys = Vec::with_capacity(256);
    let mut of = None;
    for &index in order {
        let Some(record) = contents.records.get(index as usize) else { continue };
        if of != Some(record.task_id) {
            // What is the same for all records of a task is put together once.
            of = Some(record.task_id);
            keys.clear();
            if let Ok(found) = contents.tasks.binary_search_by_key(&record.task_id, |task| task.task_id) {
                put_task_keys(&mut keys, &contents.tasks[found], &contents.info.kernels);
            }
        }
        put(out, ",\n    ");
        put_record(out, record, &keys);
    }
}

fn put_record(out: &mut Vec<u8>, record: &ArgumentRecord, task_keys: &[u8]) {
    let dtype = DType::from_raw(record.dtype);
    let scalar = record.kind == Kind::Scalar as u8;
    let ndims = if scalar { 0 } else { record.ndims() };
    put(out, "{\"task_id\": ");
    put_word(out, record.task_id);
    put(out, ", \"arg_index\": ");
    put_u64(out, record.arg_index.into());
    put(out, ", \"role\": \"");
    put(out, Role::from_raw(record.role).map_or("unknown", Role::name));
    put(out, "\", \"stage\": \"");
    put(out, stage_name(record.stage));
    put(out, "\", \"kind\": \"");
    put(out, Kind::from_raw(record.kind).map_or("unknown", Kind::name));
    put(out, "\", \"dtype\": \"");
    put(out, dtype.map_or("UNKNOWN", DType::name));
    put(out, "\", \"is_contiguous\": ");
    put_bool(out, scalar || record.has(argument_flags::CONTIGUOUS));
    put(out, ", \"shape\": ");
    put_list(out, &record.shapes[..ndims], |out, &extent| put_u64(out, extent.into()));
    put(out, ", \"strides\": ");
    put_list(out, &record.strides[..ndims], |out, &stride| put_u64(out, stride.into()));
    put(out, ", \"start_offset\": ");
    put_u64(out, record.start_offset);
    put(out, ", \"numel\": ");
    put_u64(out, if scalar { 1 } else { record.numel().unwrap_or(u64::MAX) });
    // A copy of a dump may know of a scalar without knowing its value.
    let valued = scalar && !record.has(argument_flags::NO_VALUE);
    if valued {
        put(out, ", \"value\": ");
        put_value(out, dtype, record.scalar_bits);
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
    if let Some(statistics) = Statistics::from_record(record) {
        put_statistics(out, &statistics);
    }
    put(out, "}");
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

/// What a task's entry adds to each of its records, with the separator before it.
pub(crate) fn put_task_keys(out: &mut Vec<u8>, task: &TaskRecord, kernels: &[KernelInfo]) {
    let func_ids: FuncIds = task.func_ids.into_iter().collect();
    put(out, ", \"func_id\": ");
    put_list(out, func_ids.iter(), |out, &func_id| put_i64(out, func_id.into()));
    put(out, ", \"kernel\": ");
    put_string(out, &kernel_names(&func_ids, kernels));
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
