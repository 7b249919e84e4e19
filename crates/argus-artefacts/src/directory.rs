//! What the directory of a capture holds, lacks and contradicts.
//!
//! | file | subject |
//! |---|---|
//! | this one | the value |
//! | `find` | which file is what, by its content |
//! | `check` | files held against each other and against the dump |

mod check;
mod find;

use std::path::{Path, PathBuf};

use argus_abi::{RuntimeKind, TaskId};
use argus_facts::{Edge, Graph};

use crate::ArtefactError;
use crate::counters::Counters;
use crate::deps::Deps;
use crate::host_phases::HostPass;
use crate::identity::DispatchIdentity;
use crate::log::RunLog;
use crate::names::Names;
use crate::scopes::ScopeStats;
use crate::task_name::IdLayout;
use crate::times::Times;

pub use check::{DumpArgument, DumpFacts};

/// The kinds of file beside a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    Graph,
    Names,
    Times,
    Scopes,
    Counters,
    HostPhases,
    Log,
    Identity,
    Program,
}

impl Kind {
    pub const ALL: [Kind; 9] = [
        Kind::Graph,
        Kind::Names,
        Kind::Times,
        Kind::Scopes,
        Kind::Counters,
        Kind::HostPhases,
        Kind::Log,
        Kind::Identity,
        Kind::Program,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Kind::Graph => "graph",
            Kind::Names => "names",
            Kind::Times => "times",
            Kind::Scopes => "scopes",
            Kind::Counters => "counters",
            Kind::HostPhases => "host phases",
            Kind::Log => "log",
            Kind::Identity => "identity",
            Kind::Program => "program",
        }
    }
}

/// A file that was recognised.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub kind: Kind,
    pub path: PathBuf,
}

/// A file that was not used, and why.
#[derive(Debug)]
pub struct Problem {
    pub kind: Kind,
    pub path: PathBuf,
    pub error: ArtefactError,
}

impl Problem {
    pub fn sentence(&self) -> String {
        format!("{} is not used: {}", self.path.display(), argus_facts::with_causes(&self.error))
    }
}

/// Two files say different things; neither is believed where they do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contradiction {
    /// The kind of file that was put aside.
    pub kind: Kind,
    pub path: PathBuf,
    pub how: String,
}

impl Contradiction {
    pub fn sentence(&self) -> String {
        format!("{} is not used: {}", self.path.display(), self.how)
    }
}

/// Everything beside a dump that could be read.
#[derive(Debug, Default)]
pub struct Artefacts {
    pub directory: PathBuf,
    pub deps: Option<Deps>,
    /// Kernels by number; empty where nothing names them.
    pub names: Names,
    /// Names of whole chip programs, which are no names of kernels.
    pub callables: Option<Names>,
    pub times: Option<Times>,
    pub scopes: Option<ScopeStats>,
    pub counters: Option<Counters>,
    pub host_phases: Vec<HostPass>,
    pub log: Option<RunLog>,
    pub identity: Option<DispatchIdentity>,
    pub program: Option<String>,
    /// Files in use.
    pub found: Vec<Found>,
    pub problems: Vec<Problem>,
    pub contradictions: Vec<Contradiction>,
    /// Tasks of the dump, ascending; empty until the files were held against it.
    dumped: Vec<TaskId>,
}

impl Artefacts {
    /// Why a file of this kind is there and was not used, as a sentence.
    pub fn not_used(&self, kind: Kind) -> Option<String> {
        let problem = self.problems.iter().find(|problem| problem.kind == kind);
        let contradiction = self.contradictions.iter().find(|contradiction| contradiction.kind == kind);
        problem.map(Problem::sentence).or_else(|| contradiction.map(Contradiction::sentence))
    }

    /// Reads what lies in the directory of a capture, the one that holds `args_dump` or `tensor_dump`.
    ///
    /// A directory that cannot be listed holds nothing; opening the dump says why.
    pub fn read(directory: &Path) -> Artefacts {
        Artefacts::read_kinds(directory, &Kind::ALL)
    }

    /// Reads files of some kinds only: times of a long run are large, and few commands show them.
    pub fn read_kinds(directory: &Path, kinds: &[Kind]) -> Artefacts {
        let mut artefacts = find::read(directory, kinds);
        artefacts.hold_together();
        artefacts
    }

    /// Where files of each kind lie in a directory, by their names alone.
    pub fn listed(directory: &Path) -> Vec<Found> {
        find::listed(directory)
    }

    /// Whether several chips wrote the files of this directory, one over the other.
    ///
    /// A run of a whole machine names its chip programs in the directory of its output. Where that directory holds the
    /// files of one chip as well, all chips wrote those, and the last one won.
    pub fn is_overwritten(&self) -> bool {
        // A single chip writes over no other.
        let single = self.log.as_ref().is_some_and(|log| log.devices == 1);
        self.callables.is_some() && !single && self.is_alone()
    }

    /// Whether the log tells of several chips, and nothing says which of them this directory is of. A log may be of other
    /// runs as well, so this is a suspicion.
    pub fn may_be_overwritten(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.devices > 1) && self.is_alone()
    }

    /// Whether nothing says that this is one capture of several.
    fn is_alone(&self) -> bool {
        self.identity.is_none() && self.program.is_none()
    }

    /// Whether nothing at all was there.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty() && self.problems.is_empty()
    }

    /// Kinds of file that are not there or were not used.
    pub fn missing(&self) -> impl Iterator<Item = Kind> {
        Kind::ALL.into_iter().filter(|kind| !self.found.iter().any(|found| found.kind == *kind))
    }

    /// The file that a kind of knowledge comes from.
    pub fn source(&self, kind: Kind) -> Option<&Path> {
        self.found.iter().find(|found| found.kind == kind).map(|found| found.path.as_path())
    }

    /// How task ids are to be read.
    pub fn layout(&self) -> IdLayout {
        let said =
            self.deps.as_ref().and_then(|deps| deps.runtime).or(self.times.as_ref().and_then(|t| t.runtime));
        match said {
            Some(RuntimeKind::Hbg) => return IdLayout::Spaces,
            Some(_) => return IdLayout::Rings,
            None => {}
        }
        let ids = || {
            let ids = self.deps.iter().flat_map(|deps| deps.tasks.iter().map(|task| task.id));
            let timed = self.times.iter().flat_map(|times| times.parts.iter().map(|part| part.task));
            let counted = self.counters.iter().flat_map(|counters| counters.rows.iter().map(|row| row.task));
            ids.chain(timed).chain(counted).chain(self.dumped.iter().copied())
        };
        // Rings end at bit 39: only the layout of September uses bits above.
        if ids().any(|id| id.raw() >> 40 != 0) {
            return IdLayout::Spaces;
        }
        if ids().any(|id| id.ring() > 1) {
            return IdLayout::Rings;
        }
        let host =
            self.times.as_ref().is_some_and(|times| times.host_orchestrated) || !self.host_phases.is_empty();
        if host || self.has_unlisted_inner_tasks() { IdLayout::InnerRing } else { IdLayout::Rings }
    }

    /// Whether dump, times or counters have tasks that the graph does not list, and all of them lie inside a task that runs
    /// nothing.
    ///
    /// Tasks of rings are all listed. Tasks inside a Graph never are, and the Graph itself runs nothing.
    fn has_unlisted_inner_tasks(&self) -> bool {
        let Some(deps) = &self.deps else { return false };
        let mut tasks: Vec<_> = deps.tasks.iter().map(|task| (task.id, task.runs_nothing())).collect();
        tasks.sort_unstable();
        let listed =
            |id: TaskId| tasks.binary_search_by_key(&id, |(known, _)| *known).ok().map(|at| tasks[at].1);
        let timed = self.times.iter().flat_map(|times| times.parts.iter().map(|part| part.task));
        let counted = self.counters.iter().flat_map(|counters| counters.rows.iter().map(|row| row.task));
        let seen = self.dumped.iter().copied().chain(timed).chain(counted);
        let mut unlisted = seen.filter(|id| listed(*id).is_none()).peekable();
        let in_shell =
            |id: TaskId| IdLayout::InnerRing.outer(id).and_then(listed).is_some_and(|is_shell| is_shell);
        unlisted.peek().is_some() && unlisted.all(in_shell)
    }

    /// The graph of `deps.json`, with the tasks inside Graphs among `seen` hung below their outer task.
    ///
    /// The file has no edges inside a Graph. An inner task waits for what its outer task waits for, and what waits for the
    /// outer task waits for all inner ones.
    pub fn graph(&self, seen: impl IntoIterator<Item = TaskId>) -> Option<Graph> {
        let deps = self.deps.as_ref()?;
        let graph = deps.graph(&self.names);
        let layout = self.layout();
        let inner = seen.into_iter().filter_map(|id| Some((layout.outer(id)?, id)));
        let mut inner: Vec<(TaskId, TaskId)> = inner.filter(|(_, id)| graph.task(*id).is_none()).collect();
        inner.sort_unstable();
        inner.dedup();
        if inner.is_empty() {
            return Some(graph);
        }
        let of = |outer: TaskId| {
            let start = inner.partition_point(|(known, _)| *known < outer);
            inner[start..].iter().take_while(move |(known, _)| *known == outer).map(|(_, id)| *id)
        };
        let mut edges = graph.edges.clone();
        for &(outer, id) in &inner {
            edges.push(Edge { from: outer, to: id, reason: argus_abi::EdgeReason::Creator });
        }
        for edge in &graph.edges {
            edges.extend(of(edge.from).map(|id| Edge { from: id, to: edge.to, reason: edge.reason }));
        }
        let mut tasks = graph.tasks;
        tasks.extend(inner.iter().map(|(_, id)| argus_facts::TaskInfo::new(*id)));
        Some(Graph::new(graph.kernels, tasks, edges))
    }
}
