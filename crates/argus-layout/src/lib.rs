//! Where the tasks of a graph are drawn.
//!
//! What comes in: a number of tasks, the kernel of each, and edges as pairs of positions. What goes out: a place for each
//! task, such that every edge leads to the right and edges cross seldom; and groups, one for each kernel in each band of
//! layers, for a look from so far away that single tasks cannot be told apart.
//!
//! ```
//! use argus_layout::{Graph, layout};
//!
//! // 0 -> 1 -> 3, 0 -> 2 -> 3
//! let edges = [(0, 1), (0, 2), (1, 3), (2, 3)];
//! let drawn = layout(&Graph { kernels: &[0, 1, 1, 2], edges: &edges });
//! assert_eq!(drawn.x, [0.0, 1.0, 1.0, 2.0]);
//! assert_eq!(drawn.y, [0.0, -0.5, 0.5, 0.0]);
//! ```
//!
//! Guarantees:
//! - The same graph gives the same places, on every machine.
//! - No two tasks share a place, and neighbours are at least one unit apart.
//! - The time is that of a few passes over the edges and a few sorts of the tasks.
//! - A circle of edges, which only a damaged file has, costs the direction of some of its edges and nothing else.
//!
//! | module | subject |
//! |---|---|
//! | `neighbours` | from a task to those before and behind it |
//! | `layers` | how far from the start a task stands |
//! | `order` | which task of a layer is above which |
//! | `groups` | what is drawn from afar |
#![forbid(unsafe_code)]

mod groups;
mod layers;
mod neighbours;
mod order;

pub use groups::{Group, Link};

use neighbours::Neighbours;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub struct Graph<'a> {
    /// The kernel of each task, as any number.
    pub kernels: &'a [u32],
    /// Pairs of tasks. One that names a task that does not exist, or leads to itself, is ignored.
    pub edges: &'a [(u32, u32)],
}

/// Where it is drawn. One unit is the distance of neighbours.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// Of each task; grows along the edges.
    pub x: Vec<f32>,
    /// Of each task; the middle of every layer is 0.
    pub y: Vec<f32>,
    pub layers: u32,
    pub groups: Vec<Group>,
    /// Edges between groups, with how many edges each stands for.
    pub links: Vec<Link>,
}

/// Finds a place for each task.
pub fn layout(graph: &Graph<'_>) -> Layout {
    let tasks = graph.kernels.len();
    let known = |&(from, to): &(u32, u32)| from != to && from.max(to) < tasks as u32;
    let edges: Vec<(u32, u32)> = graph.edges.iter().copied().filter(known).collect();
    let behind = Neighbours::new(tasks, edges.iter().copied());
    let layer = layers::assign(&behind);
    // An edge of a circle may lead back; it has no say in the order.
    let forward = || edges.iter().copied().filter(|&(from, to)| layer[from as usize] < layer[to as usize]);
    let behind = Neighbours::new(tasks, forward());
    let before = Neighbours::new(tasks, forward().map(|(from, to)| (to, from)));
    let mut rows = order::Rows::new(&layer);
    rows.untangle(&before, &behind);
    let (x, y) = rows.places();
    let (groups, links) = groups::gather(graph.kernels, &edges, &layer, &x, &y);
    Layout { layers: rows.layers() as u32, x, y, groups, links }
}
