//! One task: its arguments before and after, the buffers they lie in, its verdict, and what to type about it.

use std::collections::BTreeMap;

use argus_abi::{DType, Kind, Stage};
use argus_dump::read::{Dump, Record, Scalar};
use argus_facts::number::number;
use argus_text::object::{self, Values, plain};
use serde_json::{Map, Value, json};

use crate::answer::{Answer, Content};
use crate::findings::Findings;
use crate::session::{Session, Verb};
use crate::shown::Shown;
use crate::table::{TaskTable, times_us};

/// Arguments of a task whose values are summed up while a page waits, in bytes; of larger ones the page asks one by one.
const SUMMED_UP: u64 = 64 << 20;
/// The meanings that a scalar without a type of its own may have.
const MEANINGS: [DType; 6] = [DType::U64, DType::I64, DType::U32, DType::I32, DType::F32, DType::F16];

pub fn task(session: &Session, shown: &Shown, task: usize) -> Answer {
    let task = shown.check_task(task)?;
    let (dump, table) = (shown.dump(), &shown.tasks);
    let judged = shown.judging.done();
    let command = |verb| (session.commands)(verb, dump.directory(), Some(table.ids[task]));
    let findings = judged.as_ref().map(|judged| &judged.findings);
    let mut object = object(dump, table, task, findings, SUMMED_UP, &command);
    object["sources"] = json!(shown.sources.of(dump, &table.func_ids(task)));
    Ok(Content::Json(object))
}

/// A task without its sources; values of arguments up to `summed_up` bytes are looked at.
pub fn object(
    dump: &Dump,
    table: &TaskTable,
    task: usize,
    findings: Option<&Findings>,
    summed_up: u64,
    command: &dyn Fn(Verb) -> String,
) -> Value {
    let id = table.ids[task];
    let info = dump.graph().and_then(|graph| graph.task(id));
    let records: Vec<Record> = table.records(task).iter().map(|&index| dump.record(index as usize)).collect();
    let stage = |stage: Stage| -> Vec<Value> {
        let of_stage = records.iter().filter(|record| record.stage == stage);
        of_stage.map(|record| record_object(dump, record, summed_up)).collect()
    };
    let names = |id: &i32| dump.kernel_name(*id).map_or_else(|| id.to_string(), str::to_owned);
    let func_ids = table.func_ids(task);
    let report = findings.and_then(|findings| findings.reports.get(&(task as u32)));
    let first = findings.and_then(|findings| findings.firsts.get(&(task as u32)));
    let verdict = findings.and_then(|findings| findings.verdicts.get(task)).copied().unwrap_or(0);
    json!({
        "task_id": id.to_string(),
        "index": task,
        "kernel": table.kernel(task),
        "kernels": func_ids.iter().map(names).collect::<Vec<_>>(),
        "func_ids": *func_ids,
        "blocks": info.map(|info| info.blocks),
        "cores": info.map(|info| info.cores.iter().collect::<Vec<_>>()),
        "state": info.map(|info| info.state.name()),
        "scope_depth": info.map(|info| info.scope_depth),
        "dispatch_order": info.and_then(|info| info.dispatch_order),
        "times": info.and_then(times_us).map(|(begin, end)| json!({ "begin_us": begin, "end_us": end })),
        "verdict": verdict,
        "verdict_text": report.map(|report| report.verdict),
        "why": report.map(|report| &report.why),
        "compared": report.map(|report| json!({ "inputs": report.inputs, "outputs": report.outputs })),
        "closer": first.map_or_else(Vec::new, |first| first.outputs.iter().map(closer).collect()),
        "before": stage(Stage::BeforeDispatch),
        "after": stage(Stage::AfterCompletion),
        "scalars": scalars(&records),
        "buffers": buffers(&records),
        "sources": [],
        "commands": {
            "replay": command(Verb::Replay),
            "trace": command(Verb::Trace),
            "view": command(Verb::View),
        },
        "previous": task.checked_sub(1),
        "next": Some(task + 1).filter(|&next| next < table.len()),
    })
}

/// A wrong output looked at closely, with its patterns as sentences.
pub fn closer(closer: &argus_find::report::Closer) -> Value {
    let mut object = serde_json::to_value(closer).unwrap_or(Value::Null);
    if let Some(found) = object["looks_like"].as_array_mut() {
        for (object, finding) in found.iter_mut().zip(&closer.looks_like) {
            object["text"] = format!("{}: {}", finding.pattern, finding.evidence).into();
        }
    }
    object
}

fn record_object(dump: &Dump, record: &Record, summed_up: u64) -> Value {
    let small = record.bin_size <= summed_up;
    let values = if small { Values::Summarised } else { Values::Untouched };
    let mut object = object::object(dump, record, values);
    if record.kind == Kind::Tensor
        && small
        && let Err(error) = dump.payload(record)
    {
        object.insert("values_missing".into(), argus_facts::with_causes(&error).into());
    }
    object.into()
}

/// Each scalar once, with what its bits mean in several types.
fn scalars(records: &[Record]) -> Vec<Value> {
    let mut seen = Vec::new();
    let mut scalars = Vec::new();
    for record in records.iter().filter(|record| record.kind == Kind::Scalar) {
        if seen.contains(&record.arg_index) {
            continue;
        }
        seen.push(record.arg_index);
        let (raw, meanings) = match record.scalar {
            Some(Scalar::Bits(bits)) => {
                let meaning = |dtype: DType| (dtype.name().to_lowercase(), plain(number(dtype, bits)));
                (Some(format!("0x{bits:016x}")), Map::from_iter(MEANINGS.map(meaning)))
            }
            Some(Scalar::Rounded(value)) => (
                None,
                Map::from_iter([("rounded".to_owned(), plain(argus_facts::number::Number::Float(value)))]),
            ),
            None => (None, Map::new()),
        };
        scalars.push(json!({
            "arg_index": record.arg_index,
            "record": record.index,
            "dtype": argus_text::record::dtype(record),
            "text": argus_text::record::scalar(record),
            "raw": raw,
            "as": meanings,
        }));
    }
    scalars
}

/// The buffers that a task's tensors lie in, with the views on each.
///
/// Views are of one buffer where their address is the same: the address of a record is that of its buffer.
fn buffers(records: &[Record]) -> Vec<Value> {
    let mut buffers: BTreeMap<u64, (u64, Vec<Value>)> = BTreeMap::new();
    for record in records.iter().filter(|record| record.kind == Kind::Tensor) {
        let (Some(address), Some(dtype)) = (record.address, record.dtype) else { continue };
        let last = record
            .shape()
            .iter()
            .zip(record.strides())
            .try_fold(record.start_offset, |at, (&extent, &stride)| {
                at.checked_add(extent.checked_sub(1)?.checked_mul(stride)?)
            });
        let end = last.and_then(|last| dtype.packed_bytes(last.checked_add(1)?)).unwrap_or(0);
        let (bytes, uses) = buffers.entry(address).or_default();
        *bytes = (*bytes).max(end);
        uses.push(json!({
            "record": record.index,
            "arg_index": record.arg_index,
            "offset": dtype.packed_bytes(record.start_offset),
            "shape": record.shape(),
            "strides": record.strides(),
            "dtype": dtype.name(),
            "stage": record.stage.name(),
            "role": record.role.name(),
        }));
    }
    let object = |(address, (bytes, uses)): (u64, (u64, Vec<Value>))| json!({ "address": format!("0x{address:x}"), "bytes": bytes, "uses": uses });
    buffers.into_iter().map(object).collect()
}
