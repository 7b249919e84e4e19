//! `argus verify`: whether a dump is true.

use std::fmt::Write;
use std::process::ExitCode;

use argus_dump::read::Dump;
use argus_dump::verify::{Defect, Severity, Verdict};
use argus_find::across::Shard;
use argus_runs::RunTree;
use argus_runs::capture::Wanted;
use serde_json::{Value, json};

use crate::bar::bar;
use crate::cli::VerifyArgs;
use crate::failure::{FAILED, Failure};
use crate::input::Target;
use crate::marks::{BAD, GOOD, NOTE};
use crate::output::counted;
use crate::{input, output, ranks, schema, table};

pub fn verify(args: &VerifyArgs) -> Result<ExitCode, Failure> {
    let shard = ranks::shard(args.shard.shard.as_deref())?;
    let dump = match input::target(args.dump.as_deref(), args.ranks.rank.as_deref(), Wanted::Graph)? {
        Target::Tree { tree, chosen } => return of_ranks(&tree, &chosen, shard, args.json),
        Target::One(_) if shard.count > 1 => {
            return Err(Failure::usage(anyhow::anyhow!(
                "--shard shares out the ranks of a run, and this is one capture"
            )));
        }
        Target::One(capture) => capture.dump,
    };
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

/// All chosen ranks, and one summary.
fn of_ranks(tree: &RunTree, chosen: &[usize], shard: Shard, json: bool) -> Result<ExitCode, Failure> {
    let mine = ranks::share(chosen, shard);
    let told = ranks::each(tree, &mine, ("verifying", json), |capture| {
        let verdict = argus_dump::verify::verify(&capture.dump, |_, _| {});
        Ok(object(&capture.dump, &verdict))
    });
    let captures = told.into_iter().map(|rank| {
        let mut object = rank
            .told
            .unwrap_or_else(|failure| json!({ "verdict": "unreadable", "error": failure.message() }));
        object["capture"] = rank.label.into();
        object
    });
    let report = json!({
        "schema": schema::VERIFY_RANKS,
        "run": tree.directory.display().to_string(),
        "shard": ranks::shard_object(shard),
        "missing_ranks": tree.ranks.missing,
        "captures": captures.collect::<Vec<_>>(),
    });
    tell_ranks(&report, json)
}

/// Prints a report on many ranks, of one process or merged out of shards.
pub fn tell_ranks(report: &Value, json: bool) -> Result<ExitCode, Failure> {
    if json {
        output::print_json(report)?;
    } else {
        output::print(&ranks_text(report))?;
    }
    let captures = report["captures"].as_array().map_or(&[][..], Vec::as_slice);
    let sound = captures.iter().all(|capture| capture["verdict"] == "sound");
    let whole = report["missing_ranks"].as_array().is_none_or(Vec::is_empty);
    Ok(if sound && whole { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

fn ranks_text(report: &Value) -> String {
    let captures = report["captures"].as_array().map_or(&[][..], Vec::as_slice);
    let mut rows = table::plain(&["CAPTURE", "RECORDS", "PAYLOAD BYTES", "VERDICT", "FIRST DEFECT"]);
    let mut bad = 0;
    for capture in captures {
        let number =
            |key: &str| capture["checked"][key].as_u64().map_or(String::new(), |number| number.to_string());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let first = capture["defects"].as_array().and_then(|defects| {
            defects
                .iter()
                .find(|defect| defect["severity"] != "warning")
                .map(|defect| text(&defect["message"]))
        });
        bad += u64::from(capture["verdict"] != "sound");
        rows.add_row([
            text(&capture["capture"]),
            number("records"),
            number("payload_bytes"),
            text(&capture["verdict"]),
            first.unwrap_or_else(|| text(&capture["error"])),
        ]);
    }
    let mut told = table::lines(&rows);
    let missing = report["missing_ranks"].as_array().map_or(&[][..], Vec::as_slice);
    if !missing.is_empty() {
        let names: Vec<&str> = missing.iter().filter_map(Value::as_str).collect();
        _ = writeln!(told, "{BAD}missing:{BAD:#} {}", names.join(", "));
    }
    let all = counted(captures.len() as u64, "capture");
    _ = match (bad, missing.is_empty()) {
        (0, true) => writeln!(told, "\n{GOOD}SOUND{GOOD:#}  {all}"),
        (0, false) => writeln!(told, "\n{BAD}INCOMPLETE{BAD:#}  {all} sound, and ranks are missing"),
        _ => writeln!(told, "\n{BAD}DEFECTIVE{BAD:#}  {bad} of {all}"),
    };
    told
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
