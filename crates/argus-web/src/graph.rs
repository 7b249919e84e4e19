//! The graph, drawn: `AGRF`.

use argus_dump::read::Dump;
use argus_layout::{Graph, Layout};

use crate::columns::Columns;
use crate::layout_file;
use crate::table::TaskTable;

/// Places of the tasks, edges, and groups for a look from afar.
pub fn columns(dump: &Dump, tasks: &TaskTable) -> Vec<u8> {
    let graph = Graph { kernels: &tasks.kernels, edges: &tasks.edges };
    let layout = layout_file::layout(dump, &graph);
    encode(&layout, &tasks.edges, &tasks.edge_kinds)
}

fn encode(layout: &Layout, edges: &[(u32, u32)], kinds: &[u8]) -> Vec<u8> {
    let mut columns = Columns::new(b"AGRF", 1);
    columns.u32s([layout.x.len() as u32, edges.len() as u32, layout.layers, layout.groups.len() as u32]);
    columns.f32s(layout.x.iter().copied());
    columns.f32s(layout.y.iter().copied());
    columns.u32s(edges.iter().map(|edge| edge.0));
    columns.u32s(edges.iter().map(|edge| edge.1));
    columns.u8s(kinds.iter().copied());
    columns.align(4);
    for group in &layout.groups {
        columns.f32s(group.area);
        columns.u32s([group.kernel, group.tasks, group.first_task]);
    }
    columns.u32s([layout.links.len() as u32]);
    for link in &layout.links {
        columns.u32s([link.from, link.to, link.edges]);
    }
    columns.finish()
}
