//! The way an error took: from where it began to a task that inherited it, and on to those that inherited it from there.

use std::collections::VecDeque;

use serde_json::json;

use crate::answer::{Answer, Content};
use crate::shown::Shown;

/// Verdicts as the columns say them.
const INTRODUCED: u8 = 2;
const INHERITED: u8 = 3;
const HERE_OR_UPSTREAM: u8 = 4;

/// `way`: tasks from the nearest beginning of the error to this one. `inherited`: wrong tasks behind it.
pub fn path(shown: &Shown, task: usize) -> Answer {
    let task = shown.check_task(task)? as u32;
    let verdicts = shown.judging.verdicts();
    let wrong =
        |task: u32| matches!(verdicts.get(task as usize), Some(&(INTRODUCED | INHERITED | HERE_OR_UPSTREAM)));
    let begins = |task: u32| matches!(verdicts.get(task as usize), Some(&(INTRODUCED | HERE_OR_UPSTREAM)));
    if !wrong(task) {
        return Ok(Content::Json(json!({ "way": [], "inherited": [] })));
    }
    let edges = &shown.tasks.edges;
    let kinds = &shown.tasks.edge_kinds;
    // Values do not come along an edge that only keeps an order.
    let carries = |edge: &(usize, &(u32, u32))| kinds[edge.0] != 2;
    let mut before = vec![Vec::new(); shown.tasks.len()];
    let mut behind = vec![Vec::new(); shown.tasks.len()];
    for (_, &(from, to)) in edges.iter().enumerate().filter(carries) {
        if wrong(from) && wrong(to) {
            before[to as usize].push(from);
            behind[from as usize].push(to);
        }
    }
    let (order, parents) = walk(task, &before);
    let start = order.iter().copied().find(|&task| begins(task)).unwrap_or(task);
    let mut way = vec![start];
    let mut at = start;
    while let Some(next) = parents[at as usize] {
        way.push(next);
        at = next;
    }
    let (mut inherited, _) = walk(task, &behind);
    inherited.retain(|&other| other != task);
    inherited.sort_unstable();
    Ok(Content::Json(json!({ "way": way, "inherited": inherited })))
}

/// Everything that can be reached, the nearest first, and from where each was reached.
fn walk(from: u32, neighbours: &[Vec<u32>]) -> (Vec<u32>, Vec<Option<u32>>) {
    let mut parents = vec![None; neighbours.len()];
    let mut seen = vec![false; neighbours.len()];
    let mut order = Vec::new();
    let mut queue = VecDeque::from([from]);
    seen[from as usize] = true;
    while let Some(task) = queue.pop_front() {
        order.push(task);
        for &next in &neighbours[task as usize] {
            if !std::mem::replace(&mut seen[next as usize], true) {
                parents[next as usize] = Some(task);
                queue.push_back(next);
            }
        }
    }
    (order, parents)
}
