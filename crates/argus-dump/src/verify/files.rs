//! Do journal, manifest and graph.json say the same, and do the counts fit?

use std::collections::BTreeMap;
use std::slice;

use argus_abi::{Role, Stage};
use argus_facts::{Edge, Graph, KernelInfo, TaskInfo, with_causes};
use rayon::prelude::*;

use super::findings::Findings;
use crate::journal::{Entry, Tail};
use crate::read::{
    Claims, Dump, Ending, FormatVersion, GraphItem, Record, Records, Rows, Table, parse_graph, walk_graph,
    walk_manifest,
};
use crate::{GRAPH_FILE, JOURNAL_FILE, MANIFEST_FILE};

pub(super) fn check(dump: &Dump, findings: &mut Findings) {
    for damage in dump.damage() {
        findings.defect("damaged files", None, || damage.clone());
    }
    losses(dump, findings);
    match dump.source() {
        Records::Manifest { listed, .. } => {
            let mut counts = Counts::default();
            (0..listed.len()).for_each(|index| counts.add(&listed.record(index)));
            claims(&listed.head.claims, &counts, findings);
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

/// What the entries of a manifest add up to.
#[derive(Default)]
struct Counts {
    total: u64,
    stages: [u64; 2],
    roles: [u64; 3],
    truncated: u64,
    overwritten: u64,
}

impl Counts {
    fn add(&mut self, record: &Record) {
        self.total += 1;
        self.stages[record.stage as usize] += 1;
        self.roles[record.role as usize] += 1;
        self.truncated += u64::from(record.truncated);
        self.overwritten += u64::from(record.overwritten);
    }

    fn joined(mut self, other: &Counts) -> Counts {
        let both = self.stages.iter_mut().zip(other.stages).chain(self.roles.iter_mut().zip(other.roles));
        both.for_each(|(count, more)| *count += more);
        self.total += other.total;
        self.truncated += other.truncated;
        self.overwritten += other.overwritten;
        self
    }
}

/// Counts in the head of a manifest against its entries.
fn claims(claims: &Claims, found: &Counts, findings: &mut Findings) {
    let stage = |stage: Stage| found.stages[stage as usize];
    let role = |role: Role| found.roles[role as usize];
    for (name, claimed, found) in [
        ("records", claims.total, found.total),
        ("records before dispatch", claims.before, stage(Stage::BeforeDispatch)),
        ("records after completion", claims.after, stage(Stage::AfterCompletion)),
        ("inputs", claims.input, role(Role::Input)),
        ("outputs", claims.output, role(Role::Output)),
        ("inouts", claims.inout, role(Role::Inout)),
        ("truncated records", claims.truncated, found.truncated),
        ("overwritten records", claims.overwritten, found.overwritten),
    ] {
        if let Some(claimed) = claimed.filter(|&claimed| claimed != found) {
            findings.defect("counts that do not fit", None, || {
                format!("the manifest announces {claimed} {name} and has {found}")
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

/// Entries of a manifest that were held against the journal.
#[derive(Default)]
struct Compared {
    counts: Counts,
    /// What differs, if both have the same number of records.
    different: Findings,
    names: BTreeMap<i32, String>,
    raw_shapes: bool,
}

impl Compared {
    /// The entries that follow.
    fn take(&mut self, table: &Table, rows: Rows) {
        let first = self.counts.total as usize;
        let (counts, different) = (0..rows.len())
            .into_par_iter()
            .fold(<(Counts, Findings)>::default, |(mut counts, mut different), place| {
                let index = first + place;
                let theirs = rows.record(place, index);
                counts.add(&theirs);
                if index < table.len() {
                    let ours = table.record(index);
                    // Which of two equal payloads came first only the journal knows.
                    if ours != (Record { shared: ours.shared, ..theirs }) {
                        let told = || "the manifest's entry is not what the journal says".to_owned();
                        different.defect(MANIFEST_DIFFERS, index, told);
                    }
                }
                (counts, different)
            })
            .reduce(Default::default, |(a, b), (c, d)| (a.joined(&c), b.joined(d)));
        self.counts = std::mem::take(&mut self.counts).joined(&counts);
        self.different.add_all(different);
        self.raw_shapes |= rows.has_raw_shapes();
        for (id, name) in rows.into_names() {
            self.names.entry(id).or_insert(name);
        }
    }
}

const MANIFEST_DIFFERS: &str = "differences between journal and manifest";

/// The manifest against the journal, record by record, while it is read.
fn manifest(dump: &Dump, table: &Table, findings: &mut Findings) {
    let kind = MANIFEST_DIFFERS;
    let walked = match dump.beside(MANIFEST_FILE) {
        Ok((path, text)) => {
            walk_manifest(&path, &text, Compared::default, |compared, rows| compared.take(table, rows))
        }
        Err(error) => {
            findings.defect(kind, None, || format!("the journal is complete, but {}", with_causes(&error)));
            return;
        }
    };
    let (head, list, compared) = match walked {
        Ok(walked) => walked,
        Err(error) => {
            findings.defect(kind, None, || with_causes(&error));
            return;
        }
    };
    claims(&head.claims, &compared.counts, findings);
    let count = compared.counts.total;
    if head.version(list, compared.raw_shapes) != FormatVersion::Argus || count != table.len() as u64 {
        findings
            .defect(kind, None, || format!("the manifest has {count} records, the journal {}", table.len()));
        return;
    }
    findings.add_all(compared.different);
    // The journal has room for a part of a long name.
    for kernel in &table.graph().kernels {
        let theirs = i32::try_from(kernel.func_id).ok().and_then(|id| compared.names.get(&id));
        if theirs.is_some_and(|name| !name.starts_with(&kernel.name)) {
            findings.defect(kind, None, || {
                format!("the manifest has another name for kernel {} than the journal", kernel.func_id)
            });
        }
    }
}

fn graph_file(dump: &Dump, table: &Table, findings: &mut Findings) {
    let kind = "differences between journal and graph.json";
    let text = match dump.beside(GRAPH_FILE) {
        Ok((_, text)) => text,
        Err(error) => {
            findings.defect(kind, None, || format!("the journal is complete, but {}", with_causes(&error)));
            return;
        }
    };
    let ours = table.graph();
    // Item by item, as we write it: that takes no memory.
    let mut next = Ahead::new(ours);
    let theirs = match walk_graph(&text, |item| next.take(&item)) {
        Ok(()) if next.is_same() => return,
        // In another order it still may say the same; and if not, what differs is to be told.
        Ok(()) => parse_graph(&text),
        Err(error) => Err(error),
    };
    let theirs = match theirs {
        Ok(graph) => graph,
        Err(error) => {
            findings.defect(kind, None, || format!("{GRAPH_FILE} cannot be read: {}", with_causes(&error)));
            return;
        }
    };
    let mut differ = |what: &str, same: bool| {
        if !same {
            findings.defect(kind, None, || format!("{GRAPH_FILE} has other {what} than the journal"));
        }
    };
    let all =
        |ours: usize, theirs: usize, same: &dyn Fn(usize) -> bool| ours == theirs && (0..ours).all(same);
    differ(
        "kernels",
        all(ours.kernels.len(), theirs.kernels.len(), &|at| {
            same_kernel(&ours.kernels[at], &theirs.kernels[at])
        }),
    );
    differ(
        "tasks",
        all(ours.tasks.len(), theirs.tasks.len(), &|at| same_task(&ours.tasks[at], &theirs.tasks[at])),
    );
    differ("edges", ours.edges == theirs.edges);
}

/// What a graph has that another one is still expected to have, in the same order.
struct Ahead<'a> {
    kernels: slice::Iter<'a, KernelInfo>,
    tasks: slice::Iter<'a, TaskInfo>,
    edges: slice::Iter<'a, Edge>,
    same: bool,
}

impl Ahead<'_> {
    fn new(graph: &Graph) -> Ahead<'_> {
        let Graph { kernels, tasks, edges, .. } = graph;
        Ahead { kernels: kernels.iter(), tasks: tasks.iter(), edges: edges.iter(), same: true }
    }

    fn take(&mut self, item: &GraphItem) {
        self.same &= match item {
            GraphItem::Kernel(theirs) => self.kernels.next().is_some_and(|ours| same_kernel(ours, theirs)),
            GraphItem::Task(theirs) => self.tasks.next().is_some_and(|ours| same_task(ours, theirs)),
            GraphItem::Edge(theirs) => self.edges.next() == Some(theirs),
        };
    }

    fn is_same(&self) -> bool {
        let left = self.kernels.len() + self.tasks.len() + self.edges.len();
        self.same && left == 0
    }
}

/// The journal has room for a part of a long name or signature.
fn same_kernel(short: &KernelInfo, long: &KernelInfo) -> bool {
    (short.func_id, short.core_type, short.abi) == (long.func_id, long.core_type, long.abi)
        && long.name.starts_with(&short.name)
        && long.signature.starts_with(&short.signature)
}

/// graph.json leaves out the times of a task that was never dispatched.
fn same_task(ours: &TaskInfo, theirs: &TaskInfo) -> bool {
    let mut ours = *ours;
    if ours.dispatch_order.is_none() {
        (ours.dispatched_ns, ours.finished_ns) = (0, 0);
    }
    ours == *theirs
}
