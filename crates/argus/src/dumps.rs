//! `argus dumps`: the runs there are, and how to be rid of old ones.

use std::io::{ErrorKind, IsTerminal, Write, stdin, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use anyhow::anyhow;
use argus_dump::read::OpenError;
use argus_dump::runs::{self, Run};
use argus_facts::with_causes;
use serde_json::{Value, json};

use crate::cli::DumpsArgs;
use crate::failure::{FAILED, Failure};
use crate::marks::NOTE;
use crate::output::counted;
use crate::settings::settings;
use crate::{output, schema, table};

const DAY: u64 = 24 * 60 * 60;

pub fn dumps(args: &DumpsArgs) -> Result<ExitCode, Failure> {
    let outputs = args.directory.as_deref().unwrap_or(&settings().outputs);
    let now = SystemTime::now();
    let all = runs::runs(outputs).map_err(|error| cannot_list(outputs, error))?;
    if !args.remove {
        return list(outputs, &all, now, args.json);
    }
    let oldest = args.older_than.as_deref().map(age).transpose()?;
    if oldest.is_none() && args.keep.is_none() {
        return Err(Failure::usage(anyhow!("--remove does not say which runs")).hint(
            "--older-than 7d removes what is older than a week, --keep 5 all but the newest five".to_owned(),
        ));
    }
    let old = |number: usize, run: &Run| {
        let beyond = args.keep.is_none_or(|keep| number >= keep);
        beyond && oldest.is_none_or(|oldest| since(run.written, now) > oldest)
    };
    let chosen: Vec<&Run> =
        all.iter().enumerate().filter(|(number, run)| old(*number, run)).map(|(_, run)| run).collect();
    remove(&chosen, now, args)
}

/// A directory of runs that is not there or cannot be read.
fn cannot_list(outputs: &Path, error: OpenError) -> Failure {
    let error = match error {
        OpenError::Io { source, .. } if source.kind() == ErrorKind::NotFound => {
            anyhow!("there is no directory {}", outputs.display())
        }
        other => other.into(),
    };
    Failure::usage(error).hint(
        "runs are listed from there; `argus dumps DIR` and the variable ARGUS_OUTPUTS name another"
            .to_owned(),
    )
}

fn list(outputs: &Path, all: &[Run], now: SystemTime, json: bool) -> Result<ExitCode, Failure> {
    if json {
        let runs: Vec<Value> = all.iter().map(|run| object(run, now)).collect();
        output::print_json(&json!({
            "schema": schema::DUMPS,
            "directory": outputs.display().to_string(),
            "runs": runs,
        }))?;
    } else if all.is_empty() {
        output::print(&format!("no runs in {}\n", outputs.display()))?;
    } else {
        output::print(&text(all, now))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn text(all: &[Run], now: SystemTime) -> String {
    let mut rows = table::plain(&["RUN", "AGE", "SIZE", "RECORDS", "ENDED", "VERDICT"]);
    for run in all {
        rows.add_row([
            run.path.display().to_string(),
            spoken(since(run.written, now)),
            size(run.bytes),
            run.records.to_string(),
            run.ended.to_owned(),
            run.verdict.as_ref().map_or("-".to_owned(), ToString::to_string),
        ]);
    }
    let total = all.iter().map(|run| run.bytes).sum();
    format!("{}\n{}, {}\n", table::lines(&rows), counted(all.len() as u64, "run"), size(total))
}

fn object(run: &Run, now: SystemTime) -> Value {
    json!({
        "directory": run.path.display().to_string(),
        "dumps": run.dumps.iter().map(|dump| dump.display().to_string()).collect::<Vec<_>>(),
        "bytes": run.bytes,
        "age_seconds": since(run.written, now).as_secs(),
        "records": run.records,
        "ended": run.ended,
        "verdict": run.verdict.as_ref().map(|verdict| &verdict.verdict),
        "command": run.verdict.as_ref().map(|verdict| &verdict.command),
        "task_id": run.verdict.as_ref().and_then(|verdict| verdict.task_id.clone()),
        "kernel": run.verdict.as_ref().and_then(|verdict| verdict.kernel.clone()),
    })
}

/// Removes runs after the user agreed. Those that hold anything that a run does not have stay, with the reason.
fn remove(chosen: &[&Run], now: SystemTime, args: &DumpsArgs) -> Result<ExitCode, Failure> {
    if !args.yes && !chosen.is_empty() && !agreed(chosen, now, args.json)? {
        return Ok(ExitCode::SUCCESS);
    }
    let (mut removed, mut kept, mut bytes) = (Vec::new(), Vec::new(), 0);
    for run in chosen {
        match runs::remove(&run.path) {
            Ok(()) => {
                bytes += run.bytes;
                removed.push(run.path.display().to_string());
            }
            Err(error) => kept.push((run.path.display().to_string(), with_causes(&error))),
        }
    }
    if args.json {
        let kept: Vec<Value> =
            kept.iter().map(|(run, why)| json!({ "directory": run, "why": why })).collect();
        output::print_json(&json!({
            "schema": schema::DUMPS,
            "removed": removed,
            "removed_bytes": bytes,
            "kept": kept,
        }))?;
    } else {
        let mut text = String::new();
        for run in &removed {
            text += &format!("removed {run}\n");
        }
        for (run, why) in &kept {
            text += &format!("{NOTE}kept{NOTE:#} {run}: {why}\n");
        }
        text += &format!("{} removed, {}\n", counted(removed.len() as u64, "run"), size(bytes));
        output::print(&text)?;
    }
    Ok(if kept.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}

/// Asks on a terminal; elsewhere only `--yes` agrees.
fn agreed(chosen: &[&Run], now: SystemTime, json: bool) -> Result<bool, Failure> {
    let runs = counted(chosen.len() as u64, "run");
    let bytes = size(chosen.iter().map(|run| run.bytes).sum());
    if json || !stdin().is_terminal() || !stdout().is_terminal() {
        return Err(Failure::usage(anyhow!("{runs} with {bytes} would be removed"))
            .hint("--yes removes them without asking".to_owned()));
    }
    let list: String = chosen
        .iter()
        .map(|run| {
            format!("  {} ({}, {})\n", run.path.display(), spoken(since(run.written, now)), size(run.bytes))
        })
        .collect();
    output::print(&format!("{list}Remove {runs} with {bytes}? [y/N] "))?;
    stdout().flush().map_err(Failure::failed)?;
    let mut answer = String::new();
    stdin().read_line(&mut answer).map_err(Failure::failed)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn since(written: SystemTime, now: SystemTime) -> Duration {
    // A clock that was set back makes a file of the future; it is new.
    now.duration_since(written).unwrap_or_default()
}

/// `30s`, `15m`, `6h`, `7d` or `2w`.
fn age(text: &str) -> Result<Duration, Failure> {
    let units = [("s", 1), ("m", 60), ("h", 3600), ("d", DAY), ("w", 7 * DAY)];
    let seconds = units
        .iter()
        .find_map(|(unit, seconds)| text.strip_suffix(unit)?.parse::<u64>().ok()?.checked_mul(*seconds));
    seconds
        .map(Duration::from_secs)
        .ok_or_else(|| Failure::usage(anyhow!("'{text}' is not an age; write 30s, 15m, 6h, 7d or 2w")))
}

fn spoken(age: Duration) -> String {
    match age.as_secs() {
        seconds @ ..60 => format!("{seconds} s"),
        seconds @ ..3600 => format!("{} min", seconds / 60),
        seconds @ ..172_800 => format!("{} h", seconds / 3600),
        seconds => format!("{} days", seconds / DAY),
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        ..1024 => format!("{bytes} B"),
        1024..0x10_0000 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        0x10_0000..0x4000_0000 => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        _ => format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_and_sizes_are_short() {
        assert_eq!(age("7d").unwrap(), Duration::from_secs(7 * DAY));
        assert_eq!(age("15m").unwrap(), Duration::from_secs(900));
        for text in ["", "7", "d", "-1d", "1y", "99999999999999999999d"] {
            assert!(age(text).is_err(), "{text}");
        }
        let seconds = |seconds| spoken(Duration::from_secs(seconds));
        assert_eq!(
            [seconds(59), seconds(3599), seconds(DAY), seconds(3 * DAY)],
            ["59 s", "59 min", "24 h", "3 days"]
        );
        assert_eq!([size(1023), size(1536), size(3 << 30)], ["1023 B", "1.5 KiB", "3.0 GiB"]);
    }
}
