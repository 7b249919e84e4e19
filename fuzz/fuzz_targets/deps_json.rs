//! A `deps.json` of any age: read, turned into a graph, written and read again.
#![no_main]

use argus_artefacts::deps::{Deps, producer};
use argus_artefacts::names::Names;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(deps) = Deps::parse(data) else { return };
    let graph = deps.graph(&Names::default());
    assert!(graph.tasks.len() >= deps.tasks.len().min(1));
    for task in deps.tasks.iter().take(8) {
        for arg in &task.args {
            let _ = producer(&deps, task.id, arg.index, &|_, _| Some(64));
        }
    }
    let again = Deps::parse(deps.text().as_bytes()).expect("what was written can be read");
    assert_eq!(again.tasks, deps.tasks);
});
