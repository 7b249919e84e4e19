//! Commands on a run of many ranks: each capture by itself, all processors at work, one summary.

use std::path::PathBuf;

use anyhow::anyhow;
use argus_find::across::Shard;
use argus_runs::capture::Wanted;
use argus_runs::{Capture, RunTree};
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::bar::bar;
use crate::failure::Failure;
use crate::input;

/// What a command said of one capture.
pub struct Told<T> {
    pub label: String,
    pub directory: PathBuf,
    pub told: Result<T, Failure>,
}

/// Opens each chosen capture and lets a command look at it. A capture is closed before the next one of its thread is
/// opened, so memory does not grow with the number of ranks.
pub fn each<T: Send>(
    tree: &RunTree,
    chosen: &[usize],
    (what, json): (&'static str, bool),
    look: impl Fn(&Capture) -> Result<T, Failure> + Sync,
) -> Vec<Told<T>> {
    let bar = bar(what, chosen.len() as u64, json);
    let told = chosen
        .par_iter()
        .map(|&at| {
            let capture = tree.capture(at);
            let opened = input::capture(Some(&capture.directory), Wanted::Graph);
            let told = opened.and_then(|capture| look(&capture));
            bar.inc(1);
            Told { label: capture.label(), directory: capture.directory.clone(), told }
        })
        .collect();
    bar.finish_and_clear();
    told
}

/// `2/4` as typed: the second of four parts.
pub fn shard(text: Option<&str>) -> Result<Shard, Failure> {
    let Some(text) = text else { return Ok(Shard::default()) };
    let parsed = text.split_once('/').and_then(|(index, count)| {
        let (index, count): (usize, usize) = (index.parse().ok()?, count.parse().ok()?);
        (1..=count).contains(&index).then_some(Shard { index: index - 1, count })
    });
    parsed.ok_or_else(|| {
        Failure::usage(anyhow!("'{text}' is no part of the work; write 1/4 for the first of four parts"))
    })
}

/// The captures that a shard looks at.
pub fn share(chosen: &[usize], shard: Shard) -> Vec<usize> {
    let mine = chosen.iter().enumerate().filter(|(number, _)| number % shard.count == shard.index);
    mine.map(|(_, &at)| at).collect()
}

/// How a report says which part it is.
pub fn shard_object(shard: Shard) -> Value {
    json!({ "index": shard.index + 1, "count": shard.count })
}
