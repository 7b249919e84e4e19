//! Captures of many ranks: a table, a choice, pairs and groups.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use argus_artefacts::Artefacts;
use argus_artefacts::directory::Kind;
use argus_artefacts::ranks::{Capture, RankTree};
use argus_dump::read::Glance;

use crate::error::RunError;

/// A run of many ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunTree {
    pub directory: PathBuf,
    pub ranks: RankTree,
}

/// One line of the table: what is there of a capture, without reading its records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankRow {
    pub label: String,
    pub directory: PathBuf,
    pub program: Option<String>,
    pub glance: Glance,
    /// Kinds of file beside the dump, by their names.
    pub kinds: Vec<Kind>,
    /// What others of the tree have and this one lacks.
    pub missing: Vec<&'static str>,
}

/// Captures that belong together, and what says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    pub name: String,
    pub captures: Vec<usize>,
    /// Their identities say so; otherwise it is the rule of [`RunTree::groups`].
    pub by_identity: bool,
}

impl RunTree {
    /// The captures below a directory; `None` if there is no rank.
    pub fn read(directory: &Path) -> Option<RunTree> {
        let ranks = RankTree::read(directory)?;
        Some(RunTree { directory: directory.to_path_buf(), ranks })
    }

    pub fn len(&self) -> usize {
        self.ranks.captures.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ranks.captures.is_empty()
    }

    pub fn capture(&self, at: usize) -> &Capture {
        &self.ranks.captures[at]
    }

    /// The table of ranks.
    pub fn table(&self) -> Vec<RankRow> {
        let mut rows: Vec<RankRow> = self.ranks.captures.iter().map(row).collect();
        // A kind of file that half of the captures have is one that the others lack.
        let usual: Vec<Kind> = [Kind::Graph, Kind::Times, Kind::Names, Kind::Scopes, Kind::Identity]
            .into_iter()
            .filter(|kind| 2 * rows.iter().filter(|row| row.kinds.contains(kind)).count() >= rows.len())
            .collect();
        for row in &mut rows {
            if row.glance.version.is_none() {
                row.missing.push("dump");
            } else if row.glance.payload.is_none() && !row.glance.no_payload && row.glance.records != Some(0)
            {
                row.missing.push("payload");
            }
            row.missing.extend(usual.iter().filter(|kind| !row.kinds.contains(kind)).map(|kind| kind.name()));
        }
        rows
    }

    /// The captures of some ranks: `3`, `0,2,5`, `4..7` with both ends. Without a text: all.
    pub fn choose(&self, text: Option<&str>) -> Result<Vec<usize>, RunError> {
        let Some(text) = text.filter(|text| *text != "all") else { return Ok((0..self.len()).collect()) };
        let wrong = || RunError::RankText { text: text.to_owned() };
        let mut chosen = Vec::new();
        for piece in text.split(',') {
            let number = |text: &str| text.trim().parse::<u32>().map_err(|_| wrong());
            let (first, last) = match piece.split_once("..") {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(piece)?, number(piece)?),
            };
            if last < first {
                return Err(wrong());
            }
            for rank in first..=last {
                let of_rank = (0..self.len()).filter(|&at| self.capture(at).rank == Some(rank));
                let of_rank: Vec<usize> = of_rank.collect();
                if of_rank.is_empty() {
                    let known = self.ranks.ranks().into_iter();
                    let known =
                        known.map(|(_, rank)| rank.map_or("local".to_owned(), |rank| rank.to_string()));
                    return Err(RunError::NoRank { rank, known: known.collect() });
                }
                chosen.extend(of_rank);
            }
        }
        chosen.sort_unstable();
        chosen.dedup();
        Ok(chosen)
    }

    /// Captures that belong together, of those that were chosen.
    ///
    /// Members of one group task share a run and a slot, and their identities say which. Where captures have no
    /// identity, those of one program with the same number of dispatch are taken to belong together.
    pub fn groups(&self, chosen: &[usize]) -> Vec<Group> {
        let mut groups: BTreeMap<(bool, String), Vec<usize>> = BTreeMap::new();
        for &at in chosen {
            let capture = self.capture(at);
            let key = match &capture.identity {
                Some(identity) => {
                    let (run, slot) = identity.group();
                    // Each machine counts its own runs: the same numbers of two of them mean two tasks.
                    let node =
                        if capture.node.is_empty() { String::new() } else { format!("{}, ", capture.node) };
                    (true, format!("{node}run {run}, task slot {slot}"))
                }
                None => {
                    let program = capture.program.as_deref().unwrap_or("the program");
                    (false, format!("{program}, dispatch {}", capture.dispatch))
                }
            };
            groups.entry(key).or_default().push(at);
        }
        let named =
            groups.into_iter().map(|((by_identity, name), captures)| Group { name, captures, by_identity });
        named.collect()
    }

    /// Pairs the chosen captures with those of another run, by node, rank and dispatch; and the ones without a partner.
    pub fn pairs(&self, chosen: &[usize], other: &RunTree) -> (Vec<(usize, usize)>, Vec<usize>) {
        let (mut pairs, mut alone) = (Vec::new(), Vec::new());
        for &at in chosen {
            let capture = self.capture(at);
            let same = |theirs: &Capture| {
                (theirs.rank, theirs.dispatch, theirs.node.as_str())
                    == (capture.rank, capture.dispatch, capture.node.as_str())
                    && theirs.program == capture.program
            };
            match other.ranks.captures.iter().position(same) {
                Some(theirs) => pairs.push((at, theirs)),
                None => alone.push(at),
            }
        }
        (pairs, alone)
    }
}

fn row(capture: &Capture) -> RankRow {
    let mut kinds: Vec<Kind> =
        Artefacts::listed(&capture.directory).into_iter().map(|found| found.kind).collect();
    kinds.sort();
    kinds.dedup();
    RankRow {
        label: capture.label(),
        directory: capture.directory.clone(),
        program: capture.program.clone(),
        glance: Glance::at(&capture.directory),
        kinds,
        missing: Vec::new(),
    }
}
