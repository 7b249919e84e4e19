//! `argus verify`: whether a dump is true.

use std::fmt::Write;
use std::process::ExitCode;

use argus_dump::read::Dump;
use argus_dump::verify::{Defect, Severity, Verdict};
use serde_json::{Value, json};

use crate::bar::bar;
use crate::cli::VerifyArgs;
use crate::failure::{FAILED, Failure};
use crate::output::{BAD, GOOD, NOTE, counted};
use crate::{input, output, schema};

pub fn verify(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let dump = input::open(args.dump.as_deref())?;
    let bar = bar("verifying", 0, args.json);
    let verdict = argus_dump::verify::verify(&dump, |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    if args.json {
        output::print_json(&object(&dump, &verdict))?;
    } else {
        output::print(&text(&dump, &verdict))?;
    }
    Ok(if verdict.is_sound() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn text(dump: &Dump, verdict: &Verdict) -> String {
    let mut text = String::new();
    let checked = &verdict.checked;
    _ = writeln!(text, "{} ({})", dump.directory().display(), dump.format_version());
    _ = writeln!(
        text,
        "checked {}, {} with {}, {}, {}, {}",
        counted(checked.records, "record"),
        counted(checked.payloads, "payload"),
        counted(checked.payload_bytes, "byte"),
        counted(checked.checksums, "checksum"),
        counted(checked.tasks, "task"),
        counted(checked.edges, "edge"),
    );
    for note in dump.notes() {
        _ = writeln!(text, "{NOTE}note:{NOTE:#} {note}");
    }
    for defect in &verdict.defects {
        let place = defect.record.map_or(String::new(), |record| format!("record {record}: "));
        _ = match defect.severity {
            Severity::Defect => writeln!(text, "{BAD}defect:{BAD:#} {place}{}", defect.message),
            Severity::Loss => writeln!(text, "{BAD}loss:{BAD:#} {place}{}", defect.message),
            Severity::Warning => writeln!(text, "{NOTE}warning:{NOTE:#} {place}{}", defect.message),
        };
    }
    let counted = |severity, noun| counted(count(verdict, severity), noun);
    let warnings = counted(Severity::Warning, "warning");
    let losses = counted(Severity::Loss, "loss");
    _ = match [Severity::Defect, Severity::Loss, Severity::Warning].map(|severity| count(verdict, severity)) {
        [0, 0, 0] => writeln!(text, "\n{GOOD}SOUND{GOOD:#}"),
        [0, 0, _] => writeln!(text, "\n{GOOD}SOUND{GOOD:#}  {warnings}"),
        [0, _, _] => writeln!(text, "\n{BAD}INCOMPLETE{BAD:#}  {losses}, {warnings}"),
        _ => {
            let defects = counted(Severity::Defect, "defect");
            writeln!(text, "\n{BAD}DEFECTIVE{BAD:#}  {defects}, {losses}, {warnings}")
        }
    };
    text
}

fn count(verdict: &Verdict, severity: Severity) -> u64 {
    verdict.defects.iter().filter(|defect| defect.severity == severity).count() as u64
}

fn object(dump: &Dump, verdict: &Verdict) -> Value {
    let checked = &verdict.checked;
    let defect = |defect: &Defect| {
        json!({
            "severity": match defect.severity {
                Severity::Defect => "defect",
                Severity::Loss => "loss",
                Severity::Warning => "warning",
            },
            "record": defect.record,
            "message": defect.message,
        })
    };
    json!({
        "schema": schema::VERIFY,
        "dump": dump.directory().display().to_string(),
        "format_version": dump.format_version().name(),
        "verdict": if verdict.is_sound() { "sound" } else { "defective" },
        "checked": {
            "records": checked.records,
            "payloads": checked.payloads,
            "payload_bytes": checked.payload_bytes,
            "checksums": checked.checksums,
            "tasks": checked.tasks,
            "edges": checked.edges,
        },
        "notes": dump.notes(),
        "defects": verdict.defects.iter().map(defect).collect::<Vec<_>>(),
    })
}
