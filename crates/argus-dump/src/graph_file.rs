//! graph.json: kernels, tasks, edges and scopes.

use argus_abi::TaskState;
use argus_facts::{Edge, KernelInfo};

use crate::journal::TaskRecord;
use crate::manifest::put_task_keys;
use crate::text::{put, put_list, put_string, put_u64, put_word};

/// The whole text; `tasks` sorted by id, `edges` sorted.
pub(crate) fn text(kernels: &[KernelInfo], tasks: &[TaskRecord], edges: &[Edge]) -> Vec<u8> {
    let mut out = Vec::with_capacity(4096 + tasks.len() * 300 + edges.len() * 96);
    put(&mut out, "{\n  \"schema\": \"argus-graph-1\",\n");
    section(&mut out, "kernels", kernels, |out, kernel| {
        put(out, "\"func_id\": ");
        put_u64(out, kernel.func_id.into());
        put(out, ", \"name\": ");
        put_string(out, &kernel.name);
        put(out, ", \"core_type\": \"");
        put(out, kernel.core_type.name());
        put(out, "\", \"abi\": \"");
        put(out, kernel.abi.name());
        put(out, "\", \"signature\": ");
        put_list(out, &kernel.signature, |out, direction| {
            put_string(out, direction.name());
        });
    });
    put(&mut out, ",\n");
    section(&mut out, "tasks", tasks, |out, task| {
        put(out, "\"task_id\": ");
        put_word(out, task.task_id);
        put_task_keys(out, task, kernels);
        put(out, ", \"scope_depth\": ");
        put_u64(out, task.scope_depth.into());
        put(out, ", \"tensors\": ");
        put_u64(out, task.tensors.into());
        put(out, ", \"scalars\": ");
        put_u64(out, task.scalars.into());
        put(out, ", \"state\": \"");
        put(out, TaskState::from_raw(task.state).map_or("unknown", TaskState::name));
        put(out, "\"");
    });
    put(&mut out, ",\n");
    section(&mut out, "edges", edges, |out, edge| {
        put(out, "\"from\": ");
        put_word(out, edge.from.raw());
        put(out, ", \"to\": ");
        put_word(out, edge.to.raw());
        put(out, ", \"reason\": \"");
        put(out, edge.reason.name());
        put(out, "\"");
    });
    put(&mut out, ",\n");
    section(&mut out, "scopes", &scopes(tasks), |out, &(depth, count)| {
        put(out, "\"depth\": ");
        put_u64(out, depth.into());
        put(out, ", \"tasks\": ");
        put_u64(out, count);
    });
    put(&mut out, "\n}\n");
    out
}

/// One item per line, as in the manifest.
fn section<T>(out: &mut Vec<u8>, name: &str, items: &[T], put_item: impl Fn(&mut Vec<u8>, &T)) {
    put(out, "  \"");
    put(out, name);
    put(out, "\": [");
    for (index, item) in items.iter().enumerate() {
        put(out, if index == 0 { "\n    {" } else { ",\n    {" });
        put_item(out, item);
        put(out, "}");
    }
    put(out, if items.is_empty() { "]" } else { "\n  ]" });
}

/// How many tasks were submitted under how many scopes.
fn scopes(tasks: &[TaskRecord]) -> Vec<(u32, u64)> {
    let mut counts = std::collections::BTreeMap::new();
    for task in tasks {
        *counts.entry(task.scope_depth).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}
