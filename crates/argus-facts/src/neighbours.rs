//! From each of many things to some others, in two lists for all of them, and the order in which dependencies come first.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// For each position a run of `targets`.
#[derive(Clone, Debug)]
pub struct Neighbours<T = u32> {
    starts: Vec<u32>,
    targets: Vec<T>,
}

impl<T> Default for Neighbours<T> {
    fn default() -> Neighbours<T> {
        Neighbours { starts: Vec::new(), targets: Vec::new() }
    }
}

impl<T: Copy> Neighbours<T> {
    /// Of `count` positions. The neighbours of each stay in the order in which `pairs` has them.
    pub fn new(count: usize, pairs: impl Iterator<Item = (u32, T)> + Clone) -> Neighbours<T> {
        let mut starts = vec![0u32; count + 1];
        for (from, _) in pairs.clone() {
            starts[from as usize + 1] += 1;
        }
        for index in 0..count {
            starts[index + 1] += starts[index];
        }
        let Some((_, any)) = pairs.clone().next() else { return Neighbours { starts, targets: Vec::new() } };
        let mut targets = vec![any; starts[count] as usize];
        // Each start runs to the end of its list, which is where the next one begins.
        for (from, target) in pairs {
            let place = &mut starts[from as usize];
            targets[*place as usize] = target;
            *place += 1;
        }
        starts.rotate_right(1);
        starts[0] = 0;
        Neighbours { starts, targets }
    }

    pub fn at(&self, position: usize) -> &[T] {
        match (self.starts.get(position), self.starts.get(position + 1)) {
            (Some(&start), Some(&end)) => &self.targets[start as usize..end as usize],
            _ => &[],
        }
    }
}

/// Positions with dependencies first, and those that stand in a circle or behind one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Order {
    pub order: Vec<usize>,
    /// Ascending. The edges of a run never run in a circle.
    pub circular: Vec<usize>,
}

impl Order {
    /// Among what is free to run, the least by `rank` comes first. `waits_for` says how many edges lead to a position; each
    /// counts once for each time that it is in `successors`.
    pub fn new<R: Ord>(successors: &Neighbours, mut waits_for: Vec<u32>, rank: impl Fn(usize) -> R) -> Order {
        let entry = |at: usize| Reverse((rank(at), at));
        let mut free: BinaryHeap<Reverse<(R, usize)>> =
            (0..waits_for.len()).filter(|&at| waits_for[at] == 0).map(entry).collect();
        let mut order = Vec::with_capacity(waits_for.len());
        while let Some(Reverse((_, at))) = free.pop() {
            order.push(at);
            for &next in successors.at(at) {
                waits_for[next as usize] -= 1;
                if waits_for[next as usize] == 0 {
                    free.push(entry(next as usize));
                }
            }
        }
        Order { circular: (0..waits_for.len()).filter(|&at| waits_for[at] > 0).collect(), order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_keep_the_order_in_which_they_came() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (0, 'a')];
        let neighbours = Neighbours::new(4, pairs.into_iter());
        let lists: Vec<&[char]> = (0..5).map(|at| neighbours.at(at)).collect();
        assert_eq!(lists, [&['b', 'a'][..], &[], &['a', 'c'], &[], &[]]);
        assert!(Neighbours::<u32>::new(2, std::iter::empty()).at(1).is_empty());
    }

    fn order(count: usize, edges: &[(u32, u32)], rank: impl Fn(usize) -> usize) -> Order {
        let mut waits_for = vec![0; count];
        edges.iter().for_each(|edge| waits_for[edge.1 as usize] += 1);
        Order::new(&Neighbours::new(count, edges.iter().copied()), waits_for, rank)
    }

    #[test]
    fn dependencies_come_first_and_then_the_least() {
        // 4 waits for 0 and 3; the same edge twice holds nothing up.
        let edges = [(0, 4), (3, 4), (3, 4), (4, 1)];
        assert_eq!(order(5, &edges, |at| at).order, [0, 2, 3, 4, 1]);
        assert_eq!(order(5, &edges, |at| 9 - at).order, [3, 2, 0, 4, 1]);
    }

    #[test]
    fn what_is_in_a_circle_or_behind_it_is_told() {
        let found = order(5, &[(0, 1), (1, 2), (2, 1), (2, 4)], |at| at);
        assert_eq!(found, Order { order: vec![0, 3], circular: vec![1, 2, 4] });
    }
}
