//! What every drawing holds, whatever the graph.

use std::collections::BTreeMap;

use argus_layout::{Graph, Layout, layout};
use proptest::prelude::*;

/// Kernels and edges, from lower to higher numbers: what a run can have.
fn acyclic() -> impl Strategy<Value = (Vec<u32>, Vec<(u32, u32)>)> {
    (1usize..120).prop_flat_map(|tasks| {
        let last = tasks as u32;
        let edge = (0..last, 0..last).prop_map(|(a, b)| (a.min(b), a.max(b)));
        (prop::collection::vec(0u32..5, tasks), prop::collection::vec(edge, 0..tasks * 3))
    })
}

/// Edges of a damaged file: circles, loops, tasks that do not exist.
fn any_edges() -> impl Strategy<Value = (Vec<u32>, Vec<(u32, u32)>)> {
    (0usize..60).prop_flat_map(|tasks| {
        let last = tasks as u32 + 3;
        (prop::collection::vec(0u32..5, tasks), prop::collection::vec((0..last, 0..last), 0..200))
    })
}

fn places_differ(drawn: &Layout) {
    let mut places: Vec<(i64, i64)> = drawn
        .x
        .iter()
        .zip(&drawn.y)
        .map(|(x, y)| ((x * 2.0).round() as i64, (y * 2.0).round() as i64))
        .collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), drawn.x.len(), "two tasks share a place");
}

/// The longest way to each task, by looking at all edges until nothing changes.
fn depths(tasks: usize, edges: &[(u32, u32)]) -> Vec<u32> {
    let mut depth = vec![0; tasks];
    loop {
        let mut changed = false;
        for &(from, to) in edges.iter().filter(|(from, to)| from != to) {
            let next = depth[from as usize] + 1;
            if depth[to as usize] < next {
                depth[to as usize] = next;
                changed = true;
            }
        }
        if !changed {
            return depth;
        }
    }
}

fn groups_are_whole(kernels: &[u32], edges: &[(u32, u32)], drawn: &Layout) {
    let counted: u64 = drawn.groups.iter().map(|group| u64::from(group.tasks)).sum();
    assert_eq!(counted, kernels.len() as u64);
    for group in &drawn.groups {
        assert_eq!(kernels[group.first_task as usize], group.kernel);
        let [left, top, right, bottom] = group.area;
        assert!(left < right && top < bottom, "{group:?}");
    }
    for (number, one) in drawn.groups.iter().enumerate() {
        for other in &drawn.groups[number + 1..] {
            let apart = |low: usize, high: usize| {
                let close = 1e-3;
                one.area[high] <= other.area[low] + close || other.area[high] <= one.area[low] + close
            };
            assert!(apart(0, 2) || apart(1, 3), "{one:?} and {other:?} overlap");
        }
    }
    let mut links = 0;
    let mut seen = BTreeMap::new();
    for link in &drawn.links {
        assert!(link.from != link.to && (link.from.max(link.to) as usize) < drawn.groups.len());
        assert!(seen.insert((link.from, link.to), link.edges).is_none(), "a link is there twice");
        links += link.edges as usize;
    }
    assert!(links <= edges.len());
}

proptest! {
    #[test]
    fn edges_lead_to_the_right_and_places_differ((kernels, edges) in acyclic()) {
        let drawn = layout(&Graph { kernels: &kernels, edges: &edges });
        for &(from, to) in edges.iter().filter(|(from, to)| from != to) {
            prop_assert!(drawn.x[from as usize] < drawn.x[to as usize]);
        }
        let depth = depths(kernels.len(), &edges);
        prop_assert_eq!(drawn.layers, depth.iter().max().unwrap() + 1);
        // Columns follow the longest ways: a task that is deeper stands further to the right.
        for one in 0..kernels.len() {
            for other in 0..kernels.len() {
                if depth[one] < depth[other] {
                    prop_assert!(drawn.x[one] < drawn.x[other]);
                }
            }
        }
        places_differ(&drawn);
        groups_are_whole(&kernels, &edges, &drawn);
        prop_assert_eq!(&drawn, &layout(&Graph { kernels: &kernels, edges: &edges }));
    }

    #[test]
    fn a_damaged_graph_is_drawn_too((kernels, edges) in any_edges()) {
        let drawn = layout(&Graph { kernels: &kernels, edges: &edges });
        prop_assert_eq!(drawn.x.len(), kernels.len());
        places_differ(&drawn);
        groups_are_whole(&kernels, &edges, &drawn);
    }
}

#[test]
fn chains_that_do_not_touch_do_not_cross() {
    // Task n of a chain is n * CHAINS + chain: the order of numbers would be tangle enough.
    const CHAINS: u32 = 7;
    let edges: Vec<(u32, u32)> = (0..CHAINS * 9).map(|task| (task, task + CHAINS)).collect();
    let kernels = vec![0; CHAINS as usize * 10];
    let drawn = layout(&Graph { kernels: &kernels, edges: &edges });
    for (from, to) in edges {
        assert_eq!(drawn.y[from as usize], drawn.y[to as usize]);
    }
}

#[test]
fn tangled_pairs_are_untangled() {
    // Layer one is joined to layer two in reverse.
    let edges: Vec<(u32, u32)> = (0..20).map(|task| (task, 39 - task)).collect();
    let drawn = layout(&Graph { kernels: &[0; 40], edges: &edges });
    let crossings =
        edges.iter().enumerate().flat_map(|(at, one)| edges[at + 1..].iter().map(move |other| (one, other)));
    let crossed = crossings.filter(|(one, other)| {
        let down = |a: u32, b: u32| drawn.y[a as usize] < drawn.y[b as usize];
        down(one.0, other.0) != down(one.1, other.1)
    });
    assert_eq!(crossed.count(), 0);
}

#[test]
fn independent_tasks_are_a_square() {
    let drawn = layout(&Graph { kernels: &[0; 10_000], edges: &[] });
    let most = |of: &[f32]| of.iter().fold(f32::MIN, |most, &value| most.max(value));
    assert_eq!((drawn.layers, most(&drawn.x), most(&drawn.y)), (1, 99.0, 49.5));
}

#[test]
fn nothing_is_drawn_of_nothing() {
    assert_eq!(layout(&Graph { kernels: &[], edges: &[(0, 1)] }), Layout::default());
}
