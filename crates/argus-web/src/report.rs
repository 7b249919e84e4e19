//! The page of `argus find --html`: one file with the answers that the server would give, as far as there is room for them.
//!
//! The page is the one that is served, with fewer views: the graph and every verdict, a number of tasks in full, and pictures
//! of wrong outputs where errors begin. Everything is deflated and spelled in base64, so no name in it can become markup.

use std::io::Write;

use argus_abi::TaskId;
use argus_dump::DUMP_DIRECTORY;
use argus_dump::read::{Dump, Ending};
use argus_find::align::Side;
use argus_find::report::{Closer, Report};
use argus_find::search::{Again, Expectation, again};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Map, Value, json};

use crate::cells::Elements;
use crate::findings::Findings;
use crate::plane::{Planes, TILE};
use crate::pyramid::{Place, from_elements};
use crate::session::{Verb, ending};
use crate::shown::facts;
use crate::table::TaskTable;
use crate::{graph, overview, record, task};

const PAGE: &str = include_str!("../../../web/dist/report.html");
const RUNS: &str = include_str!("../../../web/dist/runs.html");
const STYLE: &str = include_str!("../../../web/dist/report.css");
const UNPACK: &str = include_str!("../../../web/dist/unpack.js");
const SCRIPT: &str = include_str!("../../../web/dist/report.js");

/// Tasks that are in a report with all that is known of them, the gravest first.
const TASKS: usize = 64;
/// Bytes of an argument whose values are summed up for a report.
const SUMMED_UP: u64 = 1 << 20;
/// Wrong outputs that are in a report as pictures, and the cells of each picture.
const PICTURES: usize = 3;
const CELLS: u64 = 2048;

/// What a report is of.
pub struct Subject<'a> {
    pub side: Side<'a>,
    pub expectation: &'a Expectation<'a>,
    pub report: &'a Report,
    /// Spells what to type about the dump, or a task of it.
    pub command: &'a dyn Fn(Verb, Option<TaskId>) -> String,
    pub version: &'a str,
}

/// The whole file.
pub fn page(subject: &Subject<'_>) -> String {
    let answers = answers(subject);
    let title = format!("{} · {}", name(subject.side.dump), subject.report.verdict.name());
    let places = [
        ("@TITLE@", &*escaped(&title)),
        ("@STYLE@", STYLE),
        ("@ANSWERS@", &answers.to_string()),
        ("@SCRIPT@", &packed(SCRIPT.as_bytes())),
        ("@UNPACK@", UNPACK),
    ];
    fill(PAGE, &places)
}

/// The file of several runs: a text in the same colours.
pub fn runs_page(text: &str) -> String {
    fill(RUNS, &[("@STYLE@", STYLE), ("@TEXT@", &escaped(text))])
}

/// Fills in each place once, from the first to the last: what was filled in is not looked at again.
fn fill(page: &str, places: &[(&str, &str)]) -> String {
    let mut filled = String::new();
    let mut rest = page;
    for (mark, text) in places {
        if let Some((before, behind)) = rest.split_once(mark) {
            filled.push_str(before);
            filled.push_str(text);
            rest = behind;
        }
    }
    filled + rest
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

fn packed(bytes: &[u8]) -> String {
    let mut deflated = DeflateEncoder::new(Vec::new(), Compression::best());
    let deflated = deflated.write_all(bytes).and_then(|()| deflated.finish());
    STANDARD.encode(deflated.expect("a vector takes everything"))
}

/// The answers by the paths that the page asks for.
fn answers(subject: &Subject<'_>) -> Value {
    let Subject { side, report, .. } = *subject;
    let mut table = TaskTable::new(side.dump);
    supply(&mut table, report);
    let findings = Findings::new(&table, report.clone());
    let mut objects = Map::new();
    let mut columns = Map::new();
    objects.insert("api/session".into(), session(subject, &table));
    objects.insert("api/0/overview".into(), overview_object(subject, &table, &findings));
    for task in gravest(&findings) {
        let command = |verb| (subject.command)(verb, Some(table.ids[task]));
        let object = task::object(side.dump, &table, task, Some(&findings), SUMMED_UP, &command);
        objects.insert(format!("api/0/task/{task}"), object);
    }
    let outputs = report.first_wrong.iter().flat_map(|first| &first.outputs);
    for output in outputs.take(PICTURES) {
        if let Some((object, tiles)) = picture(subject, &table, &findings, output) {
            objects.insert(format!("api/0/record/{}", output.record), object);
            columns.extend(tiles);
        }
    }
    columns.insert("api/0/tasks".into(), packed(&table.columns(side.dump, &findings.verdicts)).into());
    columns.insert("api/0/graph".into(), packed(&graph::columns(side.dump, &table)).into());
    let open = (subject.command)(Verb::Open, None);
    json!({
        "objects": packed(Value::from(objects).to_string().as_bytes()),
        "columns": columns,
        "open": packed(open.as_bytes()),
    })
}

/// A dump that is silent about kernels or edges may belong to a scene that knows them.
fn supply(table: &mut TaskTable, report: &Report) {
    let place = |id: &str| crate::findings::parse(id).and_then(|id| table.find(id));
    let places: Vec<Option<usize>> = report.tasks.iter().map(|task| place(&task.id)).collect();
    let named = places.iter().zip(&report.tasks);
    let kernels: Vec<(usize, String)> =
        named.filter_map(|(place, task)| Some(((*place)?, task.kernel.clone()))).collect();
    let edges = report.edges.iter();
    let edges = edges.filter_map(|&[from, to]| Some((places[from]? as u32, places[to]? as u32))).collect();
    table.supply(kernels, edges);
}

/// The run's directory, or that of the dump if it lies in none.
fn name(dump: &Dump) -> String {
    let directory = dump.directory();
    let whole = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    let in_run = whole.file_name().is_some_and(|name| name == DUMP_DIRECTORY);
    let named = whole.parent().filter(|_| in_run).unwrap_or(&whole);
    named.file_name().map_or_else(|| named.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn session(subject: &Subject<'_>, table: &TaskTable) -> Value {
    let dump = subject.side.dump;
    let mut object = facts(dump, table);
    object.insert("index".into(), 0.into());
    object.insert("name".into(), name(dump).into());
    object.insert("directory".into(), dump.directory().display().to_string().into());
    object.insert("live".into(), false.into());
    json!({ "schema": "argus-open-1", "version": subject.version, "dumps": [object] })
}

fn overview_object(subject: &Subject<'_>, table: &TaskTable, findings: &Findings) -> Value {
    let dump = subject.side.dump;
    let mut run = facts(dump, table);
    run.insert("ending".into(), ending(dump.ending()).into());
    overview::add_run(dump, &mut run);
    let command = |verb| (subject.command)(verb, findings.first);
    let mut next = match findings.first {
        Some(_) => vec![command(Verb::Replay), command(Verb::Trace), command(Verb::View)],
        None => vec![command(Verb::View)],
    };
    next.push((subject.command)(Verb::Open, None));
    if !matches!(dump.ending(), Ending::Complete) {
        next.push((subject.command)(Verb::Verify, None));
    }
    json!({
        "run": run,
        "verdict": findings.object,
        "judging": "done",
        "ledger": dump.run().map_or_else(Map::new, |facts| facts.ledger.clone()),
        "losses": overview::losses(dump.losses()),
        "kernels": overview::kernels(dump, table, &findings.verdicts, None),
        "next": next,
        "said": findings.said,
        "notes": [],
    })
}

/// Tasks where errors begin, then those that have them from there, then those that could not be judged.
fn gravest(findings: &Findings) -> Vec<usize> {
    let rank = |task: usize| match findings.verdicts[task] {
        2 | 4 => 0,
        5 => 1,
        3 => 2,
        0 => 3,
        _ => 4,
    };
    let distant =
        |task: usize| findings.firsts.get(&(task as u32)).is_none_or(|first| first.outputs.is_empty());
    let mut tasks: Vec<usize> = (0..findings.verdicts.len()).collect();
    tasks.sort_by_key(|&task| (distant(task), rank(task), task));
    tasks.truncate(TASKS);
    tasks
}

/// A wrong output and what it should be, as one tile each.
fn picture(
    subject: &Subject<'_>,
    table: &TaskTable,
    findings: &Findings,
    output: &Closer,
) -> Option<(Value, Vec<(String, Value)>)> {
    let Subject { side, expectation, .. } = *subject;
    let record = side.dump.record(output.record);
    let planes = Planes::of(record.shape())?;
    let plane = output.detail.worst.first().map_or(0, |worst| worst.index / planes.elements.max(1));
    let at = side.tasks.find(record.task_id)?;
    let sides = again(side, expectation, at, record.index, compared_with(findings, output))?;
    let Again { dtype, wanted, widened } = &sides;
    let actual = match widened {
        Some(widened) => &widened[..],
        None => side.dump.payload(&record).ok()?,
    };
    let level = (0..u64::BITS).find(|&level| {
        let (rows, cols) = planes.cells(level);
        rows <= TILE && cols <= TILE && rows * cols <= CELLS
    })?;
    let place = Place { plane, level, row: 0, col: 0 };
    let elements = |payload, minus| Elements { dtype: *dtype, payload, minus };
    let mut tiles = Vec::new();
    for (of, elements) in [
        ("value", elements(actual, None)),
        ("reference", elements(wanted, None)),
        ("difference", elements(actual, Some(wanted))),
    ] {
        let tile = from_elements(&elements, &planes, place)?;
        let path =
            format!("api/0/record/{}/tile?plane={plane}&level={level}&row=0&col=0&of={of}", record.index);
        tiles.push((path, packed(&tile.columns()).into()));
    }
    let mut object = record::object(side.dump, table, &record);
    object.insert("sibling".into(), Value::Null);
    object.insert("levels".into(), (level + 1).into());
    object.insert("finest".into(), level.into());
    object.insert("reference".into(), findings.reference(table, &record));
    Some((object.into(), tiles))
}

/// The record of the other dump that an output was compared with, as its comparison names it.
fn compared_with(findings: &Findings, output: &Closer) -> Option<usize> {
    let reports = findings.reports.values();
    let mut compared =
        reports.flat_map(|report| &report.outputs).filter(|found| found.record == output.record);
    compared.next()?.with.strip_prefix("record ")?.parse().ok()
}
