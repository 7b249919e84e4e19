//! Do journal, manifest and graph.json say the same, and do the counts fit?

use argus_abi::{Role, Stage};
use argus_facts::{Graph, with_causes};

use super::findings::Findings;
use crate::journal::{Entry, Tail};
use crate::read::{Dump, Ending, FormatVersion, Listed, Record, Records, Table, parse_graph};
use crate::{GRAPH_FILE, JOURNAL_FILE, MANIFEST_FILE};

pub(super) fn check(dump: &Dump, findings: &mut Findings) {
    for damage in dump.damage() {
        findings.defect("damaged files", None, || damage.clone());
    }
    losses(dump, findings);
    match dump.source() {
        Records::Manifest { listed, .. } => {
            claims(listed, MANIFEST_WORD, findings);
            if listed.version == FormatVersion::Argus && dump.beside(JOURNAL_FILE).is_err() {
                findings.defect("missing files", None, || format!("{JOURNAL_FILE} is missing"));
            }
        }
        Records::Journal(table) => {
            tail(dump, table, findings);
            end_entry(dump, table, findings);
            run_ids(dump, table, findings);
            // Both are there before the journal's end is.
            if table.journal().tail() == Tail::Ended {
                manifest(dump, table, findings);
                graph_file(dump, table, findings);
            }
        }
    }
}

/// What ends the journal.
fn tail(dump: &Dump, table: &Table, findings: &mut Findings) {
    let journal = table.journal();
    let behind = journal.behind_end();
    if behind > 0 {
        findings.defect("damaged files", None, || format!("{behind} bytes follow the end of the journal"));
    }
    match journal.tail() {
        Tail::Damaged { at, why } => {
            findings.defect("damaged files", None, || format!("the journal is damaged at byte {at}: {why}"));
        }
        // A run that could not write its end may have told why in run.json.
        Tail::Open | Tail::Torn { .. } if !matches!(dump.ending(), Ending::Unfinished { .. }) => {
            findings.loss("runs without an end", None, || "the journal has no end".to_owned());
        }
        Tail::Open | Tail::Torn { .. } | Tail::Ended => {}
    }
}

const MANIFEST_WORD: &str = "the manifest";

/// What the dump says about itself.
fn losses(dump: &Dump, findings: &mut Findings) {
    if let Ending::Unfinished { why } = dump.ending() {
        findings.loss("runs without an end", None, || why.clone());
    }
    let losses = dump.losses();
    if losses.dropped_records > 0 {
        findings.loss("losses", None, || {
            format!(
                "{} records with {} bytes were dropped during the run",
                losses.dropped_records, losses.dropped_bytes
            )
        });
    }
    for skip in &losses.skipped {
        findings.loss("skipped arguments", None, || {
            let what = skip.arg_index.map_or_else(String::new, |arg| format!("argument {arg} of "));
            format!("{what}task {} was skipped, {}: {}", skip.task_id, skip.stage, skip.reason)
        });
    }
}

/// Counts in the head of a manifest against its entries.
fn claims(listed: &Listed, whose: &str, findings: &mut Findings) {
    let count = |test: &dyn Fn(&Record) -> bool| {
        (0..listed.len()).filter(|&index| test(&listed.record(index))).count() as u64
    };
    let claims = &listed.head.claims;
    let role = |role: Role| move |record: &Record| record.role == role;
    let stage = |stage: Stage| move |record: &Record| record.stage == stage;
    for (name, claimed, found) in [
        ("records", claims.total, listed.len() as u64),
        ("records before dispatch", claims.before, count(&stage(Stage::BeforeDispatch))),
        ("records after completion", claims.after, count(&stage(Stage::AfterCompletion))),
        ("inputs", claims.input, count(&role(Role::Input))),
        ("outputs", claims.output, count(&role(Role::Output))),
        ("inouts", claims.inout, count(&role(Role::Inout))),
        ("truncated records", claims.truncated, count(&|record| record.truncated)),
        ("overwritten records", claims.overwritten, count(&|record| record.overwritten)),
    ] {
        if let Some(claimed) = claimed.filter(|&claimed| claimed != found) {
            findings.defect("counts that do not fit", None, || {
                format!("{whose} announces {claimed} {name} and has {found}")
            });
        }
    }
}

/// Counts in the journal's end against its entries.
fn end_entry(dump: &Dump, table: &Table, findings: &mut Findings) {
    let journal = table.journal();
    let Some(Entry::End(end)) = journal.len().checked_sub(1).and_then(|last| journal.get(last)) else {
        return;
    };
    let graph = table.graph();
    for (name, claimed, found) in [
        ("records", end.records, dump.len() as u64),
        ("tasks", end.tasks, graph.tasks.len() as u64),
        ("edges", end.edges, graph.edges.len() as u64),
        ("skipped arguments", end.skipped, dump.losses().skipped.len() as u64),
    ] {
        if claimed != found {
            findings.defect("counts that do not fit", None, || {
                format!("the journal's end announces {claimed} {name}, the journal has {found}")
            });
        }
    }
    if let Some(len) = dump.payload_file_len().filter(|&len| len != end.stored_bytes) {
        findings.defect("counts that do not fit", None, || {
            format!("the journal's end announces {} bytes of payload, the file has {len}", end.stored_bytes)
        });
    }
}

fn run_ids(dump: &Dump, table: &Table, findings: &mut Findings) {
    let own = format!("{:032x}", table.journal().run_id());
    if let Some(run) = dump.run()
        && !run.run_id.is_empty()
        && run.run_id != own
    {
        findings.defect("files of different runs", None, || {
            format!("run.json is about run {}, the journal about run {own}", run.run_id)
        });
    }
}

/// The manifest against the journal, record by record.
fn manifest(dump: &Dump, table: &Table, findings: &mut Findings) {
    let kind = "differences between journal and manifest";
    let listed = match dump.beside(MANIFEST_FILE) {
        Ok((path, text)) => Listed::parse(&path, &text),
        Err(error) => {
            findings.defect(kind, None, || format!("the journal is complete, but {}", with_causes(&error)));
            return;
        }
    };
    let listed = match listed {
        Ok(listed) => listed,
        Err(error) => {
            findings.defect(kind, None, || with_causes(&error));
            return;
        }
    };
    claims(&listed, MANIFEST_WORD, findings);
    if listed.version != FormatVersion::Argus || listed.len() != table.len() {
        findings.defect(kind, None, || {
            format!("the manifest has {} records, the journal {}", listed.len(), table.len())
        });
        return;
    }
    for index in 0..table.len() {
        let (ours, theirs) = (table.record(index), listed.record(index));
        // Which of two equal payloads came first only the journal knows.
        let theirs = Record { shared: ours.shared, ..theirs };
        if ours != theirs {
            findings.defect(kind, index, || "the manifest's entry is not what the journal says".to_owned());
        }
    }
    // The journal has room for a part of a long name.
    for kernel in &table.graph().kernels {
        let theirs = i32::try_from(kernel.func_id).ok().and_then(|id| listed.kernel_name(id));
        if theirs.is_some_and(|name| !name.starts_with(&kernel.name)) {
            findings.defect(kind, None, || {
                format!("the manifest has another name for kernel {} than the journal", kernel.func_id)
            });
        }
    }
}

fn graph_file(dump: &Dump, table: &Table, findings: &mut Findings) {
    let kind = "differences between journal and graph.json";
    let parsed = match dump.beside(GRAPH_FILE) {
        Ok((_, text)) => parse_graph(&text),
        Err(error) => {
            findings.defect(kind, None, || format!("the journal is complete, but {}", with_causes(&error)));
            return;
        }
    };
    let theirs = match parsed {
        Ok(graph) => graph,
        Err(error) => {
            findings.defect(kind, None, || format!("{GRAPH_FILE} cannot be read: {}", with_causes(&error)));
            return;
        }
    };
    let ours = table.graph();
    let mut differ = |what: &str, same: bool| {
        if !same {
            findings.defect(kind, None, || format!("{GRAPH_FILE} has other {what} than the journal"));
        }
    };
    differ("kernels", same_kernels(ours, &theirs));
    differ("tasks", same_tasks(ours, &theirs));
    differ("edges", ours.edges == theirs.edges);
}

/// The journal has room for a part of a long name or signature.
fn same_kernels(ours: &Graph, theirs: &Graph) -> bool {
    ours.kernels.len() == theirs.kernels.len()
        && ours.kernels.iter().zip(&theirs.kernels).all(|(short, long)| {
            (short.func_id, short.core_type, short.abi) == (long.func_id, long.core_type, long.abi)
                && long.name.starts_with(&short.name)
                && long.signature.starts_with(&short.signature)
        })
}

/// graph.json leaves out the times of a task that was never dispatched.
fn same_tasks(ours: &Graph, theirs: &Graph) -> bool {
    ours.tasks.len() == theirs.tasks.len()
        && ours.tasks.iter().zip(&theirs.tasks).all(|(ours, theirs)| {
            let mut ours = *ours;
            if ours.dispatch_order.is_none() {
                (ours.dispatched_ns, ours.finished_ns) = (0, 0);
            }
            ours == *theirs
        })
}
