//! graph.json: kernels, tasks, edges and scopes.

use std::collections::BTreeMap;
use std::io;

use argus_abi::capture::TaskFields;
use argus_abi::{EdgeReason, TaskState};
use argus_facts::KernelInfo;

use crate::manifest::TaskTexts;
use crate::sorted::EdgeBytes;
use crate::text::{put, put_list, put_string, put_u64, put_word};

/// Bytes of text that are put together before they are passed on.
const PIECE: usize = 64 << 10;

/// What the file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) tasks: u64,
    pub(crate) edges: u64,
}

/// Why the text did not get to its file.
pub(crate) enum Stopped<E> {
    /// What it is made of could not be read again.
    Source(io::Error),
    /// It could not be passed on.
    Sink(E),
}

/// Passes the text on, piece by piece; `tasks` by id, each once, `edges` in order, each once.
pub(crate) fn write<E>(
    kernels: &[KernelInfo],
    tasks: impl Iterator<Item = io::Result<TaskFields>>,
    edges: impl Iterator<Item = io::Result<EdgeBytes>>,
    mut pass_on: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Counts, Stopped<E>> {
    let mut text = Vec::with_capacity(PIECE + 1024);
    let out = &mut text;
    put(out, "{\n  \"schema\": \"argus-graph-1\",\n");
    section(out, "kernels", kernels.iter().map(Ok), &mut pass_on, |out, kernel| {
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
    })?;
    put(out, ",\n");
    // How many tasks were submitted under how many scopes.
    let mut scopes = BTreeMap::new();
    let mut texts = TaskTexts::new(kernels);
    let tasks = section(out, "tasks", tasks, &mut pass_on, |out, task| {
        *scopes.entry(task.scope_depth).or_insert(0) += 1;
        put(out, "\"task_id\": ");
        put_word(out, task.task_id);
        texts.put_task(out, &task);
        put(out, ", \"scope_depth\": ");
        put_u64(out, task.scope_depth.into());
        put(out, ", \"tensors\": ");
        put_u64(out, task.tensors.into());
        put(out, ", \"scalars\": ");
        put_u64(out, task.scalars.into());
        put(out, ", \"state\": \"");
        put(out, TaskState::from_raw(task.state).map_or("unknown", TaskState::name));
        put(out, "\"");
    })?;
    put(out, ",\n");
    let edges = section(out, "edges", edges, &mut pass_on, |out, edge| {
        put(out, "\"from\": ");
        put_word(out, edge.from);
        put(out, ", \"to\": ");
        put_word(out, edge.to);
        put(out, ", \"reason\": \"");
        let reason = u8::try_from(edge.reason).ok().and_then(EdgeReason::from_raw);
        put(out, reason.map_or("unknown", EdgeReason::name));
        put(out, "\"");
    })?;
    put(out, ",\n");
    section(out, "scopes", scopes.into_iter().map(Ok), &mut pass_on, |out, (depth, count)| {
        put(out, "\"depth\": ");
        put_u64(out, depth.into());
        put(out, ", \"tasks\": ");
        put_u64(out, count);
    })?;
    put(out, "\n}\n");
    pass_on(out).map_err(Stopped::Sink)?;
    Ok(Counts { tasks, edges })
}

/// One item per line, as in the manifest; the number of items.
fn section<T, E>(
    out: &mut Vec<u8>,
    name: &str,
    items: impl Iterator<Item = io::Result<T>>,
    pass_on: &mut impl FnMut(&[u8]) -> Result<(), E>,
    mut put_item: impl FnMut(&mut Vec<u8>, T),
) -> Result<u64, Stopped<E>> {
    put(out, "  \"");
    put(out, name);
    put(out, "\": [");
    let mut count = 0;
    for item in items {
        put(out, if count == 0 { "\n    {" } else { ",\n    {" });
        put_item(out, item.map_err(Stopped::Source)?);
        put(out, "}");
        count += 1;
        if out.len() >= PIECE {
            pass_on(out).map_err(Stopped::Sink)?;
            out.clear();
        }
    }
    put(out, if count == 0 { "]" } else { "\n  ]" });
    Ok(count)
}
