//! `argus find --html FILE`: one page that needs nothing else.

use std::path::Path;

use anstream::adapter::strip_str;
use argus_find::metrics::Metrics;
use argus_find::report::{Closer, FirstWrong, Listing, Report, TaskLine};
use serde_json::{Value, json};

use crate::failure::Failure;

const PAGE: &str = include_str!("page/page.html");
const RUNS: &str = include_str!("page/runs.html");
const STYLE: &str = include_str!("page/page.css");
const SCRIPT: &str = concat!(include_str!("page/page.js"), include_str!("page/graph.js"));

/// Writes the page, whole or not at all.
pub fn write(path: &Path, report: &Report<Listing<'_>>, repeat: &str) -> Result<(), Failure> {
    save(path, &page(&content(report, repeat)))
}

/// Writes the page of several runs: what the text says, and the tasks that differ.
pub fn write_runs(path: &Path, text: &str) -> Result<(), Failure> {
    let plain = strip_str(text).to_string().replace('&', "&amp;").replace('<', "&lt;");
    save(path, &RUNS.replacen("@STYLE@", STYLE, 1).replacen("@TEXT@", &plain, 1))
}

fn save(path: &Path, page: &str) -> Result<(), Failure> {
    let fail = |error: std::io::Error| {
        Failure::failed(anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
    };
    argus_files::write(path, page.as_bytes(), false).map_err(fail)
}

fn page(content: &Value) -> String {
    // In JSON a "<" is always part of a string. Written as an escape, no name in it can end the script element
    // or, as "<!--<script", keep it from ending.
    let data = content.to_string().replace('<', "\\u003c");
    // The data last: it may hold any text.
    PAGE.replacen("@STYLE@", STYLE, 1).replacen("@SCRIPT@", SCRIPT, 1).replacen("@REPORT@", &data, 1)
}

/// What the page shows, and no more: a report of many tasks is mostly pairs that are equal.
fn content(report: &Report<Listing<'_>>, repeat: &str) -> Value {
    json!({
        "dump": report.dump,
        "compared_with": report.compared_with,
        "other": report.other,
        "verdict": report.verdict,
        "counts": report.counts,
        "end_result": report.end_result,
        "judged": report.judged,
        "judgeable": report.judgeable,
        "failure": report.failure,
        "repeat": repeat,
        "tolerances": report.tolerances,
        "notes": report.notes,
        "unaligned": report.unaligned,
        "edges": report.edges,
        "tasks": report.tasks.iter().map(|line| task(report, &line)).collect::<Vec<_>>(),
        "first_wrong": report.first_wrong.iter().map(|first| first_wrong(report, first)).collect::<Vec<_>>(),
    })
}

fn first_wrong(report: &Report<Listing<'_>>, first: &FirstWrong) -> Value {
    let task = report.tasks.get(first.task).map(|line| report.tasks.full(&line));
    let lists = task.as_ref().map(|task| [("input", &task.inputs), ("output", &task.outputs)]);
    let compared = lists.into_iter().flatten().flat_map(|(role, list)| {
        list.iter().map(move |compared| {
            strip_str(&format!("{role} {}", super::text::comparison(compared))).to_string()
        })
    });
    let metrics = |argument: u32| {
        task.as_ref()?.outputs.iter().find(|output| output.argument == argument)?.metrics.as_deref()
    };
    let outputs = first.outputs.iter().map(|output| closer(output, metrics(output.argument)));
    json!({
        "task": first.task,
        "id": first.id,
        "kernel": first.kernel,
        "downstream": first.downstream,
        "verdict": first.verdict,
        "why": first.why,
        "suspects": first.suspects,
        "compared": compared.collect::<Vec<_>>(),
        "outputs": outputs.collect::<Vec<_>>(),
    })
}

fn closer(output: &Closer, metrics: Option<&Metrics>) -> Value {
    json!({
        "argument": output.argument,
        "dtype": output.dtype,
        "shape": output.shape,
        "map": output.detail.map,
        "histogram": metrics.map(histogram),
        "worst": output.detail.worst.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "looks_like": output.looks_like.iter().map(super::text::sentence).collect::<Vec<_>>(),
    })
}

/// Every element has a place in it: no error, a decade, or none of them because a side is not finite.
fn histogram(metrics: &Metrics) -> Value {
    let same = metrics.nan_both + metrics.inf_both;
    let decades = metrics.histogram.decades.iter().map(|decade| json!([decade.exponent, decade.count]));
    json!({
        "zero": metrics.histogram.zero + same,
        "decades": decades.collect::<Vec<_>>(),
        "not_finite": metrics.elements.saturating_sub(metrics.finite + same),
    })
}

/// Id, kernel, verdict and what there is to say.
fn task(report: &Report<Listing<'_>>, line: &TaskLine<'_>) -> Value {
    if line.equal.is_some() {
        return json!([line.id.to_string(), line.kernel, line.verdict, ""]);
    }
    let task = report.tasks.full(line);
    let beyond = |(side, list): (&str, &Vec<argus_find::report::Compared>)| {
        let wrong = list.iter().filter(|compared| compared.agreement == "beyond");
        wrong.map(|c| format!("{side} {}: {} out of tolerance", c.argument, c.beyond)).collect::<Vec<_>>()
    };
    let mut what = beyond(("input", &task.inputs));
    what.extend(beyond(("output", &task.outputs)));
    what.extend(task.why.iter().take(2).cloned());
    json!([task.id, task.kernel, task.verdict, what.join(", ")])
}
