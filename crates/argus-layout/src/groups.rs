//! What is drawn from afar: the tasks of one kernel in one band of layers as one box.
//!
//! The boxes of a band share its height without overlapping, each in proportion to its tasks, in the order in which the
//! tasks stand on average.

use std::collections::BTreeMap;

/// Bands at most; each kernel may have a box in each.
const BANDS: u32 = 64;

/// The tasks of a kernel in a band of layers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Group {
    /// Left, top, right and bottom.
    pub area: [f32; 4],
    pub kernel: u32,
    pub tasks: u32,
    /// The one with the lowest number.
    pub first_task: u32,
}

/// Edges from one group to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    pub from: u32,
    pub to: u32,
    pub edges: u32,
}

struct Gathered {
    tasks: u32,
    first_task: u32,
    sum_y: f64,
}

/// The room of a band.
struct Room {
    left: f32,
    right: f32,
    top: f32,
    bottom: f32,
}

pub fn gather(
    kernels: &[u32],
    edges: &[(u32, u32)],
    layer: &[u32],
    x: &[f32],
    y: &[f32],
) -> (Vec<Group>, Vec<Link>) {
    let layers = layer.iter().max().map_or(0, |last| last + 1);
    let layers_of_band = layers.div_ceil(BANDS).max(1);
    let key = |task: usize| (layer[task] / layers_of_band, kernels[task]);
    let mut gathered: BTreeMap<(u32, u32), Gathered> = BTreeMap::new();
    let mut rooms: BTreeMap<u32, Room> = BTreeMap::new();
    for task in 0..kernels.len() {
        let (band, kernel) = key(task);
        let group = gathered.entry((band, kernel)).or_insert(Gathered {
            tasks: 0,
            first_task: task as u32,
            sum_y: 0.0,
        });
        group.tasks += 1;
        group.sum_y += f64::from(y[task]);
        let room = rooms.entry(band).or_insert(Room {
            left: x[task],
            right: x[task],
            top: y[task],
            bottom: y[task],
        });
        room.left = room.left.min(x[task]);
        room.right = room.right.max(x[task]);
        room.top = room.top.min(y[task]);
        room.bottom = room.bottom.max(y[task]);
    }
    // Within a band by the middle of the tasks; a tie goes by kernel.
    let mut order: Vec<((u32, u32), Gathered)> = gathered.into_iter().collect();
    order.sort_by(|(a, one), (b, other)| {
        let middle = |group: &Gathered| group.sum_y / f64::from(group.tasks);
        (a.0.cmp(&b.0)).then(middle(one).total_cmp(&middle(other))).then(a.1.cmp(&b.1))
    });
    let mut in_band: BTreeMap<u32, u64> = BTreeMap::new();
    for ((band, _), group) in &order {
        *in_band.entry(*band).or_default() += u64::from(group.tasks);
    }
    let mut numbers: BTreeMap<(u32, u32), u32> = BTreeMap::new();
    let mut groups = Vec::with_capacity(order.len());
    let (mut above, mut band_before) = (0u64, None);
    for ((band, kernel), group) in order {
        if band_before.replace(band) != Some(band) {
            above = 0;
        }
        let (room, all) = (&rooms[&band], in_band[&band]);
        let height = f64::from(room.bottom - room.top) + 1.0;
        let at = |tasks: u64| (f64::from(room.top) - 0.5 + height * tasks as f64 / all as f64) as f32;
        let below = above + u64::from(group.tasks);
        numbers.insert((band, kernel), groups.len() as u32);
        groups.push(Group {
            area: [room.left - 0.5, at(above), room.right + 0.5, at(below)],
            kernel,
            tasks: group.tasks,
            first_task: group.first_task,
        });
        above = below;
    }
    let number = |task: u32| numbers[&key(task as usize)];
    let mut pairs: Vec<(u32, u32)> = edges.iter().map(|&(from, to)| (number(from), number(to))).collect();
    pairs.retain(|(from, to)| from != to);
    pairs.sort_unstable();
    let links = pairs.chunk_by(|a, b| a == b);
    let links = links.map(|same| Link { from: same[0].0, to: same[0].1, edges: same.len() as u32 });
    (groups, links.collect())
}
