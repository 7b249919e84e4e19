//! Swimlane records for Perfetto: cores, what was dispatched to them, control threads, submissions, and arrows.

use std::collections::BTreeMap;
use std::process::ExitCode;

use argus_artefacts::times::{Alignment, Part, Submit, Times};
use argus_runs::Capture;
use argus_runs::timing::Names;
use argus_trace::{RunTask, RunTimeline, RunTrack, RunWait};
use serde_json::json;

use super::Target;
use crate::failure::Failure;
use crate::output::{self, NOTE};
use crate::schema;

pub fn draw(capture: &Capture, times: &Times, target: &Target, json: bool) -> Result<ExitCode, Failure> {
    let timeline = timeline(capture, times);
    target.write(&timeline)?;
    let (cores, calls) = (core_count(times), times.parts.len());
    let phases: usize = times.streams.iter().map(|stream| stream.phases.len()).sum();
    let (host, aligned) = host(times);
    if json {
        output::print_json(&json!({
            "schema": schema::TIMELINE,
            "file": target.path().display().to_string(),
            "cores": cores,
            "kernel_calls": calls,
            "control_phases": phases,
            "submissions": times.submits.len() + host,
            "dependencies": timeline.edges.len(),
            "host_aligned": aligned,
        }))?;
    } else {
        let path = target.path().display();
        let mut text = format!(
            "{calls} kernel calls on {cores} cores, {phases} phases of control threads, {} submissions, {} dependencies; times \
             of the device's own clock\n",
            times.submits.len() + host,
            timeline.edges.len(),
        );
        if aligned == Some(false) {
            text += &format!(
                "{NOTE}note:{NOTE:#} the clocks of host and device have no anchors that hold: host work is drawn before device \
                 work, and the distance between them means nothing\n"
            );
        }
        text += &format!("{NOTE}written:{NOTE:#} {path} (Perfetto opens it)\n");
        output::print(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn core_count(times: &Times) -> usize {
    let mut cores: Vec<u32> = times.parts.iter().map(|part| part.core).collect();
    cores.dedup();
    cores.sort_unstable();
    cores.dedup();
    cores.len()
}

/// Host submissions, and whether they are on the device's axis; `None` where the host did not orchestrate.
fn host(times: &Times) -> (usize, Option<bool>) {
    let Some(host) = &times.host else { return (0, None) };
    (host.submits.len(), Some(matches!(host.alignment, Some(Alignment::Aligned { .. }))))
}

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

fn timeline(capture: &Capture, times: &Times) -> RunTimeline {
    let (axis, names) = (Axis::new(times), Names::new(capture, times));
    let mut tracks = Vec::new();
    if let Some(host) = &times.host {
        let at = |ns: u64| axis.host(ns);
        tracks.push(submissions("host", "orchestration", &host.submits, &names, &at));
        let uploads = host.uploads.iter().map(|upload| RunWait {
            reason: format!("{} ({} bytes)", upload.phase, upload.bytes),
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
        tracks.push(submissions("control threads", "orchestration", &times.submits, &names, &|tick| {
            axis.device(tick)
        }));
    }
    for stream in &times.streams {
        let phases = stream.phases.iter().map(|phase| RunWait {
            reason: format!("{}({})", times.kind(phase), phase.tasks),
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
                        reason: "on its way to the core".into(),
                        start_ns: given,
                        end_ns: received,
                    });
                }
                if received < start {
                    waits.push(RunWait { reason: "set-up".into(), start_ns: received, end_ns: start });
                }
            }
            free_since = axis.device(part.end);
        }
        let tasks = parts.iter().map(|part| RunTask {
            name: names.part(part),
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
                reason: names.part(part),
                start_ns: axis.device(dispatch),
                end_ns: axis.device(finish),
            })
            .collect();
        if !seen.is_empty() {
            let group = "dispatch to finish, as control threads saw it".to_owned();
            tracks.push(RunTrack { group, name, waits: seen, ..RunTrack::default() });
        }
    }
    let edges = capture.dump.graph().map_or_else(Vec::new, |graph| graph.edges.clone());
    RunTimeline { tracks, edges }
}

fn submissions(
    group: &str,
    name: &str,
    submits: &[Submit],
    names: &Names<'_>,
    at: &dyn Fn(u64) -> u64,
) -> RunTrack {
    let submits = submits.iter().map(|submit| RunWait {
        reason: format!("submit {} {}", names.task(submit.task), submit.task),
        start_ns: at(submit.start),
        end_ns: at(submit.end),
    });
    RunTrack { group: group.into(), name: name.into(), waits: submits.collect(), ..RunTrack::default() }
}
