//! Trees of captures: `rank*/d*` of the pypto front end and of September.
//!
//! What is there is taken from the disk, not computed: a rank that is missing is a finding, and so is one without a dump.

use std::fs;
use std::path::{Path, PathBuf};

use crate::ArtefactError;
use crate::identity::{DispatchIdentity, parse_program};

/// One capture in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Its directory, which is the prefix of its files.
    pub directory: PathBuf,
    /// The index of the chip in its worker's list of devices; `None` for a dispatch without a device.
    pub rank: Option<u32>,
    /// Counts the captures of the chip.
    pub dispatch: u32,
    /// Directories of workers above the rank, such as `node0`.
    pub node: String,
    pub program: Option<String>,
    pub identity: Option<DispatchIdentity>,
    /// Files that say which dispatch it is of and were not used, with the reason.
    pub problems: Vec<String>,
}

impl Capture {
    /// `rank3/d0`, behind its node where there are several.
    pub fn label(&self) -> String {
        let node = if self.node.is_empty() { String::new() } else { format!("{}/", self.node) };
        // For two days ranks had no directories of dispatches.
        let own = self.directory.file_name().is_some_and(|name| rank(&name.to_string_lossy()).is_some());
        let dispatch = if own { String::new() } else { format!("/d{}", self.dispatch) };
        match self.rank {
            Some(rank) => format!("{node}rank{rank}{dispatch}"),
            None => format!("{node}rank_local{dispatch}"),
        }
    }
}

/// A tree of captures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RankTree {
    /// By node, rank and dispatch.
    pub captures: Vec<Capture>,
    /// Ranks below the highest that have no directory.
    pub missing: Vec<String>,
}

/// Directories of workers between a run and its ranks, each with a number behind it.
const WORKERS: [&str; 2] = ["node", "network"];
/// Where the pypto front end keeps its ranks.
const FRONT_END: &str = "dfx_outputs";
/// How deep a tree of ranks may lie below the run.
const DEEPEST: usize = 4;

impl RankTree {
    /// The captures below a directory; `None` if there is no rank.
    pub fn read(directory: &Path) -> Option<RankTree> {
        let mut tree = RankTree::default();
        // The directory of one rank is a tree of its dispatches.
        let whole = fs::canonicalize(directory).unwrap_or_else(|_| directory.to_path_buf());
        let own = whole.file_name().and_then(|name| rank(&name.to_string_lossy()));
        // Of one rank that was named, the others are not missing.
        let alone = own.is_some_and(|rank| tree.dispatches(directory, rank, "") > 0);
        if !alone {
            tree.look(directory, "", 0);
        }
        if tree.captures.is_empty() {
            return None;
        }
        tree.captures.sort_by(|a, b| (&a.node, a.rank, a.dispatch).cmp(&(&b.node, b.rank, b.dispatch)));
        if !alone {
            tree.missing = missing(&tree.captures);
        }
        Some(tree)
    }

    fn look(&mut self, directory: &Path, node: &str, depth: usize) {
        for (name, path) in directories(directory) {
            if let Some(rank) = rank(&name) {
                if self.dispatches(&path, rank, node) == 0 && is_capture(&path) {
                    self.captures.push(capture(path, rank, 0, node));
                }
            } else if depth < DEEPEST
                && (name == FRONT_END || WORKERS.iter().any(|start| numbered(&name, start).is_some()))
            {
                let below = match (node.is_empty(), name == FRONT_END) {
                    (_, true) => node.to_owned(),
                    (true, false) => name.clone(),
                    (false, false) => format!("{node}/{name}"),
                };
                self.look(&path, &below, depth + 1);
            }
        }
    }

    /// Takes the dispatches of a rank; how many there are.
    fn dispatches(&mut self, directory: &Path, rank: Option<u32>, node: &str) -> usize {
        let before = self.captures.len();
        for (name, path) in directories(directory) {
            if let Some(dispatch) = numbered(&name, "d") {
                self.captures.push(capture(path, rank, dispatch, node));
            }
        }
        self.captures.len() - before
    }

    /// Ranks, each once.
    pub fn ranks(&self) -> Vec<(&str, Option<u32>)> {
        let mut ranks: Vec<_> =
            self.captures.iter().map(|capture| (capture.node.as_str(), capture.rank)).collect();
        ranks.dedup();
        ranks
    }
}

fn capture(directory: PathBuf, rank: Option<u32>, dispatch: u32, node: &str) -> Capture {
    let mut problems = Vec::new();
    let program = told(&directory, "dispatch_program.json", parse_program, &mut problems);
    let mut identity = told(&directory, "dispatch_identity.json", DispatchIdentity::parse, &mut problems);
    if let Some(how) = identity.as_ref().and_then(|identity| identity.against(rank, dispatch)) {
        problems.push(format!("dispatch_identity.json: {how}"));
        identity = None;
    }
    Capture { rank, dispatch, node: node.to_owned(), program, identity, problems, directory }
}

/// Whether a directory holds files of a capture itself.
fn is_capture(directory: &Path) -> bool {
    let dump = ["args_dump", "tensor_dump"].iter().any(|name| directory.join(name).is_dir());
    dump || !crate::Artefacts::listed(directory).is_empty()
}

/// What a small file of a capture says; a file that is not there says nothing.
fn told<T>(
    directory: &Path,
    name: &str,
    parse: fn(&[u8]) -> Result<T, ArtefactError>,
    problems: &mut Vec<String>,
) -> Option<T> {
    let path = directory.join(name);
    if !path.exists() {
        return None;
    }
    let read = argus_files::read(&path, argus_files::LARGEST_TEXT).map_err(ArtefactError::from);
    match read.and_then(|text| parse(&text)) {
        Ok(value) => Some(value),
        Err(error) => {
            problems.push(format!("{name}: {}", argus_facts::with_causes(&error)));
            None
        }
    }
}

/// Rank and dispatch that the names of a capture's directories say.
pub(crate) fn place(directory: &Path) -> Option<(Option<u32>, u32)> {
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let dispatch = numbered(&name(directory)?, "d")?;
    Some((rank(&name(directory.parent()?)?)?, dispatch))
}

/// The rank that a directory's name says; the inner `None` is a dispatch without a device.
fn rank(name: &str) -> Option<Option<u32>> {
    match name {
        "rank_local" => Some(None),
        _ => numbered(name, "rank").map(Some),
    }
}

fn numbered(name: &str, start: &str) -> Option<u32> {
    let digits = name.strip_prefix(start)?;
    let plain = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
    plain.then(|| digits.parse().ok()).flatten()
}

fn directories(directory: &Path) -> Vec<(String, PathBuf)> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut found: Vec<(String, PathBuf)> = entries
        .filter(|path| path.is_dir())
        .filter_map(|path| Some((path.file_name()?.to_string_lossy().into_owned(), path.clone())))
        .collect();
    found.sort();
    found
}

/// Ranks that are not there although a higher one, or a group of their size, says that they were.
fn missing(captures: &[Capture]) -> Vec<String> {
    let mut missing = Vec::new();
    let mut nodes: Vec<&str> = captures.iter().map(|capture| capture.node.as_str()).collect();
    nodes.dedup();
    for node in nodes {
        let of_node = || captures.iter().filter(move |capture| capture.node == node);
        let highest = of_node().filter_map(|capture| capture.rank).max().map_or(0, |rank| rank + 1);
        // A group never has more members than a worker has chips.
        let group =
            of_node().filter_map(|capture| Some(capture.identity.as_ref()?.group_size)).max().unwrap_or(0);
        for rank in 0..highest.max(group.min(highest.saturating_add(4096))) {
            if !of_node().any(|capture| capture.rank == Some(rank)) {
                missing.push(if node.is_empty() {
                    format!("rank{rank}")
                } else {
                    format!("{node}/rank{rank}")
                });
            }
        }
    }
    missing
}
