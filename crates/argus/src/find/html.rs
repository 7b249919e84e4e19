//! `argus find --html FILE`: one page that needs nothing else.

use std::io::Write;
use std::path::Path;

use argus_find::report::{Closer, Report, TaskReport};
use serde_json::{Value, json};

use crate::failure::Failure;

const PAGE: &str = include_str!("page.html");
const PLACE: &str = "@REPORT@";

/// Writes the page under a temporary name and renames it.
pub fn write(path: &Path, report: &Report) -> Result<(), Failure> {
    let page = page(report);
    let fail = |error: std::io::Error| {
        Failure::failed(anyhow::Error::new(error).context(format!("cannot write {}", path.display())))
    };
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut file = tempfile::Builder::new().prefix(".argus-").tempfile_in(directory).map_err(fail)?;
    file.write_all(page.as_bytes()).map_err(fail)?;
    file.persist(path).map_err(|error| fail(error.error))?;
    Ok(())
}

fn page(report: &Report) -> String {
    // Text inside a script element ends at the first "</": written otherwise it never does.
    let data = content(report).to_string().replace("</", "<\\/");
    PAGE.replacen(PLACE, &data, 1)
}

/// What the page shows, and no more: a report of many tasks is mostly pairs that are equal.
fn content(report: &Report) -> Value {
    json!({
        "dump": report.dump,
        "compared_with": report.compared_with,
        "other": report.other,
        "verdict": report.verdict,
        "counts": report.counts,
        "end_result": report.end_result,
        "tolerances": report.tolerances,
        "notes": report.notes,
        "unaligned": report.unaligned,
        "edges": report.edges,
        "tasks": report.tasks.iter().map(task).collect::<Vec<_>>(),
        "first_wrong": report.first_wrong.iter().map(|first| {
            let metrics = |argument: u32| report.tasks.get(first.task).and_then(|task| {
                task.outputs.iter().find(|output| output.argument == argument)?.metrics.as_deref()
            });
            json!({
                "id": first.id,
                "kernel": first.kernel,
                "downstream": first.downstream,
                "outputs": first.outputs.iter().map(|output| {
                    let decades = metrics(output.argument).map_or_else(Vec::new, |metrics| {
                        metrics.histogram.decades.iter().map(|d| json!([d.exponent, d.count])).collect()
                    });
                    closer(output, decades)
                }).collect::<Vec<_>>(),
            })
        }).collect::<Vec<_>>(),
    })
}

fn closer(output: &Closer, histogram: Vec<Value>) -> Value {
    json!({
        "argument": output.argument,
        "dtype": output.dtype,
        "shape": output.shape,
        "map": output.detail.map,
        "histogram": histogram,
        "worst": output.detail.worst.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "looks_like": output.looks_like.iter().map(super::text::sentence).collect::<Vec<_>>(),
    })
}

/// Id, kernel, verdict and what there is to say.
fn task(task: &TaskReport) -> Value {
    let beyond = |(side, list): (&str, &Vec<argus_find::report::Compared>)| {
        let wrong = list.iter().filter(|compared| compared.agreement == "beyond");
        wrong.map(|c| format!("{side} {}: {} beyond", c.argument, c.beyond)).collect::<Vec<_>>()
    };
    let mut what = beyond(("input", &task.inputs));
    what.extend(beyond(("output", &task.outputs)));
    what.extend(task.why.iter().take(2).cloned());
    json!([task.id, task.kernel, task.verdict, what.join(", ")])
}
