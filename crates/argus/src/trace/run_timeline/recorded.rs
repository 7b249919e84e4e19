//! Swimlane records for Perfetto: cores, what was dispatched to them, control threads, submissions, and arrows.

use std::process::ExitCode;

use argus_artefacts::times::{Alignment, Times};
use argus_trace::RunTimeline;
use serde_json::json;

use super::Target;
use super::model::Modelled;
use crate::failure::Failure;
use crate::marks::NOTE;
use crate::output;
use crate::schema;

/// Says what was drawn.
pub fn tell(
    times: &Times,
    timeline: &RunTimeline,
    target: &Target,
    json: bool,
    model: Option<&Modelled>,
) -> Result<ExitCode, Failure> {
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
            "model": model.map(Modelled::object),
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
        text += &model.map(Modelled::text).unwrap_or_default();
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
