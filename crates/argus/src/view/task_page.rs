//! What files beside a dump know of one task: graph, times, counters, its scope.

use std::fmt::Write;

use argus_abi::TaskId;
use argus_artefacts::scopes::{Scope, Use};
use argus_artefacts::times::Part;
use argus_runs::Capture;
use argus_runs::timing::Names;
use serde_json::{Map, Value, json};

/// The page of a task as lines; empty if nothing but the dump knows it.
pub fn text(capture: &Capture, task: TaskId) -> String {
    let mut text = String::new();
    let artefacts = &capture.artefacts;
    if let Some(graph) = capture.dump.graph()
        && let Some(place) = graph.position(task)
        && !artefacts.is_empty()
    {
        let (before, behind) = (graph.predecessors(place).len(), graph.successors(place).len());
        let name = artefacts.layout().shown(task);
        _ = writeln!(text, "task       {task} ({name}) waits for {before} tasks, {behind} wait for it");
    }
    if let Some(times) = &artefacts.times {
        let names = Names::new(capture, times);
        let origin = times.origin();
        for part in times.parts.iter().filter(|part| part.task == task) {
            let at = |tick: u64| micro(times.ns(tick.saturating_sub(origin)));
            let kernel = names.part(part);
            let core = times.core_type(part.core).map_or("", |core| core.name());
            _ = write!(text, "times      {kernel} on core {} {core}: ", part.core);
            if let Some(dispatch) = part.dispatch {
                _ = write!(text, "dispatched {}, ", at(dispatch));
            }
            if let Some(receive) = part.receive {
                _ = write!(text, "received {}, ", at(receive));
            }
            _ = write!(text, "started {}, ran {}", at(part.start), micro(times.ns(part.ticks())));
            _ = match part.finish {
                Some(finish) => writeln!(text, ", seen {}", at(finish)),
                None => writeln!(text),
            };
        }
    }
    if let Some(counters) = &artefacts.counters {
        for row in counters.of_task(task) {
            let cells =
                counters.columns.iter().zip(&row.counters).map(|(name, value)| format!("{name} {value}"));
            let cells: Vec<String> = cells.collect();
            let (core, cycles, event) = (row.core, row.total_cycles, row.event);
            _ = writeln!(
                text,
                "counters   core {core}, event {event}: {cycles} cycles, {}",
                cells.join(", ")
            );
        }
    }
    if let Some((number, scope)) = scope(capture, task) {
        _ = write!(text, "scope      {number}: {}, depth {}, ring {}", scope.site, scope.depth, scope.ring);
        if let Some(taken) = &scope.taken {
            let used = |used: Use| format!("{} at once, {} in all", used.high_water, used.allocated);
            let heap = taken.heap.map_or_else(|| "not known".to_owned(), used);
            _ = write!(text, "; tasks {}; heap bytes {heap}", used(taken.tasks));
        }
        text.push('\n');
    }
    text
}

fn micro(ns: u64) -> String {
    format!("{}.{:03} us", ns / 1000, ns % 1000)
}

/// The innermost scope in which a task was submitted: its number lies among those that the scope took of its ring.
fn scope(capture: &Capture, task: TaskId) -> Option<(usize, Scope)> {
    let stats = capture.artefacts.scopes.as_ref()?;
    let number = stats.scope_of(task.ring(), task.local())?;
    stats.scopes().into_iter().nth(number).map(|scope| (number, scope))
}

/// Programs may read numbers as doubles: large ones are strings.
fn wide(number: u64) -> Value {
    if number > 1 << 53 { number.to_string().into() } else { number.into() }
}

/// The same as JSON.
pub fn object(capture: &Capture, task: TaskId) -> Value {
    let artefacts = &capture.artefacts;
    let mut page = Map::new();
    page.insert("task_id".into(), task.to_string().into());
    page.insert("name".into(), artefacts.layout().shown(task).into());
    if let Some(times) = &artefacts.times {
        let names = Names::new(capture, times);
        let part = |part: &Part| {
            json!({
                "kernel": names.part(part),
                "core": part.core,
                "core_type": times.core_type(part.core).map(|core| core.name()),
                "token": part.token.map(wide),
                "dispatch": part.dispatch.map(wide),
                "receive": part.receive.map(wide),
                "start": wide(part.start),
                "end": wide(part.end),
                "finish": part.finish.map(wide),
                "run_epoch": part.epoch,
            })
        };
        let parts: Vec<Value> = times.parts.iter().filter(|part| part.task == task).map(part).collect();
        page.insert("clock_hz".into(), times.clock_hz.into());
        page.insert("times".into(), parts.into());
    }
    if let Some(counters) = &artefacts.counters {
        let rows = counters.of_task(task).map(|row| {
            let named = counters.columns.iter().cloned().zip(row.counters.iter().map(|&value| wide(value)));
            json!({
                "thread": row.thread,
                "core": row.core,
                "core_type": row.core_type.name(),
                "func_id": row.func,
                "total_cycles": wide(row.total_cycles),
                "event": row.event,
                "counters": named.collect::<Map<_, _>>(),
                "run_epoch": row.epoch,
            })
        });
        page.insert("counters".into(), rows.collect::<Vec<_>>().into());
    }
    if let Some((number, scope)) = scope(capture, task) {
        let used = |used: Use| json!({ "high_water": used.high_water, "alive_at_exit": used.alive_at_exit, "allocated": used.allocated });
        let (site, depth, ring) = (&scope.site, scope.depth, scope.ring);
        let mut object = json!({ "number": number, "site": site, "depth": depth, "ring": ring });
        if let (Value::Object(fields), Some(taken)) = (&mut object, &scope.taken) {
            fields.insert("tasks".into(), used(taken.tasks));
            fields.insert("heap".into(), taken.heap.map_or(Value::Null, used));
            fields.insert("edges".into(), taken.edges.map_or(Value::Null, used));
        }
        page.insert("scope".into(), object);
    }
    Value::Object(page)
}
