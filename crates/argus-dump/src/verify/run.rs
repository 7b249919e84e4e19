//! Does run.json agree with the records, and are the files those that it speaks of?

use std::collections::BTreeSet;

use argus_abi::Kind;
use argus_facts::{RingLedger, with_causes};
use serde_json::{Map, Value};
use xxhash_rust::xxh3::Xxh3;

use super::findings::Findings;
use crate::journal::{Entry, Tail};
use crate::map::Bytes;
use crate::read::{Dump, Ending, FormatVersion, Records, RunFacts, Table};
use crate::run_file::{OLD_SCHEMA, SCHEMA};
use crate::{GRAPH_FILE, MANIFEST_FILE, RUN_FILE, RunStatus, TIMELINE_FILE};

const KIND: &str = "differences between run.json and the records";

pub(super) fn check(dump: &Dump, findings: &mut Findings) {
    if dump.format_version() != FormatVersion::Argus {
        return;
    }
    match dump.run_file() {
        Some(run) => {
            itself(run, findings);
            status(dump, run, findings);
            if let Records::Journal(table) = dump.source() {
                ledger(table, run, findings);
            }
            if !run.records.is_empty() {
                totals(dump, run, findings);
            }
            digests(dump, run, findings);
        }
        // One that cannot be read was told already.
        None if dump.beside(RUN_FILE).is_err() => {
            findings.defect("missing files", None, || format!("{RUN_FILE} is missing"));
        }
        None => {}
    }
    timeline(dump, findings);
}

/// The file by itself: its schema and its own checksum.
fn itself(run: &RunFacts, findings: &mut Findings) {
    let mut defect = |message: String| findings.defect("damaged files", None, || message);
    match (run.schema.as_str(), run.intact) {
        (_, Some(false)) => defect(format!("{RUN_FILE} was changed: its checksum does not fit")),
        (SCHEMA, None) => defect(format!("{RUN_FILE} has no checksum; files of its schema have one")),
        (SCHEMA | OLD_SCHEMA, _) => {}
        (other, _) => {
            defect(format!("the schema of {RUN_FILE} is '{other}'; known are {OLD_SCHEMA} and {SCHEMA}"));
        }
    }
}

fn status(dump: &Dump, run: &RunFacts, findings: &mut Findings) {
    let own = match dump.ending() {
        Ending::Complete => RunStatus::Complete.name(),
        Ending::Failed { .. } => RunStatus::Failed.name(),
        Ending::Unfinished { .. } if run.status == "running" => "running",
        Ending::Unfinished { .. } => RunStatus::Unfinished.name(),
        Ending::Unknown => RunStatus::Unknown.name(),
    };
    if run.status != own {
        findings.defect(KIND, None, || {
            format!("{RUN_FILE} says that the run is {}, the records that it is {own}", run.status)
        });
    }
}

/// What each ring lost and waited for.
fn ledger(table: &Table, run: &RunFacts, findings: &mut Findings) {
    let journal = table.journal();
    if journal.tail() != Tail::Ended || run.ledger.is_empty() {
        return;
    }
    let number = |of: &Value, key: &str| of.get(key).and_then(Value::as_u64);
    // Older files call them lanes.
    let rings = run.ledger.get("rings").or_else(|| run.ledger.get("lanes")).and_then(Value::as_array);
    let rings = rings.map_or(&[][..], Vec::as_slice);
    let told: Vec<Option<RingLedger>> = (rings.iter())
        .map(|ring| {
            Some(RingLedger {
                lost_entries: number(ring, "lost_entries")?,
                lost_bytes: number(ring, "lost_bytes")?,
                waits: number(ring, "waits")?,
                wait_ns: number(ring, "wait_ns")?,
                ..RingLedger::default()
            })
        })
        .collect();
    let own: Vec<Option<RingLedger>> = (journal.entries())
        .filter_map(|entry| match entry {
            Entry::Loss(loss) => Some(Some(RingLedger {
                lost_entries: loss.lost_entries,
                lost_bytes: loss.lost_bytes,
                waits: loss.waits,
                wait_ns: loss.wait_ns,
                ..RingLedger::default()
            })),
            _ => None,
        })
        .collect();
    let sum = |of: fn(&RingLedger) -> u64| {
        own.iter().flatten().map(of).fold(0u64, |sum, count| sum.saturating_add(count))
    };
    let run_ledger = Value::Object(run.ledger.clone());
    let same_sums = number(&run_ledger, "lost_entries") == Some(sum(|ring| ring.lost_entries))
        && number(&run_ledger, "lost_bytes") == Some(sum(|ring| ring.lost_bytes));
    if told != own || !same_sums {
        findings.defect(KIND, None, || format!("the ledger of {RUN_FILE} is not that of the journal"));
    }
}

/// The counts of records and bytes.
fn totals(dump: &Dump, run: &RunFacts, findings: &mut Findings) {
    let (mut tensors, mut scalars, mut partial, mut shared) = (0u64, 0u64, 0u64, 0u64);
    for record in dump.records() {
        tensors += u64::from(record.kind == Kind::Tensor);
        scalars += u64::from(record.kind == Kind::Scalar);
        partial += u64::from(record.partial);
        shared += u64::from(record.shared);
    }
    let mut found = vec![
        ("total", dump.len() as u64),
        ("tensors", tensors),
        ("scalars", scalars),
        ("partial", partial),
        ("skipped", dump.losses().skipped.len() as u64),
    ];
    found.extend(dump.payload_file_len().map(|len| ("stored_bytes", len)));
    if let Records::Journal(table) = dump.source() {
        let came = (0..table.len()).map(|index| table.raw(index).head.payload_bytes);
        found.push(("payload_bytes", came.fold(0, u64::saturating_add)));
        found.push(("shared", shared));
    }
    for (name, found) in found {
        let told = run.records.get(name).and_then(Value::as_u64);
        if told != Some(found) {
            findings.defect(KIND, None, || match told {
                Some(told) => format!("{RUN_FILE} counts {told} for {name}, the dump has {found}"),
                None => format!("{RUN_FILE} has no count of {name}, the dump has {found}"),
            });
        }
    }
}

/// Files that were written at the end, by length and checksum.
fn digests(dump: &Dump, run: &RunFacts, findings: &mut Findings) {
    let kind = "files that are not those that were written";
    for name in [MANIFEST_FILE, GRAPH_FILE, TIMELINE_FILE] {
        let Some((bytes, checksum)) = digest(&run.files, name) else {
            if run.files.contains_key(name) {
                findings.defect(kind, None, || format!("{RUN_FILE} has no length and checksum for {name}"));
            }
            continue;
        };
        match dump.beside(name) {
            Ok((_, content)) if content.len() as u64 != bytes => findings
                .defect(kind, None, || format!("{name} has {} bytes; {bytes} were written", content.len())),
            Ok((_, content)) if hash(&content) != checksum => {
                findings.defect(kind, None, || format!("{name} was changed: its checksum does not fit"));
            }
            Ok(_) => {}
            Err(error) => {
                findings.defect(kind, None, || format!("{name} was written, but {}", with_causes(&error)));
            }
        }
    }
}

fn hash(content: &Bytes) -> u128 {
    let mut hash = Xxh3::new();
    content.pieces().for_each(|piece| hash.update(piece));
    hash.digest128()
}

fn digest(files: &Map<String, Value>, name: &str) -> Option<(u64, u128)> {
    let file = files.get(name)?;
    let checksum = file.get("xxh3_128")?.as_str()?;
    Some((file.get("bytes")?.as_u64()?, u128::from_str_radix(checksum, 16).ok()?))
}

/// The times of the run: readable, and of tasks that there are.
fn timeline(dump: &Dump, findings: &mut Findings) {
    let kind = "times that do not fit the tasks";
    let times = match dump.times() {
        Ok(Some(times)) => times,
        Ok(None) => return,
        Err(error) => return findings.defect("damaged files", None, || with_causes(&error)),
    };
    let Some(graph) = dump.own_graph() else { return };
    let mut told = BTreeSet::new();
    for core in &times.cores {
        for part in &core.parts {
            let known = graph
                .task(part.task)
                .is_some_and(|task| task.func_ids.iter().any(|&id| i64::from(id) == i64::from(part.func.0)));
            if !known && told.insert(part.task) {
                findings.defect(kind, None, || {
                    format!(
                        "{TIMELINE_FILE} has task {} with kernel {} on core {}, which the graph does not have",
                        part.task, part.func.0, core.core
                    )
                });
            }
        }
    }
}
