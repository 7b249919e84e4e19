//! timeline.json: when what ran where.
//!
//! One line for each kernel call and for each wait of the capture, with numbers in a fixed order: a run has many of them.

use std::borrow::Cow;

use argus_abi::{FuncId, Member, Stage, TaskId};
use argus_facts::{CaptureWait, CoreTimes, PartTime, RunTimes};
use serde::Deserialize;
use thiserror::Error;

use crate::text::{put, put_u64, put_word};

const SCHEMA: &str = "argus-timeline-1";

/// Bytes of text that are put together before they are passed on.
const PIECE: usize = 64 << 10;

/// Passes the text on, piece by piece.
pub(crate) fn write<E>(times: &RunTimes, pass_on: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
    let mut out = Pieces { text: Vec::with_capacity(PIECE + 1024), pass_on };
    put(&mut out.text, "{\n  \"schema\": \"");
    put(&mut out.text, SCHEMA);
    put(&mut out.text, "\",\n  \"part\": [\"task_id\", \"func_id\", \"block\", \"posted_ns\", ");
    put(&mut out.text, "\"started_ns\", \"ended_ns\"],\n  \"cores\": ");
    out.list(&times.cores, |out, core| {
        put(&mut out.text, "\n    {\"core\": ");
        put_u64(&mut out.text, core.core.into());
        put(&mut out.text, ", \"cluster\": ");
        put_u64(&mut out.text, core.cluster.into());
        put(&mut out.text, ", \"place\": ");
        put_u64(&mut out.text, core.member as u64);
        put(&mut out.text, ", \"parts\": ");
        out.list(&core.parts, |out, part| {
            let numbers = [part.block.into(), part.posted_ns, part.started_ns, part.ended_ns];
            out.row(part.task, part.func.0.into(), &numbers)
        })?;
        put(&mut out.text, "}");
        Ok(())
    })?;
    put(&mut out.text, ",\n  \"capture_wait\": [\"task_id\", \"stage\", \"started_ns\", \"ended_ns\"]");
    put(&mut out.text, ",\n  \"control_threads\": ");
    out.list(&times.control_threads, |out, waits| {
        put(&mut out.text, "\n    ");
        out.list(waits, |out, wait| out.row(wait.task, wait.stage as u64, &[wait.started_ns, wait.ended_ns]))
    })?;
    put(&mut out.text, "\n}\n");
    (out.pass_on)(&out.text)
}

/// Text on its way.
struct Pieces<P> {
    text: Vec<u8>,
    pass_on: P,
}

impl<E, P: FnMut(&[u8]) -> Result<(), E>> Pieces<P> {
    /// `[1, 2]`
    fn list<T>(
        &mut self,
        items: &[T],
        put_item: impl Fn(&mut Pieces<P>, &T) -> Result<(), E>,
    ) -> Result<(), E> {
        put(&mut self.text, "[");
        for (index, item) in items.iter().enumerate() {
            put(&mut self.text, if index == 0 { "" } else { ", " });
            put_item(self, item)?;
        }
        put(&mut self.text, "]");
        Ok(())
    }

    fn row(&mut self, task: TaskId, first: u64, numbers: &[u64]) -> Result<(), E> {
        put(&mut self.text, "\n      [");
        put_word(&mut self.text, task.raw());
        for &number in [first].iter().chain(numbers) {
            put(&mut self.text, ", ");
            put_u64(&mut self.text, number);
        }
        put(&mut self.text, "]");
        if self.text.len() >= PIECE {
            (self.pass_on)(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct File {
    schema: String,
    cores: Vec<CoreText>,
    control_threads: Vec<Vec<WaitText>>,
}

/// In the order that the file states.
type PartText = (TaskText, u32, u32, u64, u64, u64);
type WaitText = (TaskText, u8, u64, u64);

/// A task's id, or the text that is none: a run has many, so texts are not kept.
#[derive(Deserialize)]
#[serde(from = "Cow<'_, str>")]
enum TaskText {
    Id(TaskId),
    Wrong(Box<str>),
}

impl From<Cow<'_, str>> for TaskText {
    fn from(text: Cow<'_, str>) -> TaskText {
        let raw = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
        raw.map_or_else(|| TaskText::Wrong(text.into()), |raw| TaskText::Id(TaskId::from_raw(raw)))
    }
}

impl TaskText {
    fn id(self) -> Result<TaskId, TimelineError> {
        match self {
            TaskText::Id(id) => Ok(id),
            TaskText::Wrong(text) => Err(TimelineError::Task { text: text.into() }),
        }
    }
}

#[derive(Deserialize)]
struct CoreText {
    core: u32,
    cluster: u32,
    place: u8,
    parts: Vec<PartText>,
}

/// Why the times of a run cannot be understood.
#[derive(Debug, Error)]
pub enum TimelineError {
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("its schema is '{found}'; known is {SCHEMA}")]
    Schema { found: String },
    #[error("'{text}' is not a task id")]
    Task { text: String },
    #[error("core {core}: there is no place {place}")]
    Place { core: u32, place: u8 },
    #[error("there is no stage {stage}")]
    Stage { stage: u8 },
    #[error("core {core}: the part of {task} ends at {end} ns, before it starts at {start} ns")]
    PartBackwards { core: u32, task: TaskId, start: u64, end: u64 },
    #[error("the wait for {task} ends at {end} ns, before it starts at {start} ns")]
    WaitBackwards { task: TaskId, start: u64, end: u64 },
}

/// Reads the text; the error says where it is wrong.
pub fn parse(text: &[u8]) -> Result<RunTimes, TimelineError> {
    let file: File = serde_json::from_slice(text)?;
    if file.schema != SCHEMA {
        return Err(TimelineError::Schema { found: file.schema });
    }
    let cores = file.cores.into_iter().map(CoreText::understood);
    let waits = file.control_threads.into_iter().map(|waits| waits.into_iter().map(wait).collect());
    Ok(RunTimes {
        cores: cores.collect::<Result<_, _>>()?,
        control_threads: waits.collect::<Result<_, _>>()?,
    })
}

impl CoreText {
    fn understood(self) -> Result<CoreTimes, TimelineError> {
        let CoreText { core, cluster, place, parts } = self;
        let member = Member::ALL.get(usize::from(place)).copied();
        let member = member.ok_or(TimelineError::Place { core, place })?;
        let part = |(task, func, block, posted_ns, started_ns, ended_ns): PartText| {
            let task = task.id()?;
            if ended_ns < started_ns {
                let (start, end) = (started_ns, ended_ns);
                return Err(TimelineError::PartBackwards { core, task, start, end });
            }
            Ok(PartTime { task, func: FuncId(func), block, posted_ns, started_ns, ended_ns })
        };
        let parts = parts.into_iter().map(part).collect::<Result<_, _>>()?;
        Ok(CoreTimes { core, cluster, member, parts })
    }
}

fn wait((task, stage, started_ns, ended_ns): WaitText) -> Result<CaptureWait, TimelineError> {
    let task = task.id()?;
    if ended_ns < started_ns {
        return Err(TimelineError::WaitBackwards { task, start: started_ns, end: ended_ns });
    }
    let stage = Stage::from_raw(stage).ok_or(TimelineError::Stage { stage })?;
    Ok(CaptureWait { task, stage, started_ns, ended_ns })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times() -> RunTimes {
        let part = |id, started_ns| PartTime {
            task: TaskId::from_raw(id),
            func: FuncId(3),
            block: 7,
            posted_ns: 1,
            started_ns,
            ended_ns: u64::MAX,
        };
        let wait = CaptureWait {
            task: TaskId::from_raw(2),
            stage: Stage::AfterCompletion,
            started_ns: 5,
            ended_ns: 9,
        };
        let core = |core, member, parts| CoreTimes { core, cluster: 2, member, parts };
        RunTimes {
            cores: vec![
                core(2, Member::Aic, vec![part(u64::MAX, 3), part(0, 4)]),
                core(5, Member::Aiv1, vec![part(1, 3)]),
            ],
            control_threads: vec![Vec::new(), vec![wait]],
        }
    }

    fn text(times: &RunTimes) -> Vec<u8> {
        let mut text = Vec::new();
        let whole: Result<(), std::convert::Infallible> = write(times, |piece| {
            text.extend_from_slice(piece);
            Ok(())
        });
        whole.unwrap();
        text
    }

    /// Enough rows for several pieces.
    #[test]
    fn many_rows_come_in_pieces_and_none_is_lost() {
        let mut many = times();
        let part = many.cores[1].parts[0];
        many.cores[1].parts = (0..5000).map(|block| PartTime { block, ..part }).collect();
        assert_eq!(parse(&text(&many)).unwrap(), many);
    }

    #[test]
    fn a_text_is_read_as_it_was_written_and_has_the_numbers_in_the_stated_order() {
        let text = text(&times());
        assert_eq!(parse(&text).unwrap(), times());
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("[\"0xffffffffffffffff\", 3, 7, 1, 3, 18446744073709551615]"), "{text}");
        assert!(text.contains("[\"0x0000000000000002\", 1, 5, 9]"), "{text}");
        assert_eq!(parse(&self::text(&RunTimes::default())).unwrap(), RunTimes::default());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let text = String::from_utf8(text(&times())).unwrap();
        let wrong =
            |from: &str, to: &str| parse(text.replacen(from, to, 1).as_bytes()).unwrap_err().to_string();
        assert_eq!(wrong("0xffffffffffffffff", "task"), "'task' is not a task id");
        assert_eq!(wrong("0xffffffffffffffff", "0x"), "'0x' is not a task id");
        assert_eq!(wrong("\"place\": 0", "\"place\": 3"), "core 2: there is no place 3");
        assert_eq!(wrong(", 1, 5, 9]", ", 9, 5, 9]"), "there is no stage 9");
        let backwards = wrong(", 1, 5, 9]", ", 1, 9, 5]");
        assert_eq!(backwards, "the wait for 0x0000000000000002 ends at 5 ns, before it starts at 9 ns");
        assert_eq!(
            wrong("timeline-1", "timeline-2"),
            "its schema is 'argus-timeline-2'; known is argus-timeline-1"
        );
        assert!(wrong("[", "{").contains("line 3"));
        assert!(parse(&vec![b'['; 1 << 20]).is_err());
    }
}
