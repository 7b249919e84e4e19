//! What `argus trace` tells about a task, for people.

use std::fmt::Write;

use argus_trace::{STATEMENT, Summary};
use comfy_table::{CellAlignment, Table};

use super::task::Report;
use crate::marks::{BAD, GOOD, NOTE};
use crate::{replay, table};

/// Columns of a bar that stands for the whole length.
const BAR: usize = 20;
/// Rows of lists that could be long; `--json` has all of them.
const ROWS: usize = 8;

pub fn text(report: &Report<'_>) -> String {
    let Report { source, proof, summary, written, cut, .. } = report;
    let mut text = replay::facts(source);
    _ = writeln!(
        text,
        "{:<10}{} cycles, {:.3} us at {} MHz; {} instructions on {}",
        "length",
        summary.cycles,
        summary.time_us,
        summary.mhz,
        summary.instructions,
        counted(summary.cores.len(), "core"),
    );
    _ = writeln!(text, "{:<10}parameters {}. {STATEMENT}", "model", summary.parameters);
    for note in &source.task.notes {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {note}");
    }
    if let Some(limit) = cut {
        _ = writeln!(
            text,
            "{BAD}cut:{BAD:#} the task was stopped after {limit} tile instructions and did not end; this is the part that \
             ran (--max-instructions raises the limit)"
        );
    } else if !proof.passed() {
        _ = writeln!(text, "{BAD}note:{BAD:#} its results differ from what was captured; see argus replay");
    }
    text += &format!("\n{}", table::lines(&pipes(summary)));
    text += &format!("\n{}", chain(summary));
    text += &format!("\n{}", table::lines(&top(summary)));
    if !summary.bytes.is_empty() {
        text += &format!("\n{}", table::lines(&bytes(summary)));
    }
    text.push('\n');
    for hazard in summary.hazards.iter().take(ROWS) {
        _ = writeln!(text, "{BAD}hazard:{BAD:#} {}", hazard.to_string().trim_start_matches("hazard "));
    }
    if summary.hazards.len() > ROWS {
        _ = writeln!(text, "and {} more hazards; --json has all of them", summary.hazards.len() - ROWS);
    }
    if summary.unpaired_flags > 0 {
        _ = writeln!(
            text,
            "{NOTE}note:{NOTE:#} {} {} set and never waited for",
            counted(summary.unpaired_flags as usize, "flag"),
            if summary.unpaired_flags == 1 { "is" } else { "are" }
        );
    }
    for file in &written.missing_sources {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} the text of {file} is not known, so its lines are not shown");
    }
    _ = writeln!(text, "{GOOD}bottleneck:{GOOD:#} {}", summary.bottleneck);
    let directory = written.directory.display();
    _ = writeln!(text, "{NOTE}written:{NOTE:#} {directory}");
    _ = writeln!(text, "  MindStudio Insight opens {directory}/visualize_data.bin or trace.json,");
    _ = writeln!(text, "  Perfetto opens {directory}/perfetto.pftrace or perfetto.json");
    text
}

fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// How busy each pipe is, core by core; of many cores that do the same, the longest.
fn pipes(summary: &Summary) -> Table {
    let mut table = table::plain(&["CORE", "PIPE", "INSTRUCTIONS", "WORKS", "WAITS", "BUSY", ""]);
    let mut cores: Vec<_> = summary.cores.iter().collect();
    cores.sort_by_key(|core| std::cmp::Reverse(core.cycles));
    cores.truncate(ROWS);
    for core in cores {
        for track in &core.tracks {
            table.add_row([
                core.name.clone(),
                track.track.clone(),
                track.instructions.to_string(),
                (track.busy_cycles - track.waiting_cycles).to_string(),
                track.waiting_cycles.to_string(),
                format!("{:.0} %", track.share * 100.0),
                "█".repeat((track.share * BAR as f64).round() as usize),
            ]);
        }
    }
    if summary.cores.len() > ROWS {
        let more = summary.cores.len() - ROWS;
        table.add_row([format!("and {} that end sooner", counted(more, "core"))]);
    }
    right(&mut table, 2..6);
    table
}

fn chain(summary: &Summary) -> String {
    let chain = &summary.critical_chain;
    let mut parts: Vec<String> = chain
        .tracks
        .iter()
        .take(ROWS)
        .map(|track| format!("{} of {} {}", track.track, track.core, track.cycles))
        .collect();
    if chain.issue_cycles > 0 {
        parts.push(format!("waiting for issue {}", chain.issue_cycles));
    }
    format!(
        "critical chain: {} of {} instructions decide the length; cycles: {}\n",
        chain.steps,
        summary.instructions,
        parts.join(", ")
    )
}

fn top(summary: &Summary) -> Table {
    let mut table = table::plain(&["CYCLES", "CALLS", "INSTRUCTION", "PIPE", "SOURCE"]);
    for row in summary.top.iter().take(ROWS) {
        table.add_row([
            row.cycles.to_string(),
            row.calls.to_string(),
            row.instruction.to_owned(),
            row.track.to_owned(),
            row.source.clone(),
        ]);
    }
    right(&mut table, 0..2);
    table
}

fn bytes(summary: &Summary) -> Table {
    let mut table = table::plain(&["MOVED", "BYTES", "CYCLES", "BYTES PER CYCLE"]);
    for row in &summary.bytes {
        table.add_row([
            row.path.to_owned(),
            row.bytes.to_string(),
            row.cycles.to_string(),
            format!("{:.1}", row.bytes as f64 / row.cycles.max(1) as f64),
        ]);
    }
    right(&mut table, 1..4);
    table
}

fn right(table: &mut Table, columns: std::ops::Range<usize>) {
    for column in table.column_iter_mut().skip(columns.start).take(columns.len()) {
        column.set_cell_alignment(CellAlignment::Right);
    }
}
