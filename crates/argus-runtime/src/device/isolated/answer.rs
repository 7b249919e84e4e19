//! What a child answers: how its run ended and what it left behind, as bytes.

use std::time::Duration;

use argus_abi::{ArgDirection, FatalCode};
use argus_child::{Crash, Frame};
use argus_facts::{Selection, Selector, Stall, with_causes};
use argus_tile::{Fault, Opcode, Site};
use serde::{Deserialize, Serialize};

use crate::device::{Device, RunReport, Timed};
use crate::error::{Crashed, Fatal, KernelSite, RunError};
use crate::inject::Injected;
use crate::program::{HostArgs, Orchestration};

/// Everything but the content of arguments, which follows it.
#[derive(Serialize, Deserialize)]
struct Answer {
    result: Result<RunReport, Failure>,
    injected: Vec<Injected>,
    timed: Option<Timed>,
    marked_only: bool,
    /// How many arguments each selector of the capture matched.
    hits: Vec<u64>,
    /// Bytes of each argument that follow; none of an argument that the run does not change.
    contents: Vec<u64>,
}

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
        timed: device.timed.clone(),
        marked_only: device.marked_only,
        hits: selectors(selection).map(Selector::hits).collect(),
        contents: contents.iter().map(|content| content.len() as u64).collect(),
    };
    let mut bytes = postcard::to_stdvec(&answer).expect("values of plain types can be written");
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
    (device.injected, device.timed, device.marked_only) = (answer.injected, answer.timed, answer.marked_only);
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
