//! How far from the start a task stands: the length of the longest way to it.

use std::collections::VecDeque;

use crate::neighbours::Neighbours;

/// The layer of each task; each is behind all that lead to it.
///
/// Tasks on a circle have no longest way: when nothing else is left, the one with the lowest number goes first.
pub fn assign(behind: &Neighbours) -> Vec<u32> {
    let tasks = behind.tasks() as u32;
    let mut layer = vec![0u32; behind.tasks()];
    let mut missing = vec![0u32; behind.tasks()];
    for task in 0..tasks {
        for &next in behind.of(task) {
            missing[next as usize] += 1;
        }
    }
    let mut placed = vec![false; behind.tasks()];
    let mut free: VecDeque<u32> = (0..tasks).filter(|&task| missing[task as usize] == 0).collect();
    let mut lowest = 0;
    loop {
        let Some(task) = free.pop_front() else {
            while lowest < tasks && placed[lowest as usize] {
                lowest += 1;
            }
            match lowest < tasks {
                true => free.push_back(lowest),
                false => return layer,
            }
            continue;
        };
        if std::mem::replace(&mut placed[task as usize], true) {
            continue;
        }
        for &next in behind.of(task) {
            let next = next as usize;
            if placed[next] {
                continue;
            }
            layer[next] = layer[next].max(layer[task as usize] + 1);
            missing[next] -= 1;
            if missing[next] == 0 {
                free.push_back(next as u32);
            }
        }
    }
}
