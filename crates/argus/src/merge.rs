//! `argus merge`: the reports of all shards of a command joined into the one that a single process would have printed.

use std::collections::BTreeSet;
use std::process::ExitCode;

use argus_files::LARGEST_TEXT;
use serde_json::{Value, json};

use crate::cli::MergeArgs;
use crate::failure::Failure;
use crate::find::{self, impossible};
use crate::{schema, verify};

/// Reports hold what was seen of every task that differs, and may be long.
const LARGEST: u64 = 16 * LARGEST_TEXT;

pub fn merge(args: &MergeArgs) -> Result<ExitCode, Failure> {
    let mut reports: Vec<Value> = Vec::new();
    for path in &args.reports {
        let cannot =
            |error: anyhow::Error| Failure::usage(error.context(format!("cannot read {}", path.display())));
        let text = argus_files::read(path, LARGEST).map_err(|error| cannot(error.into()))?;
        reports.push(serde_json::from_slice(&text).map_err(|error| cannot(error.into()))?);
    }
    let kinds: BTreeSet<&str> =
        reports.iter().map(|report| report["schema"].as_str().unwrap_or("no report")).collect();
    let kind = match kinds.into_iter().collect::<Vec<_>>()[..] {
        [kind] => kind.to_owned(),
        ref several => {
            return Err(impossible(format!(
                "reports of different kinds do not merge: {}",
                several.join(", ")
            )));
        }
    };
    check_shards(&reports)?;
    match kind.as_str() {
        schema::ACROSS => find::tell_across(&find::merge_across(reports)?, args.json),
        schema::FIND_RANKS => find::tell_ranks(&joined(reports)?, args.json),
        schema::VERIFY_RANKS => verify::tell_ranks(&joined(reports)?, args.json),
        other => Err(impossible(format!("'{other}' is no report of a shard")).hint(
            "reports come from `argus verify --shard I/N --json` and `argus find --shard I/N --json`"
                .to_owned(),
        )),
    }
}

/// Every part once, and none missing.
fn check_shards(reports: &[Value]) -> Result<(), Failure> {
    let part = |report: &Value| {
        let number = |key: &str| report["shard"][key].as_u64();
        number("index").zip(number("count"))
    };
    let mut seen = BTreeSet::new();
    let mut count = None;
    for report in reports {
        let Some((index, of)) = part(report) else {
            return Err(impossible("a report does not say which part of the work it is".to_owned()));
        };
        if *count.get_or_insert(of) != of {
            return Err(impossible("the reports are parts of different divisions of the work".to_owned()));
        }
        if !seen.insert(index) {
            return Err(impossible(format!("part {index} of {of} is there twice")));
        }
    }
    let of = count.unwrap_or(0);
    let missing: Vec<String> =
        (1..=of).filter(|index| !seen.contains(index)).map(|index| index.to_string()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(impossible(format!("part {} of {of} is missing", missing.join(", "))))
}

/// Captures of all parts in one list, in the order in which one process would have listed them.
fn joined(mut reports: Vec<Value>) -> Result<Value, Failure> {
    reports.sort_by_key(|report| report["shard"]["index"].as_u64());
    let mut whole = reports.first().cloned().unwrap_or_default();
    for key in ["run", "missing_ranks", "without_partner"] {
        if reports.iter().any(|report| report[key] != whole[key]) {
            return Err(impossible("the reports are of different runs".to_owned()));
        }
    }
    // Part i of n has every n-th capture, beginning with the i-th.
    let lists: Vec<Vec<Value>> =
        reports.iter().map(|report| report["captures"].as_array().cloned().unwrap_or_default()).collect();
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let captures: Vec<Value> =
        (0..longest).flat_map(|row| lists.iter().filter_map(move |list| list.get(row).cloned())).collect();
    whole["captures"] = captures.into();
    whole["shard"] = json!({ "index": 1, "count": 1 });
    Ok(whole)
}
