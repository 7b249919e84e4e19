//! The layout of a large graph, kept beside the dump so that the next look need not wait for it.
//!
//! The file names the graph that it is of by a checksum of all kernels and edges, and ends with a checksum of itself. One
//! that does not belong, or is damaged, is as good as none. A directory that cannot be written costs the file, nothing else.

use std::path::PathBuf;

use argus_dump::read::Dump;
use argus_dump::{DUMP_DIRECTORY, LAYOUT_FILE};
use argus_layout::{Graph, Group, Layout, Link, layout as compute};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

use crate::columns::Columns;

/// Smaller graphs are laid out sooner than a file is opened.
const WORTH_IT: usize = 4096;
/// A file of more tasks and edges than there can be is none of ours.
const LARGEST: u64 = 4 << 30;
/// Magic, version, tasks, layers, groups, links, and the checksum of the graph.
const HEAD: usize = 6 * 4 + 16;

/// The layout of a dump's graph: from its file if there is one, else computed and kept.
pub fn layout(dump: &Dump, graph: &Graph<'_>) -> Layout {
    let place = place(dump).filter(|_| graph.kernels.len() >= WORTH_IT);
    let Some(path) = place else { return compute(graph) };
    let key = key(graph);
    if let Some(known) = argus_files::read(&path, LARGEST).ok().and_then(|bytes| decode(&bytes, key, graph)) {
        return known;
    }
    let made = compute(graph);
    // A disk that is full or may not be written: the next look computes it again.
    let _ = argus_files::write(&path, &encode(&made, key), false);
    made
}

/// Only a dump of ours in a run's directory has a place for it.
fn place(dump: &Dump) -> Option<PathBuf> {
    let directory = dump.directory();
    directory
        .file_name()
        .is_some_and(|name| name == DUMP_DIRECTORY)
        .then(|| directory.with_file_name(LAYOUT_FILE))
}

fn key(graph: &Graph<'_>) -> u128 {
    let mut hash = Xxh3::new();
    hash.update(&(graph.kernels.len() as u64).to_le_bytes());
    graph.kernels.iter().for_each(|kernel| hash.update(&kernel.to_le_bytes()));
    for (from, to) in graph.edges {
        hash.update(&from.to_le_bytes());
        hash.update(&to.to_le_bytes());
    }
    hash.digest128()
}

fn encode(layout: &Layout, key: u128) -> Vec<u8> {
    let mut columns = Columns::new(b"ALAY", 1);
    columns.u32s([
        layout.x.len() as u32,
        layout.layers,
        layout.groups.len() as u32,
        layout.links.len() as u32,
    ]);
    columns.u8s(key.to_le_bytes());
    columns.f32s(layout.x.iter().chain(&layout.y).copied());
    for group in &layout.groups {
        columns.f32s(group.area);
        columns.u32s([group.kernel, group.tasks, group.first_task]);
    }
    for link in &layout.links {
        columns.u32s([link.from, link.to, link.edges]);
    }
    let mut bytes = columns.finish();
    let checksum = xxh3_128(&bytes);
    bytes.extend_from_slice(&checksum.to_le_bytes());
    bytes
}

/// `None` if the bytes are not whole, or are of another graph.
fn decode(bytes: &[u8], key: u128, graph: &Graph<'_>) -> Option<Layout> {
    let (body, checksum) = bytes.split_at_checked(bytes.len().checked_sub(16)?)?;
    if xxh3_128(body).to_le_bytes() != checksum {
        return None;
    }
    let (head, words) = body.split_at_checked(HEAD)?;
    let words: Vec<u32> =
        words.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    let number = |at: usize| {
        head.get(at * 4..at * 4 + 4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
    };
    let (tasks, groups, links) = (number(2)? as usize, number(4)? as usize, number(5)? as usize);
    let ours = head.starts_with(b"ALAY") && number(1)? == 1 && head[24..] == key.to_le_bytes();
    let sizes =
        tasks.checked_mul(2)?.checked_add(groups.checked_mul(7)?)?.checked_add(links.checked_mul(3)?)?;
    if !ours || tasks != graph.kernels.len() || sizes != words.len() {
        return None;
    }
    let (places, rest) = words.split_at(tasks * 2);
    let (boxes, rest) = rest.split_at(groups * 7);
    let float = |word: &u32| f32::from_bits(*word);
    Some(Layout {
        x: places[..tasks].iter().map(float).collect(),
        y: places[tasks..].iter().map(float).collect(),
        layers: number(3)?,
        groups: boxes
            .chunks_exact(7)
            .map(|group| Group {
                area: [0, 1, 2, 3].map(|at| f32::from_bits(group[at])),
                kernel: group[4],
                tasks: group[5],
                first_task: group[6],
            })
            .collect(),
        links: rest.chunks_exact(3).map(|link| Link { from: link[0], to: link[1], edges: link[2] }).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_layout_is_the_computed_one_and_no_other_graph_gets_it() {
        let kernels: Vec<u32> = (0..500).map(|task| task % 3).collect();
        let edges: Vec<(u32, u32)> = (1..500).map(|task| (task * 7 % task, task)).collect();
        let graph = Graph { kernels: &kernels, edges: &edges };
        let made = compute(&graph);
        let bytes = encode(&made, key(&graph));
        assert_eq!(decode(&bytes, key(&graph), &graph), Some(made));
        let other = Graph { edges: &edges[1..], ..graph };
        assert_eq!(decode(&bytes, key(&other), &other), None);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1;
            assert_eq!(decode(&damaged, key(&graph), &graph), None, "byte {at}");
        }
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len], key(&graph), &graph), None, "{len} bytes");
        }
    }
}
