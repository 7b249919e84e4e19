//! Swimlane records as tracks: cores, what was dispatched to them, control threads, submissions, and arrows.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use argus_artefacts::times::{Alignment, Part, Submit, Times};
use argus_trace::{RunTask, RunTimeline, RunTrack, RunWait};

use crate::Capture;
use crate::timing::{Names, uses_fanout};

/// Where a moment of either clock is drawn.
struct Axis<'a> {
    times: &'a Times,
    origin: u64,
    alignment: Option<&'a Alignment>,
    /// Of the host's clock, in nanoseconds.
    host_origin: u64,
    /// How far device work is moved so that host work stands before it.
    shift: u64,
}

impl<'a> Axis<'a> {
    fn new(times: &'a Times) -> Axis<'a> {
        let host = times.host.as_ref();
        let moments = || {
            let submits = host.into_iter().flat_map(|host| &host.submits).flat_map(|s| [s.start, s.end]);
            submits
                .chain(host.into_iter().flat_map(|host| &host.uploads).flat_map(|u| [u.start_ns, u.end_ns]))
        };
        let alignment = host.and_then(|host| host.alignment.as_ref());
        let alignment = alignment.filter(|alignment| matches!(alignment, Alignment::Aligned { .. }));
        let host_origin = moments().min().unwrap_or(0);
        let shift = match alignment {
            Some(_) => 0,
            None => moments().max().unwrap_or(host_origin) - host_origin,
        };
        let mut axis = Axis { times, origin: times.origin(), alignment, host_origin, shift };
        // A device that began before the first record of the host.
        if let Some(first) =
            axis.alignment.and_then(|alignment| alignment.host_ns(times.clock_hz, axis.origin))
        {
            axis.host_origin = axis.host_origin.min(first);
        }
        axis
    }

    fn device(&self, tick: u64) -> u64 {
        match self.alignment.and_then(|alignment| alignment.host_ns(self.times.clock_hz, tick)) {
            Some(ns) => ns.saturating_sub(self.host_origin),
            None => self.times.ns(tick.saturating_sub(self.origin)).saturating_add(self.shift),
        }
    }

    fn host(&self, ns: u64) -> u64 {
        ns.saturating_sub(self.host_origin)
    }
}

/// Draws what was recorded.
pub fn timeline(capture: &Capture, times: &Times) -> RunTimeline {
    let (axis, names) = (Axis::new(times), Names::new(capture, times));
    let mut words = Words::default();
    let mut tracks = Vec::new();
    if let Some(host) = &times.host {
        let at = |ns: u64| axis.host(ns);
        tracks.push(submissions("host", times, &host.submits, &names, &at));
        let uploads = host.uploads.iter().map(|upload| RunWait {
            reason: format!("{} ({} bytes)", upload.phase, upload.bytes).into(),
            start_ns: at(upload.start_ns),
            end_ns: at(upload.end_ns),
        });
        tracks.push(RunTrack {
            group: "host".into(),
            name: "uploads".into(),
            waits: uploads.collect(),
            ..RunTrack::default()
        });
    }
    if !times.submits.is_empty() {
        tracks.push(submissions("control threads", times, &times.submits, &names, &|tick| axis.device(tick)));
    }
    for stream in &times.lifecycle {
        let phases = stream.phases.iter().map(|phase| RunWait {
            reason: words.word(times.kind(phase)),
            start_ns: axis.device(phase.start),
            end_ns: axis.device(phase.end),
        });
        let name = format!("lifecycle {}", stream.id);
        let waits = phases.collect();
        tracks.push(RunTrack { group: "control threads".into(), name, waits, ..RunTrack::default() });
    }
    for stream in &times.streams {
        let phases = stream.phases.iter().map(|phase| RunWait {
            reason: words.phase(times.kind(phase), phase.tasks),
            start_ns: axis.device(phase.start),
            end_ns: axis.device(phase.end),
        });
        let name = format!("scheduler {}", stream.id);
        tracks.push(RunTrack {
            group: "control threads".into(),
            name,
            waits: phases.collect(),
            ..RunTrack::default()
        });
    }
    let mut by_core: BTreeMap<u32, Vec<&Part>> = BTreeMap::new();
    for part in &times.parts {
        by_core.entry(part.core).or_default().push(part);
    }
    for (core, parts) in by_core {
        let kind = times.core_type(core).map_or(String::new(), |kind| kind.name().to_owned());
        let name = format!("{kind} (core {core})");
        let mut free_since = 0;
        let mut waits = Vec::new();
        for part in &parts {
            let start = axis.device(part.start);
            // Given to an idle core and not begun yet; before that the core had nothing to do.
            if let Some(dispatch) = part.dispatch {
                let given = axis.device(dispatch).max(free_since);
                let received =
                    part.receive.map_or(start, |receive| axis.device(receive)).clamp(given.min(start), start);
                if given < received {
                    waits.push(RunWait {
                        reason: words.word("on its way to the core"),
                        start_ns: given,
                        end_ns: received,
                    });
                }
                if received < start {
                    waits.push(RunWait { reason: words.word("set-up"), start_ns: received, end_ns: start });
                }
            }
            free_since = axis.device(part.end);
        }
        let tasks = parts.iter().map(|part| RunTask {
            name: words.part(&names, part),
            id: part.task,
            block: None,
            start_ns: axis.device(part.start),
            end_ns: axis.device(part.end),
        });
        let tasks = tasks.collect();
        tracks.push(RunTrack { group: "cores".into(), name: name.clone(), tasks, waits });
        let seen = parts.iter().filter_map(|part| part.dispatch.zip(part.finish).map(|span| (part, span)));
        let seen: Vec<RunWait> = seen
            .map(|(part, (dispatch, finish))| RunWait {
                reason: words.part(&names, part),
                start_ns: axis.device(dispatch),
                end_ns: axis.device(finish),
            })
            .collect();
        if !seen.is_empty() {
            let group = "dispatch to finish, as control threads saw it".to_owned();
            tracks.push(RunTrack { group, name, waits: seen, ..RunTrack::default() });
        }
    }
    let edges = match uses_fanout(capture, times) {
        true => crate::timing::fanout_graph(times).edges,
        false => capture.dump.graph().map_or_else(Vec::new, |graph| graph.edges.clone()),
    };
    RunTimeline { tracks, edges }
}

/// Names that many bars share, each made once.
#[derive(Default)]
struct Words {
    words: HashMap<String, Arc<str>>,
    phases: HashMap<(String, u64), Arc<str>>,
    parts: HashMap<i32, Arc<str>>,
}

impl Words {
    fn word(&mut self, word: &str) -> Arc<str> {
        if let Some(known) = self.words.get(word) {
            return known.clone();
        }
        self.words.entry(word.to_owned()).or_insert_with(|| word.into()).clone()
    }

    fn phase(&mut self, kind: &str, tasks: u64) -> Arc<str> {
        let make = || format!("{kind}({tasks})").into();
        self.phases.entry((kind.to_owned(), tasks)).or_insert_with(make).clone()
    }

    /// The kernel of a part; parts whose kernel is not known are named by their task.
    fn part(&mut self, names: &Names<'_>, part: &Part) -> Arc<str> {
        match names.func(part) {
            Some(func) => self.parts.entry(func).or_insert_with(|| names.part(part).into()).clone(),
            None => self.word(&names.part(part)),
        }
    }
}

fn submissions(
    group: &str,
    times: &Times,
    submits: &[Submit],
    names: &Names<'_>,
    at: &dyn Fn(u64) -> u64,
) -> RunTrack {
    let submits = submits.iter().map(|submit| {
        let task = submit.task.map_or(String::new(), |task| format!(" {} {task}", names.task(task)));
        RunWait {
            reason: format!("{}{task}", times.step(submit)).into(),
            start_ns: at(submit.start),
            end_ns: at(submit.end),
        }
    });
    let name = "orchestration".to_owned();
    RunTrack { group: group.into(), name, waits: submits.collect(), ..RunTrack::default() }
}
