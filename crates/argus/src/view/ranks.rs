//! A run of many ranks as a table: what is there of each, and what is missing.

use std::fmt::Write;

use argus_artefacts::directory::Kind;
use argus_runs::RunTree;
use argus_runs::tree::RankRow;
use serde_json::{Value, json};

use crate::marks::{BAD, NOTE};
use crate::output::counted;
use crate::{schema, table};

pub fn text(tree: &RunTree, chosen: &[usize]) -> String {
    let all = tree.table();
    let rows: Vec<&RankRow> = chosen.iter().map(|&at| &all[at]).collect();
    let mut listed =
        table::plain(&["CAPTURE", "PROGRAM", "FORMAT", "RECORDS", "PAYLOAD", "FILES", "MISSING"]);
    for row in &rows {
        let glance = &row.glance;
        listed.add_row([
            row.label.clone(),
            row.program.clone().unwrap_or_default(),
            glance.version.map_or("none".to_owned(), |version| version.to_string()),
            glance.records.map_or(String::new(), |records| records.to_string()),
            glance.payload_bytes.to_string(),
            row.kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(" "),
            row.missing.join(", "),
        ]);
    }
    let mut text = table::lines(&listed);
    let records: u64 = rows.iter().filter_map(|row| row.glance.records).sum();
    let bytes: u64 = rows.iter().map(|row| row.glance.payload_bytes).sum();
    let (captures, records) = (counted(rows.len() as u64, "capture"), counted(records, "record"));
    _ = writeln!(text, "\n{captures}, {records}, {bytes} bytes of payload");
    if !tree.ranks.missing.is_empty() {
        _ = writeln!(text, "{BAD}missing:{BAD:#} {}", tree.ranks.missing.join(", "));
    }
    let incomplete = rows.iter().filter(|row| !row.missing.is_empty()).count() as u64;
    if incomplete > 0 {
        _ = writeln!(text, "{BAD}incomplete:{BAD:#} {}", counted(incomplete, "capture"));
    }
    for capture in chosen.iter().map(|&at| tree.capture(at)) {
        for problem in &capture.problems {
            _ = writeln!(text, "{NOTE}note:{NOTE:#} {}: {problem}", capture.label());
        }
    }
    let directory = tree.directory.display();
    _ = writeln!(
        text,
        "{NOTE}next:{NOTE:#} argus find {directory} --across, argus view {directory} --rank N"
    );
    text
}

pub fn object(tree: &RunTree, chosen: &[usize]) -> Value {
    let all = tree.table();
    let row = |at: usize| {
        let row: &RankRow = &all[at];
        json!({
            "capture": row.label,
            "directory": row.directory.display().to_string(),
            "program": row.program,
            "format_version": row.glance.version.map(|version| version.name()),
            "records": row.glance.records,
            "dropped_records": row.glance.dropped,
            "payload_bytes": row.glance.payload_bytes,
            "files": row.kinds.iter().copied().map(Kind::name).collect::<Vec<_>>(),
            "missing": row.missing,
            "problems": tree.capture(at).problems,
        })
    };
    json!({
        "schema": schema::RANKS,
        "run": tree.directory.display().to_string(),
        "captures": chosen.iter().map(|&at| row(at)).collect::<Vec<_>>(),
        "missing_ranks": tree.ranks.missing,
    })
}
