//! Every route by its bytes, against what manifest, graph and timeline say to any reader of JSON.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::setup::{Columns, Run, Server};

fn file(run: &Run, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(run.dump().join(name)).unwrap()).unwrap()
}

/// Ids of all tasks, ascending.
fn ids(graph: &Value) -> Vec<String> {
    let mut ids: Vec<String> =
        graph["tasks"].as_array().unwrap().iter().map(|task| text(&task["task_id"])).collect();
    ids.sort();
    ids
}

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[test]
fn the_session_lists_every_dump_and_says_which_cannot_be_opened() {
    let run = Run::of("vector_example", "default");
    let broken = tempfile::tempdir().unwrap();
    let server = Server::of(&[run.path(), broken.path()]);
    let session = server.get("api/session").json();
    assert_eq!(
        (session["schema"].as_str(), session["version"].as_str()),
        (Some("argus-open-1"), Some("test"))
    );
    let [first, second] = &session["dumps"].as_array().unwrap()[..] else { panic!("{session}") };
    let records = run.manifest()["tensors"].as_array().map(Vec::len).unwrap_or_default();
    for (key, value) in [
        ("index", json!(0)),
        ("scene", json!("vector_example")),
        ("case", json!("default")),
        ("format_version", json!("argus")),
        ("ending", json!("complete")),
        ("live", json!(false)),
        ("tasks", json!(5)),
        ("records", json!(records)),
        ("directory", json!(run.dump().display().to_string())),
    ] {
        assert_eq!(first[key], value, "{key}");
    }
    assert!(second["error"].as_str().unwrap().contains("holds no dump"), "{second}");
    assert_eq!(server.get("api/1/tasks").status, 422);
    assert_eq!(server.get("api/2/tasks").status, 404);
}

#[test]
fn the_columns_of_tasks_are_those_of_the_graph_file() {
    let run = Run::of("paged_attention", "CaseSmall1");
    let server = Server::of(&[run.path()]);
    server.wait_for("api/0/overview", |object| object["judging"] == "done");
    let answer = server.get("api/0/tasks");
    let mut columns = Columns::new(&answer.body, "ATSK");
    let (count, names) = (columns.u32(), columns.u32());
    let names = columns.json(names);
    let graph = file(&run, "graph.json");
    let expected = ids(&graph);
    let tasks: BTreeMap<String, &Value> =
        graph["tasks"].as_array().unwrap().iter().map(|task| (text(&task["task_id"]), task)).collect();
    assert_eq!(count, expected.len());
    let told: Vec<String> = columns.u64s(count).iter().map(|id| format!("0x{id:016x}")).collect();
    assert_eq!(told, expected);
    let (begins, ends, bytes) = (columns.f64s(count), columns.f64s(count), columns.u64s(count));
    let (kernels, scopes, blocks) = (columns.u32s(count), columns.u32s(count), columns.u32s(count));
    let (states, verdicts) = (columns.u8s(count), columns.u8s(count));
    columns.end();
    let kernel_names: BTreeMap<u64, String> = graph["kernels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|kernel| (kernel["func_id"].as_u64().unwrap(), text(&kernel["name"])))
        .collect();
    let mut captured: BTreeMap<String, u64> = BTreeMap::new();
    for record in run.manifest()["tensors"].as_array().unwrap() {
        *captured.entry(text(&record["task_id"])).or_default() += record["bin_size"].as_u64().unwrap_or(0);
    }
    for at in 0..count {
        let task = tasks[&told[at]];
        let funcs = task["func_id"].as_array().unwrap().iter().filter_map(Value::as_u64);
        let funcs: Vec<u64> = funcs.collect();
        let mut wanted: Vec<&str> = funcs.iter().map(|id| kernel_names[id].as_str()).collect();
        wanted.dedup();
        if wanted.is_empty() {
            assert_eq!(kernels[at], u32::MAX);
        } else {
            assert_eq!(names[kernels[at] as usize], json!(wanted.join("+")), "task {at}");
        }
        assert_eq!(bytes[at], captured.get(&told[at]).copied().unwrap_or(0));
        assert_eq!(json!(blocks[at]), task["blocks"]);
        assert_eq!(json!(scopes[at]), task["scope_depth"]);
        assert_eq!((states[at], text(&task["state"]).as_str()), (3, "completed"));
        if !wanted.is_empty() {
            assert_eq!(begins[at], task["dispatched_ns"].as_f64().unwrap() / 1e3);
            assert_eq!(ends[at], task["finished_ns"].as_f64().unwrap() / 1e3);
        }
        assert_eq!(verdicts[at], 1, "the run passed");
    }
}

#[test]
fn the_graph_has_every_edge_and_a_place_for_every_task() {
    let run = Run::of("paged_attention", "CaseSmall1");
    let server = Server::of(&[run.path()]);
    let answer = server.get("api/0/graph");
    let mut columns = Columns::new(&answer.body, "AGRF");
    let (count, edges, layers, groups) = (columns.u32(), columns.u32(), columns.u32(), columns.u32());
    let (x, y) = (columns.f32s(count), columns.f32s(count));
    let (from, to, _kinds) = (columns.u32s(edges), columns.u32s(edges), columns.u8s(edges));
    let graph = file(&run, "graph.json");
    let ids = ids(&graph);
    let place = |id: &Value| ids.iter().position(|known| *known == text(id)).unwrap() as u32;
    let mut expected: Vec<(u32, u32)> = graph["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| (place(&edge["from"]), place(&edge["to"])))
        .collect();
    expected.sort_unstable();
    expected.dedup();
    let told: Vec<(u32, u32)> = from.iter().copied().zip(to.iter().copied()).collect();
    assert_eq!((count, &told), (ids.len(), &expected));
    assert!(layers > 1 && told.iter().all(|&(from, to)| x[from as usize] < x[to as usize]));
    assert!(y.iter().all(|y| y.is_finite()));
    let mut tasks = 0;
    for _ in 0..groups {
        columns.f32s(4);
        tasks += columns.u32s(3)[1];
    }
    assert_eq!(tasks as usize, count);
    let links = columns.u32();
    let edges: u32 = (0..links).map(|_| columns.u32s(3)[2]).sum();
    assert!(edges as usize <= told.len() && links > 0);
    columns.end();
    assert_eq!(server.get("api/0/graph").body, answer.body, "the same again");
}

#[test]
fn a_task_has_its_records_scalars_buffers_and_commands() {
    let run = Run::of("paged_attention", "CaseSmall1");
    let server = Server::of(&[run.path()]);
    server.wait_for("api/0/overview", |object| object["judging"] == "done");
    let manifest = run.manifest();
    let records = manifest["tensors"].as_array().unwrap();
    let ids = ids(&file(&run, "graph.json"));
    for (at, id) in ids.iter().enumerate() {
        let task = server.get(&format!("api/0/task/{at}")).json();
        assert_eq!((&task["task_id"], &task["index"]), (&json!(id), &json!(at)));
        let stage = |name: &str, key: &str| {
            let own =
                records.iter().filter(|record| record["task_id"] == json!(id) && record["stage"] == name);
            let told: Vec<_> =
                task[key].as_array().unwrap().iter().map(|record| record["arg_index"].clone()).collect();
            assert_eq!(told, own.map(|record| record["arg_index"].clone()).collect::<Vec<_>>(), "task {at}");
        };
        stage("before_dispatch", "before");
        stage("after_completion", "after");
        assert_eq!(task["commands"]["replay"], format!("Replay {} {id}", run.dump().display()));
        assert_eq!(task["previous"], at.checked_sub(1).map_or(Value::Null, |before| json!(before)));
        for buffer in task["buffers"].as_array().unwrap() {
            for view in buffer["uses"].as_array().unwrap() {
                assert!(view["offset"].as_u64().unwrap() < buffer["bytes"].as_u64().unwrap(), "{buffer}");
            }
        }
    }
    assert_eq!(server.get(&format!("api/0/task/{}", ids.len())).status, 404);
}

#[test]
fn the_timeline_is_that_of_the_timeline_file() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    let answer = server.get("api/0/timeline");
    let mut columns = Columns::new(&answer.body, "ATIM");
    let (tracks, slices, arrows, names) = (columns.u32(), columns.u32(), columns.u32(), columns.u32());
    let names = columns.json(names);
    assert_eq!(names["tracks"].as_array().unwrap().len(), tracks);
    let (begins, ends) = (columns.f64s(slices), columns.f64s(slices));
    let (track, task, label) = (columns.u32s(slices), columns.u32s(slices), columns.u32s(slices));
    let (from, to) = (columns.u32s(arrows), columns.u32s(arrows));
    let critical = columns.u32();
    let critical = columns.u32s(critical);
    columns.end();
    let mut told: Vec<(u64, u64)> = (0..slices)
        .filter(|&at| task[at] != u32::MAX)
        .map(|at| ((begins[at] * 1e3).round() as u64, (ends[at] * 1e3).round() as u64))
        .collect();
    told.sort_unstable();
    let times = file(&run, "timeline.json");
    let mut expected: Vec<(u64, u64)> = times["cores"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|core| core["parts"].as_array().unwrap())
        .map(|part| (part[4].as_u64().unwrap(), part[5].as_u64().unwrap()))
        .collect();
    expected.sort_unstable();
    assert_eq!(told, expected);
    assert!(track.iter().all(|&track| (track as usize) < tracks));
    assert!(label.iter().all(|&label| (label as usize) < names["labels"].as_array().unwrap().len()));
    for (&from, &to) in from.iter().zip(&to) {
        assert!(ends[from as usize] <= begins[to as usize], "a task begins before what it waits for ended");
    }
    let last = critical.last().unwrap();
    assert!((0..slices).filter(|&at| task[at] != u32::MAX).all(|at| ends[at] <= ends[*last as usize]));
    assert!(critical.windows(2).all(|pair| ends[pair[0] as usize] <= begins[pair[1] as usize]));
}

#[test]
fn a_traced_task_has_its_pipes_and_a_task_without_code_says_why() {
    let run = Run::of("vector_example", "default");
    let server = Server::of(&[run.path()]);
    let answer = server.get("api/0/trace/4");
    assert_eq!(answer.status, 200, "{answer:?}");
    let mut columns = Columns::new(&answer.body, "ATIM");
    let (tracks, slices) = (columns.u32(), columns.u32());
    assert!(tracks > 1 && slices > 2);
    assert_eq!(server.get("api/0/trace/99").status, 404);
}

#[test]
fn two_dumps_are_compared_as_find_does() {
    let (one, other) = (Run::of("vector_example", "default"), Run::of("vector_example", "default"));
    let server = Server::of(&[one.path(), other.path()]);
    let object = server.get("api/compare?a=0&b=1").json();
    assert_eq!(
        (object["schema"].as_str(), object["verdict"].as_str()),
        (Some("argus-find-3"), Some("agree"))
    );
    let pairs: Vec<[usize; 2]> = serde_json::from_value(object["pairs"].clone()).unwrap();
    assert_eq!(pairs, (0..5).map(|task| [task, task]).collect::<Vec<_>>());
    assert_eq!(server.get("api/compare?a=0").status, 404);
    assert_eq!(server.get("api/compare?a=0&b=x").status, 400);
}

#[test]
fn the_overview_counts_by_kernel_and_judges() {
    let run = Run::of("paged_attention", "CaseSmall1");
    let server = Server::of(&[run.path()]);
    let object = server
        .wait_for("api/0/overview", |object| object["judging"] == "done" && object["statistics"] == "done");
    assert_eq!(object["verdict"]["verdict"], "agree");
    assert_eq!(object["verdict"].get("tasks"), None);
    let mut tasks: BTreeMap<String, u64> = BTreeMap::new();
    for record in run.manifest()["tensors"].as_array().unwrap() {
        *tasks.entry(text(&record["task_id"])).or_default() += 1;
    }
    let kernels = object["kernels"].as_array().unwrap();
    let sum = |key: &str| kernels.iter().map(|kernel| kernel[key].as_u64().unwrap()).sum::<u64>();
    assert_eq!(sum("records"), tasks.values().sum::<u64>());
    assert_eq!((sum("nan"), sum("inf"), sum("wrong")), (0, 0, 0));
    assert!(kernels.iter().all(|kernel| kernel["busy_ns"].as_u64().unwrap() > 0), "{kernels:?}");
}
