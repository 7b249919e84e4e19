//! What a child answers: how its run ended and what it left behind, as bytes.

use std::sync::Arc;
use std::time::Duration;

use argus_abi::{ArgDirection, FatalCode, FuncId, Member, TaskId};
use argus_child::{Crash, Frame};
use argus_facts::{
    CaptureWait, CoreTimes, Edge, PartTime, RunTimes, Selection, Selector, Stall, with_causes,
};
use argus_tile::{Fault, Opcode, Site};
use serde::{Deserialize, Serialize};

use crate::device::{Device, RunReport, Timed};
use crate::error::{Crashed, Fatal, KernelSite, RunError};
use crate::inject::Injected;
use crate::program::{HostArgs, Orchestration};

/// Everything but what there is much of: the times of kernel calls and the content of arguments follow it, in that order.
#[derive(Serialize, Deserialize)]
struct Answer {
    result: Result<RunReport, Failure>,
    injected: Vec<Injected>,
    timed: Option<TimedHead>,
    marked_only: bool,
    /// How many arguments each selector of the capture matched.
    hits: Vec<u64>,
    /// Bytes of each argument that follow; none of an argument that the run does not change.
    contents: Vec<u64>,
}

/// When things happened. Of each core only how many calls it made: they follow as words of fixed size, because numbers of
/// their own lengths would take longer to write and to read than everything else.
#[derive(Serialize, Deserialize)]
struct TimedHead {
    cores: Vec<(u32, u32, Member, u64)>,
    control_threads: Vec<Vec<CaptureWait>>,
    edges: Vec<Edge>,
}

/// Bytes of one kernel call.
const PART: usize = 40;

/// An error that is told from others by more than its words.
#[derive(Serialize, Deserialize)]
enum Failure {
    Fatal { code: FatalCode, message: String },
    KernelFault { site: KernelSite, fault: Complaint },
    KernelPanic { site: KernelSite, at: String, message: String },
    Crashed { site: Option<KernelSite>, crash: Crash, at: String },
    Interrupted,
    SchedulerPanic { message: String },
    OrchestrationPanic { message: String },
    Stuck { site: KernelSite, at: Box<str>, limit: Duration, frames: Box<[Frame]>, stall: Box<Stall> },
    NotNotified { site: KernelSite, waits: Box<str>, limit: Duration, stall: Box<Stall> },
    Deadlock { left: u64, total: u64, stall: Box<Stall> },
    OrchestrationStuck { limit: Duration, frames: Box<[Frame]>, stall: Box<Stall> },
    Other { message: String },
}

/// A fault of a kernel in words, and its place.
#[derive(Serialize, Deserialize)]
struct Complaint {
    instruction: Option<u8>,
    index: u64,
    place: Option<(String, u32, u32)>,
    message: String,
    code: Option<FatalCode>,
}

/// The answer of a child whose run has ended.
pub fn encode(
    device: &Device,
    result: Result<RunReport, RunError>,
    args: &HostArgs,
    orchestration: &Orchestration,
    selection: Option<&Selection>,
) -> Vec<u8> {
    // An orchestration that moves data itself may bring any argument back.
    let any = matches!(orchestration, Orchestration::HostBuildGraph(_));
    let changed = |direction| any || matches!(direction, ArgDirection::Out | ArgDirection::Inout);
    let succeeded = result.is_ok();
    let contents: Vec<&[u8]> = (args.tensors.iter())
        .map(|tensor| if succeeded && changed(tensor.direction) { &tensor.bytes[..] } else { &[] })
        .collect();
    let answer = Answer {
        result: result.map_err(failure),
        injected: device.injected.clone(),
        timed: device.timed.as_ref().map(timed_head),
        marked_only: device.marked_only,
        hits: selectors(selection).map(Selector::hits).collect(),
        contents: contents.iter().map(|content| content.len() as u64).collect(),
    };
    let mut bytes = postcard::to_stdvec(&answer).expect("values of plain types can be written");
    let parts = device.timed.iter().flat_map(|timed| &timed.times.cores).flat_map(|core| &core.parts);
    parts.for_each(|part| bytes.extend_from_slice(&part_bytes(part)));
    contents.iter().for_each(|content| bytes.extend_from_slice(content));
    bytes
}

/// Takes an answer: the device and the arguments are then as if the run had been here.
pub fn decode(
    device: &mut Device,
    bytes: &[u8],
    args: &mut HostArgs,
    selection: Option<&Selection>,
) -> Result<RunReport, RunError> {
    let garbled = || RunError::Relayed {
        message: "the process of the run gave an answer that cannot be read: its memory was damaged".into(),
    };
    let (answer, mut rest) = postcard::take_from_bytes::<Answer>(bytes).map_err(|_| garbled())?;
    (device.injected, device.marked_only) = (answer.injected, answer.marked_only);
    if let Some(head) = answer.timed {
        device.timed = Some(timed(head, &mut rest).ok_or_else(garbled)?);
    }
    for (selector, hits) in selectors(selection).zip(answer.hits) {
        selector.add_hits(hits);
    }
    let report = answer.result.map_err(error)?;
    let sizes = args.tensors.iter().map(|tensor| tensor.bytes.len() as u64);
    let fits = sizes.zip(&answer.contents).all(|(here, &there)| there == 0 || there == here);
    let total = answer.contents.iter().try_fold(0u64, |sum, &len| sum.checked_add(len));
    if !fits || answer.contents.len() != args.tensors.len() || total != Some(rest.len() as u64) {
        return Err(garbled());
    }
    for (tensor, &length) in args.tensors.iter_mut().zip(&answer.contents) {
        if length > 0 {
            let (content, behind) = rest.split_at(length as usize);
            tensor.bytes.copy_from_slice(content);
            rest = behind;
        }
    }
    Ok(report)
}

fn timed_head(timed: &Timed) -> TimedHead {
    let cores = timed.times.cores.iter();
    TimedHead {
        cores: cores.map(|core| (core.core, core.cluster, core.member, core.parts.len() as u64)).collect(),
        control_threads: timed.times.control_threads.clone(),
        edges: timed.edges.clone(),
    }
}

/// The times, with kernel calls from the beginning of `rest`; `None` if it has fewer.
fn timed(head: TimedHead, rest: &mut &[u8]) -> Option<Timed> {
    let cores = head.cores.into_iter().map(|(core, cluster, member, count)| {
        let (parts, behind) = rest.split_at_checked(usize::try_from(count).ok()?.checked_mul(PART)?)?;
        *rest = behind;
        let parts = parts.as_chunks().0.iter().map(part).collect();
        Some(CoreTimes { core, cluster, member, parts })
    });
    let times = RunTimes { cores: cores.collect::<Option<_>>()?, control_threads: head.control_threads };
    Some(Timed { times: Arc::new(times), edges: head.edges })
}

fn part_bytes(part: &PartTime) -> [u8; PART] {
    let func_and_block = u64::from(part.func.0) << 32 | u64::from(part.block);
    let words = [part.task.raw(), func_and_block, part.posted_ns, part.started_ns, part.ended_ns];
    let mut bytes = [0; PART];
    for (to, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *to = word.to_le_bytes();
    }
    bytes
}

fn part(bytes: &[u8; PART]) -> PartTime {
    let word = |at: usize| u64::from_le_bytes(bytes.as_chunks().0[at]);
    PartTime {
        task: TaskId::from_raw(word(0)),
        func: FuncId((word(1) >> 32) as u32),
        block: word(1) as u32,
        posted_ns: word(2),
        started_ns: word(3),
        ended_ns: word(4),
    }
}

fn selectors(selection: Option<&Selection>) -> impl Iterator<Item = &Selector> {
    selection.into_iter().flat_map(|selection| &selection.selectors)
}

fn failure(error: RunError) -> Failure {
    match error {
        RunError::Fatal(Fatal { code, message }) => Failure::Fatal { code, message },
        RunError::KernelFault { site, fault } => Failure::KernelFault { site, fault: complaint(&fault) },
        RunError::KernelPanic { site, at, message } => Failure::KernelPanic { site, at, message },
        RunError::Crashed(crashed) => {
            let Crashed { site, crash, at, frames: _ } = *crashed;
            Failure::Crashed { site, crash, at }
        }
        RunError::Interrupted => Failure::Interrupted,
        RunError::SchedulerPanic { message } => Failure::SchedulerPanic { message },
        RunError::OrchestrationPanic { message } => Failure::OrchestrationPanic { message },
        // The thread that was given up ends with its process, and the device is as good as before.
        RunError::Stuck { site, at, limit, abandoned: _, frames, stall } => {
            Failure::Stuck { site, at, limit, frames, stall }
        }
        RunError::NotNotified { site, waits, limit, stall } => {
            Failure::NotNotified { site, waits, limit, stall }
        }
        RunError::Deadlock { left, total, stall } => Failure::Deadlock { left, total, stall },
        RunError::OrchestrationStuck { limit, frames, stall } => {
            Failure::OrchestrationStuck { limit, frames, stall }
        }
        RunError::Config(_)
        | RunError::Memory(_)
        | RunError::Capture(_)
        | RunError::GraphLost
        | RunError::Injection(_)
        | RunError::Thread { .. }
        | RunError::Died { .. }
        | RunError::Silent { .. }
        | RunError::Fork { .. }
        | RunError::Relayed { .. } => Failure::Other { message: with_causes(&error) },
    }
}

fn error(failure: Failure) -> RunError {
    match failure {
        Failure::Fatal { code, message } => Fatal { code, message }.into(),
        Failure::KernelFault { site, fault } => RunError::KernelFault { site, fault: relayed(fault) },
        Failure::KernelPanic { site, at, message } => RunError::KernelPanic { site, at, message },
        Failure::Crashed { site, crash, at } => {
            RunError::Crashed(Box::new(Crashed { site, crash, at, frames: Vec::new() }))
        }
        Failure::Interrupted => RunError::Interrupted,
        Failure::SchedulerPanic { message } => RunError::SchedulerPanic { message },
        Failure::OrchestrationPanic { message } => RunError::OrchestrationPanic { message },
        Failure::Stuck { site, at, limit, frames, stall } => {
            RunError::Stuck { site, at, limit, abandoned: false, frames, stall }
        }
        Failure::NotNotified { site, waits, limit, stall } => {
            RunError::NotNotified { site, waits, limit, stall }
        }
        Failure::Deadlock { left, total, stall } => RunError::Deadlock { left, total, stall },
        Failure::OrchestrationStuck { limit, frames, stall } => {
            RunError::OrchestrationStuck { limit, frames, stall }
        }
        Failure::Other { message } => RunError::Relayed { message },
    }
}

fn complaint(fault: &Fault) -> Complaint {
    Complaint {
        instruction: fault.instruction.map(|opcode| opcode as u8),
        index: fault.index,
        place: fault.location.map(|at| (at.file().to_owned(), at.line(), at.column())),
        message: fault.message(),
        code: fault.code,
    }
}

fn relayed(complaint: Complaint) -> Fault {
    let Complaint { instruction, index, place, message, code } = complaint;
    let instruction = instruction.and_then(Opcode::from_raw);
    let place = place.map(|(file, line, column)| Site::relayed(file, line, column));
    Fault::relayed(instruction, index, place, message).with_code(code)
}

#[cfg(test)]
mod tests {
    use argus_abi::{EdgeReason, Stage};

    use super::*;

    fn example() -> Timed {
        let part = |number: u64| PartTime {
            task: TaskId::from_raw(u64::MAX - number),
            func: FuncId(u32::MAX - number as u32),
            block: 7 + number as u32,
            posted_ns: number,
            started_ns: number << 40,
            ended_ns: u64::MAX - (number << 20),
        };
        let core = |core: u32, member, parts: std::ops::Range<u64>| CoreTimes {
            core,
            cluster: core / 3,
            member,
            parts: parts.map(part).collect(),
        };
        let wait = CaptureWait {
            task: TaskId::from_raw(5),
            stage: Stage::AfterCompletion,
            started_ns: 1,
            ended_ns: 2,
        };
        let cores =
            vec![core(0, Member::Aic, 0..3), core(4, Member::Aiv0, 3..3), core(8, Member::Aiv1, 3..1000)];
        let edge =
            Edge { from: TaskId::from_raw(1), to: TaskId::from_raw(2), reason: EdgeReason::WriteAfterRead };
        let times = RunTimes { cores, control_threads: vec![Vec::new(), vec![wait]] };
        Timed { times: Arc::new(times), edges: vec![edge] }
    }

    fn bytes(timed: &Timed) -> Vec<u8> {
        let parts = timed.times.cores.iter().flat_map(|core| &core.parts);
        parts.flat_map(part_bytes).chain(*b"arguments").collect()
    }

    #[test]
    fn times_arrive_as_they_were_and_what_follows_them_is_left() {
        let sent = example();
        let sent_bytes = bytes(&sent);
        let mut rest = &sent_bytes[..];
        assert_eq!(timed(timed_head(&sent), &mut rest), Some(sent));
        assert_eq!(rest, b"arguments");
    }

    #[test]
    fn more_kernel_calls_than_there_are_bytes_is_no_answer() {
        let sent = example();
        let sent_bytes = bytes(&sent);
        for count in [1000, 1 << 40, u64::MAX, u64::MAX / PART as u64 + 1] {
            let mut head = timed_head(&sent);
            head.cores[2].3 = count;
            assert_eq!(timed(head, &mut &sent_bytes[..]), None, "{count}");
        }
    }
}
