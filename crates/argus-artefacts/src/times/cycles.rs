//! The raw form: rows of numbers in cycles. Since September rows carry the number of the run and scheduler records lie
//! in streams.

use std::fmt;

use argus_abi::{CoreType, MAX_CORES, RuntimeKind, TaskId};
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};

use super::align::{ClockAlignment, ClockAnchors};
use super::objects::threads;
use super::{HostTimes, Part, Phase, Stream, Submit, Times, TimesForm, Upload};
use crate::ArtefactError;
use crate::json::{self, Wide};

#[derive(Deserialize)]
pub(super) struct Cycles {
    chip_swimlane_level: Option<u32>,
    l2_swimlane_level: Option<u32>,
    metadata: Metadata,
    aicore_tasks: Vec<Row>,
    #[serde(default)]
    aicpu_tasks: Vec<Row>,
    scheduler_tasks: Option<SchedulerTasks>,
    #[serde(default)]
    aicpu_scheduler_phases: Vec<Vec<PhaseObject>>,
    scheduler_records: Option<SchedulerRecords>,
    #[serde(default)]
    aicpu_orchestrator_phases: Vec<Vec<SubmitObject>>,
    #[serde(default)]
    aicpu_lifecycle_records: Vec<serde_json::Map<String, serde_json::Value>>,
    #[serde(default)]
    host_orchestrator_phases: Vec<Vec<HostSubmitObject>>,
    #[serde(default)]
    host_device_uploads: Vec<UploadObject>,
}

#[derive(Deserialize)]
struct Metadata {
    clock_freq_hz: u64,
    num_cores: Option<usize>,
    #[serde(default)]
    core_types: Vec<String>,
    #[serde(default)]
    core_to_thread: Vec<i64>,
    runtime: Option<String>,
    orchestrator_source: Option<String>,
    host_capture: Option<HostCapture>,
    clock_anchors: Option<ClockAnchors>,
    clock_alignment: Option<ClockAlignment>,
}

#[derive(Deserialize)]
struct HostCapture {
    status: Option<String>,
    #[serde(default)]
    dropped_records: u64,
}

#[derive(Deserialize)]
struct SchedulerTasks {
    records: Vec<Row>,
}

#[derive(Deserialize)]
struct SchedulerRecords {
    streams: Vec<StreamObject>,
}

#[derive(Deserialize)]
struct StreamObject {
    scheduler_id: u32,
    capture: Option<StreamCapture>,
    #[serde(default)]
    records: Vec<PhaseObject>,
    #[serde(default)]
    metrics: Vec<MetricObject>,
}

#[derive(Deserialize)]
struct StreamCapture {
    #[serde(default)]
    dropped: u64,
    /// A number or a yes, from one month to the next.
    truncated: Option<serde_json::Value>,
}

impl StreamCapture {
    fn is_truncated(&self) -> bool {
        use serde_json::Value;
        !matches!(&self.truncated, None | Some(Value::Null | Value::Bool(false)))
            && self.truncated.as_ref().and_then(Value::as_u64) != Some(0)
    }
}

#[derive(Deserialize)]
struct MetricObject {
    record_index: usize,
    pop_hit: Option<u64>,
    pop_miss: Option<u64>,
    shared_at_start: Option<[u32; 3]>,
    shared_at_end: Option<[u32; 3]>,
}

#[derive(Deserialize)]
struct PhaseObject {
    kind: String,
    start_cycles: u64,
    end_cycles: u64,
    #[serde(default)]
    loop_iter: u64,
    #[serde(default)]
    tasks_processed: u64,
    task_id: Option<Wide>,
    pop_hit: Option<u64>,
    pop_miss: Option<u64>,
    shared_at_start: Option<[u32; 3]>,
    shared_at_end: Option<[u32; 3]>,
    run_epoch: Option<u64>,
}

#[derive(Deserialize)]
struct SubmitObject {
    #[serde(default)]
    submit_idx: u64,
    task_id: Option<Wide>,
    start_cycles: u64,
    end_cycles: u64,
    run_epoch: Option<u64>,
}

#[derive(Deserialize)]
struct HostSubmitObject {
    #[serde(default)]
    submit_idx: u64,
    task_id: Option<Wide>,
    start_host_ns: u64,
    end_host_ns: u64,
}

#[derive(Deserialize)]
struct UploadObject {
    phase: String,
    start_host_ns: u64,
    end_host_ns: u64,
    #[serde(default)]
    detail: u64,
}

/// Most columns that a row has had.
const COLUMNS: usize = 7;

/// A row of numbers; how many there are tells its age.
#[derive(Clone, Copy)]
struct Row {
    numbers: [u64; COLUMNS],
    len: usize,
}

impl<'de> Deserialize<'de> for Row {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Row, D::Error> {
        deserializer.deserialize_seq(RowVisitor)
    }
}

struct RowVisitor;

impl<'de> Visitor<'de> for RowVisitor {
    type Value = Row;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row of four to seven whole numbers")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Row, A::Error> {
        let mut row = Row { numbers: [0; COLUMNS], len: 0 };
        while let Some(number) = list.next_element::<u64>()? {
            let place =
                row.numbers.get_mut(row.len).ok_or_else(|| A::Error::invalid_length(COLUMNS + 1, &self))?;
            *place = number;
            row.len += 1;
        }
        if row.len < 4 {
            return Err(A::Error::invalid_length(row.len, &self));
        }
        Ok(row)
    }
}

impl Cycles {
    pub(super) fn times(self) -> Result<Times, ArtefactError> {
        let mut times = Times {
            form: if self.scheduler_tasks.is_some() { TimesForm::Epochs } else { TimesForm::Cycles },
            level: self.chip_swimlane_level.or(self.l2_swimlane_level),
            clock_hz: self.metadata.clock_freq_hz,
            ..Times::default()
        };
        self.metadata.tell(&mut times)?;
        let scheduled = match &self.scheduler_tasks {
            Some(tasks) => &tasks.records,
            None => &self.aicpu_tasks,
        };
        join(&mut times, &self.aicore_tasks, scheduled)?;
        for (number, phases) in self.aicpu_scheduler_phases.iter().enumerate() {
            let stream = stream(&mut times, number as u32, phases, &[])?;
            times.streams.push(stream);
        }
        for object in self.scheduler_records.iter().flat_map(|records| &records.streams) {
            let mut stream = stream(&mut times, object.scheduler_id, &object.records, &object.metrics)?;
            stream.dropped = object.capture.as_ref().map_or(0, |capture| capture.dropped);
            stream.truncated = object.capture.as_ref().is_some_and(StreamCapture::is_truncated);
            times.streams.push(stream);
        }
        for (number, object) in self.aicpu_lifecycle_records.iter().enumerate() {
            let stream = lifecycle(&mut times, number, object)?;
            times.lifecycle.push(stream);
        }
        let id = |id: Option<Wide>| id.map(|id| TaskId::from_raw(id.0));
        times.submits = (self.aicpu_orchestrator_phases.iter().flatten())
            .map(|submit| Submit {
                index: submit.submit_idx,
                task: id(submit.task_id),
                start: submit.start_cycles,
                end: submit.end_cycles,
                step: None,
                epoch: submit.run_epoch,
            })
            .collect();
        let host = self.host_orchestrator_phases.iter().flatten().map(|submit| Submit {
            index: submit.submit_idx,
            task: id(submit.task_id),
            start: submit.start_host_ns,
            end: submit.end_host_ns,
            step: None,
            epoch: None,
        });
        let submits: Vec<Submit> = host.collect();
        let uploads = self.host_device_uploads.into_iter().map(|upload| Upload {
            phase: upload.phase,
            start_ns: upload.start_host_ns,
            end_ns: upload.end_host_ns,
            bytes: upload.detail,
        });
        let uploads: Vec<Upload> = uploads.collect();
        let capture = self.metadata.host_capture;
        if !submits.is_empty() || !uploads.is_empty() || capture.is_some() {
            let bounded = self.metadata.clock_alignment.map(|alignment| alignment.alignment());
            let anchors = self.metadata.clock_anchors;
            let alignment = anchors.map(|anchors| anchors.alignment(&times)).or(bounded);
            times.host = Some(HostTimes {
                submits,
                uploads,
                dropped: capture.as_ref().map_or(0, |capture| capture.dropped_records),
                capture: capture.and_then(|capture| capture.status),
                alignment,
            });
        }
        Ok(times)
    }
}

impl Metadata {
    fn tell(&self, times: &mut Times) -> Result<(), ArtefactError> {
        let wrong =
            |field, found: String, allowed| ArtefactError::value("metadata", None, field, found, allowed);
        if let Some(name) = &self.runtime {
            let runtime = RuntimeKind::by_name(name);
            times.runtime = Some(runtime.ok_or_else(|| {
                wrong("runtime", json::quoted(name), "\"tensormap_and_ringbuffer\" or \"host_build_graph\"")
            })?);
        }
        times.host_orchestrated = self.orchestrator_source.as_deref() == Some("host");
        let cores = self.num_cores.unwrap_or(self.core_types.len());
        if cores > MAX_CORES {
            return Err(wrong("num_cores", cores.to_string(), "256 at most"));
        }
        if !self.core_types.is_empty() && self.core_types.len() != cores {
            let found = format!("a list of {}", self.core_types.len());
            return Err(wrong("core_types", found, "one for each core"));
        }
        for name in &self.core_types {
            let core_type = CoreType::from_name(name);
            times.core_types.push(
                core_type.ok_or_else(|| wrong("core_types", json::quoted(name), "\"aic\" or \"aiv\""))?,
            );
        }
        times.core_threads = threads(&self.core_to_thread);
        Ok(())
    }
}

/// Joins what the cores and what the scheduler saw, on run, core and token.
fn join(times: &mut Times, cores: &[Row], scheduled: &[Row]) -> Result<(), ArtefactError> {
    let mut seen: FxHashMap<(u64, u64, u64), (u64, u64)> = FxHashMap::default();
    for row in scheduled {
        let [core, token, dispatch, finish, epoch, ..] = row.numbers;
        seen.insert((epoch, core, token), (dispatch, finish));
    }
    times.parts.reserve_exact(cores.len());
    for (index, row) in cores.iter().enumerate() {
        let wrong = |field, found, allowed| ArtefactError::value("kernel call", index, field, found, allowed);
        if row.len < 5 {
            return Err(wrong("aicore_tasks", row.len as u64, "a row of five to seven numbers"));
        }
        let [core, task, token, start, end, receive_to_start, epoch] = row.numbers;
        let partner = seen.remove(&(epoch, core, token));
        if start == 0 {
            times.without_start += 1;
            continue;
        }
        let receive = match row.len > 5 {
            true => Some(
                start
                    .checked_sub(receive_to_start)
                    .ok_or_else(|| wrong("receive_to_start", receive_to_start, "not more than its start"))?,
            ),
            false => None,
        };
        times.parts.push(Part {
            core: u32::try_from(core).map_err(|_| wrong("core_id", core, "the number of a core"))?,
            task: TaskId::from_raw(task),
            func: None,
            token: Some(token),
            dispatch: partner.map(|(dispatch, _)| dispatch),
            receive,
            start,
            end,
            finish: partner.map(|(_, finish)| finish),
            epoch: (row.len > 6).then_some(epoch),
        });
    }
    times.without_partner = seen.len();
    Ok(())
}

fn stream(
    times: &mut Times,
    id: u32,
    records: &[PhaseObject],
    metrics: &[MetricObject],
) -> Result<Stream, ArtefactError> {
    let mut stream = Stream { id, phases: Vec::with_capacity(records.len()), ..Stream::default() };
    for record in records {
        stream.phases.push(Phase {
            kind: times.kind_number(&record.kind)?,
            start: record.start_cycles,
            end: record.end_cycles,
            loop_iter: record.loop_iter,
            tasks: record.tasks_processed,
            task: record.task_id.map(|id| TaskId::from_raw(id.0)),
            pops: record.pop_hit.zip(record.pop_miss).map(|(hit, miss)| [hit, miss]),
            ready: record.shared_at_start.zip(record.shared_at_end).map(|(start, end)| [start, end]),
            epoch: record.run_epoch,
        });
    }
    for (index, metric) in metrics.iter().enumerate() {
        let phase = stream.phases.get_mut(metric.record_index).ok_or_else(|| {
            let found = metric.record_index;
            ArtefactError::value(
                "metric",
                index,
                "record_index",
                found,
                "the number of a record of its stream",
            )
        })?;
        phase.pops = metric.pop_hit.zip(metric.pop_miss).map(|(hit, miss)| [hit, miss]).or(phase.pops);
        let ready = metric.shared_at_start.zip(metric.shared_at_end);
        phase.ready = ready.map(|(start, end)| [start, end]).or(phase.ready);
    }
    Ok(stream)
}

/// How a control thread came up and went down: pairs of keys that begin alike. A pair that lacks an end, or whose end
/// is before its start, is of something that did not happen.
fn lifecycle(
    times: &mut Times,
    number: usize,
    object: &serde_json::Map<String, serde_json::Value>,
) -> Result<Stream, ArtefactError> {
    let at = |key: String| object.get(&key)?.as_u64().filter(|&tick| tick > 0);
    let thread =
        ["thread_id", "thread", "scheduler_id"].into_iter().find_map(|key| object.get(key)?.as_u64());
    let id = thread.and_then(|thread| u32::try_from(thread).ok()).unwrap_or(number as u32);
    let mut stream = Stream { id, ..Stream::default() };
    for key in object.keys() {
        let Some(name) = key.strip_suffix("_start_cycles") else { continue };
        let end = at(format!("{name}_complete_cycles")).or_else(|| at(format!("{name}_end_cycles")));
        let Some((start, end)) = at(key.clone()).zip(end).filter(|(start, end)| start <= end) else {
            continue;
        };
        let kind = times.kind_number(name)?;
        stream.phases.push(Phase {
            kind,
            start,
            end,
            loop_iter: 0,
            tasks: 0,
            task: None,
            pops: None,
            ready: None,
            epoch: None,
        });
    }
    stream.phases.sort_by_key(|phase| (phase.start, std::cmp::Reverse(phase.end)));
    Ok(stream)
}
