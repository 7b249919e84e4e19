//! One capture: its dump and the files beside it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use argus_abi::args::KernelAbi;
use argus_abi::{Kind as ArgKind, TaskId, TaskState};
use argus_artefacts::Artefacts;
use argus_artefacts::directory::{Contradiction, DumpArgument, DumpFacts, Kind, Problem};
use argus_artefacts::ranks::RankTree;
use argus_dump::read::{Dump, FormatVersion, Glance, OpenError, Supplied};
use argus_facts::{FuncIds, Graph, KernelInfo, TaskInfo};

use crate::error::RunError;
use crate::holdings::Holdings;
use crate::tree::RunTree;

/// Which files beside the dump are read. Times of a long run are large, and few commands show them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// What the dump's own tables need: graph and names.
    Graph,
    All,
    /// All, also where there is no dump beside them: times and graph are worth showing by themselves.
    WithoutDump,
}

/// A dump that knows what lies beside it.
pub struct Capture {
    pub dump: Dump,
    pub artefacts: Artefacts,
}

/// Kinds of file that name kernels, order tasks, and say how the run ended.
const GRAPH: [Kind; 5] = [Kind::Graph, Kind::Names, Kind::Program, Kind::Identity, Kind::Log];

impl Capture {
    /// Opens the capture that `path` means: its directory, its dump, or a file of the dump.
    pub fn open(path: &Path, wanted: Wanted) -> Result<Capture, RunError> {
        let dump = match Dump::open(path) {
            Ok(dump) => dump,
            Err(error @ OpenError::NotADump { .. }) => match no_dump(path, error) {
                RunError::NoRecords { holdings, .. }
                    if wanted == Wanted::WithoutDump && holdings.payload.is_none() =>
                {
                    Dump::of_nothing(&holdings.directory)
                }
                error => return Err(error),
            },
            Err(error) => return Err(error.into()),
        };
        let mut capture = Capture::join(dump, wanted);
        if capture.artefacts.is_overwritten() {
            // Who names the manifest itself wants to see what is left of it.
            if path.is_dir() {
                return Err(RunError::Overwritten { path: capture.artefacts.directory });
            }
            let error = RunError::Overwritten { path: capture.artefacts.directory.clone() };
            capture.dump.add_notes([error.to_string()]);
        }
        Ok(capture)
    }

    /// Joins an open dump with the files beside it.
    pub fn join(mut dump: Dump, wanted: Wanted) -> Capture {
        let directory = prefix(dump.directory());
        let mut kinds: Vec<Kind> = match wanted {
            Wanted::Graph => GRAPH.to_vec(),
            Wanted::All | Wanted::WithoutDump => Kind::ALL.to_vec(),
        };
        // Only the times know the kernels of a dump of June.
        if dump.format_version() == FormatVersion::June && !kinds.contains(&Kind::Times) {
            kinds.push(Kind::Times);
        }
        let mut artefacts = Artefacts::read_kinds(&directory, &kinds);
        let facts = facts(&dump, &artefacts);
        artefacts.hold_against(&facts);
        // Asking for the graph itself would keep it, however large it is.
        if !dump.has_own_graph() {
            let names = artefacts.names.iter().map(|(id, name)| (id, name.to_owned())).collect();
            let graph = supplied_graph(&dump, &artefacts, &facts);
            dump.supply(Supplied { graph, names, running: running(&artefacts) });
        }
        dump.add_notes(notes(&artefacts));
        dump.add_notes(neighbour(&artefacts).map(|path| {
            format!(
                "there is no graph here; the capture beside it, of the same program, has one: {}",
                path.display()
            )
        }));
        Capture { dump, artefacts }
    }

    /// Ids of all tasks that any file knows, with their kernels where they are known.
    pub fn func_ids(&self, task: TaskId) -> FuncIds {
        self.dump
            .graph()
            .and_then(|graph| graph.task(task))
            .map_or_else(FuncIds::default, |task| task.func_ids)
    }
}

/// The directory of a capture, by that of its dump.
pub fn prefix(dump: &Path) -> PathBuf {
    let inside = dump.file_name().is_some_and(|name| {
        let name = name.to_string_lossy();
        name == "args_dump" || name.starts_with("tensor_dump")
    });
    match dump.parent().filter(|_| inside) {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_path_buf(),
        Some(_) => PathBuf::from("."),
        None => dump.to_path_buf(),
    }
}

/// The graph of another dispatch of the same program to the same chip. A front end may run a program once for its graph and
/// once more for its times: ids agree, values need not, so it is named and not used.
pub(crate) fn neighbour(artefacts: &Artefacts) -> Option<PathBuf> {
    let program = artefacts.program.as_deref().filter(|_| artefacts.deps.is_none())?;
    let rank = artefacts.directory.parent()?;
    let captures = RankTree::read(rank.parent()?)?.captures;
    let beside = captures.into_iter().find(|capture| {
        capture.directory.parent() == Some(rank)
            && capture.directory != artefacts.directory
            && capture.program.as_deref() == Some(program)
            && capture.directory.join("deps.json").is_file()
    });
    beside.map(|capture| capture.directory.join("deps.json"))
}

/// Tasks that were on a core when the run was given up: what they left is a part of their outputs.
fn running(artefacts: &Artefacts) -> BTreeSet<TaskId> {
    let Some(report) = artefacts.log.as_ref().and_then(|log| log.stall.as_ref()) else {
        return BTreeSet::new();
    };
    let listed = report.tasks.iter().filter(|task| task.state == "RUNNING").map(|task| task.id);
    listed.chain(report.stall.and_then(|stall| stall.task)).collect()
}

/// Why there is no dump, as well as the directory can tell.
fn no_dump(path: &Path, error: OpenError) -> RunError {
    if let Some(tree) = RunTree::read(path) {
        let labels = tree.ranks.captures.iter().map(|capture| capture.label()).collect();
        return RunError::Ranks { path: path.to_path_buf(), labels };
    }
    let directory = if path.is_dir() { prefix(path) } else { return error.into() };
    // A directory of April that has a time in its name holds its payload itself.
    match Holdings::read(&directory).or_else(|| Holdings::read(path)) {
        Some(holdings) => RunError::NoRecords { path: path.to_path_buf(), holdings: Box::new(holdings) },
        None => error.into(),
    }
}

/// What the dump says of its tasks.
fn facts(dump: &Dump, artefacts: &Artefacts) -> DumpFacts {
    let epoch = Glance::at(dump.directory()).epoch;
    let mut facts = DumpFacts { epoch, ..DumpFacts::default() };
    let arguments = artefacts.deps.is_some();
    for record in dump.records() {
        facts.tasks.entry(record.task_id).or_insert(record.func_ids);
        if arguments && record.kind == ArgKind::Tensor {
            facts.arguments.push(DumpArgument {
                task: record.task_id,
                arg: record.arg_index,
                dtype: record.dtype,
                shape: record.shape().to_vec(),
            });
        }
    }
    facts
}

/// One sentence for each file that was not used.
fn notes(artefacts: &Artefacts) -> Vec<String> {
    let problems = artefacts.problems.iter().map(Problem::sentence);
    let contradictions = artefacts.contradictions.iter().map(Contradiction::sentence);
    let log = artefacts.log.iter();
    let stalls = log.clone().filter_map(|log| log.stall.as_ref()).map(|report| {
        format!("its log says that the run stood still, {}: {}", report.class_name(), report.meaning())
    });
    let failures = log.filter(|log| log.stall.is_none()).filter_map(|log| log.failure.as_ref());
    let failures = failures.map(|failure| format!("its log says that the run failed: {}", failure.reason()));
    let scopes = artefacts.source(Kind::Scopes).zip(artefacts.scopes.as_ref());
    let short = scopes.into_iter().flat_map(|(path, scopes)| {
        scopes.shortcomings().into_iter().map(move |what| format!("{}: {what}", path.display()))
    });
    let overwritten = artefacts.may_be_overwritten().then(|| {
        "its log tells of a run on several chips, and nothing says which chip this directory is of: chips that share a \
         directory write over each other's files"
            .to_owned()
    });
    problems.chain(contradictions).chain(stalls).chain(failures).chain(short).chain(overwritten).collect()
}

/// The graph beside the dump, with what dump and times add to it. `None` if there is neither graph nor kernel.
fn supplied_graph(dump: &Dump, artefacts: &Artefacts, facts: &DumpFacts) -> Option<Graph> {
    let timed = artefacts.times.iter().flat_map(|times| times.parts.iter().map(|part| part.task));
    let graph = artefacts.graph(facts.tasks.keys().copied().chain(timed));
    let funcs = kernels_by_times(artefacts);
    let graph = match graph {
        Some(graph) => graph,
        // A dump without kernels whose times know them.
        None if !funcs.is_empty() && facts.tasks.values().all(|ids| ids.is_empty()) => {
            let tasks = facts.tasks.keys().map(|&id| TaskInfo { blocks: 1, ..TaskInfo::new(id) });
            Graph::new(Vec::new(), tasks.collect(), Vec::new())
        }
        None => return None,
    };
    let counted = arguments(dump);
    let skipped = skipped(artefacts);
    let mut tasks = graph.tasks;
    for task in &mut tasks {
        if task.func_ids.is_empty() {
            let known = facts.tasks.get(&task.id).copied().filter(|ids| !ids.is_empty());
            task.func_ids = known.or_else(|| funcs.get(&task.id).copied()).unwrap_or_default();
            if !task.func_ids.is_empty() {
                task.blocks = task.blocks.max(1);
            }
        }
        // Scalars are in the dump only, and so are the tensors of tasks inside a Graph.
        let (tensors, scalars) = counted.get(&task.id).copied().unwrap_or_default();
        (task.tensors, task.scalars) = (task.tensors.max(tensors), scalars);
        if skipped.contains(&task.id) {
            task.state = TaskState::Skipped;
        }
    }
    let mut kernels = graph.kernels;
    for (id, core_type) in core_types(artefacts, &tasks) {
        let known = kernels.iter().any(|kernel| kernel.func_id as i32 == id);
        if let (false, Some(name), Ok(func_id)) = (known, artefacts.names.kernel(id), u32::try_from(id)) {
            let (name, signature, abi) = (name.to_owned(), Vec::new(), KernelAbi::Tensors);
            kernels.push(KernelInfo { func_id, name, core_type, signature, abi });
        }
    }
    Some(Graph::new(kernels, tasks, graph.edges))
}

/// Tensors and scalars of each task, as many as were captured of each.
fn arguments(dump: &Dump) -> BTreeMap<TaskId, (u16, u16)> {
    let mut slots: BTreeMap<TaskId, [Vec<u32>; 2]> = BTreeMap::new();
    for record in dump.records() {
        let list = &mut slots.entry(record.task_id).or_default()[usize::from(record.kind == ArgKind::Scalar)];
        if !list.contains(&record.arg_index) {
            list.push(record.arg_index);
        }
    }
    let count = |list: &Vec<u32>| u16::try_from(list.len()).unwrap_or(u16::MAX);
    slots.iter().map(|(&task, [tensors, scalars])| (task, (count(tensors), count(scalars)))).collect()
}

/// The kernels of tasks as the old form of the times names them.
fn kernels_by_times(artefacts: &Artefacts) -> BTreeMap<TaskId, FuncIds> {
    let mut ids: BTreeMap<TaskId, Vec<i32>> = BTreeMap::new();
    for part in artefacts.times.iter().flat_map(|times| &times.parts) {
        if let Some(func) = part.func.filter(|&func| func >= 0) {
            let known = ids.entry(part.task).or_default();
            if !known.contains(&func) {
                known.push(func);
            }
        }
    }
    // Cores are numbered with the matrix cores first, so members come in their order.
    ids.into_iter().map(|(task, ids)| (task, ids.into_iter().collect())).collect()
}

/// Where kernels ran, by number, for tasks with one kernel.
fn core_types(artefacts: &Artefacts, tasks: &[TaskInfo]) -> BTreeMap<i32, argus_abi::CoreType> {
    let mut found = BTreeMap::new();
    let Some(times) = &artefacts.times else { return found };
    for part in &times.parts {
        let Some(core_type) = times.core_type(part.core) else { continue };
        let at = tasks.binary_search_by_key(&part.task, |task| task.id);
        if let Ok(at) = at
            && let [id] = tasks[at].func_ids[..]
        {
            found.entry(id).or_insert(core_type);
        }
    }
    found
}

/// Tasks whose condition did not hold, as control threads wrote down.
fn skipped(artefacts: &Artefacts) -> Vec<TaskId> {
    let Some(times) = &artefacts.times else { return Vec::new() };
    let phases = times.streams.iter().flat_map(|stream| &stream.phases);
    phases.filter(|phase| times.kind(phase) == "predicated_skip").filter_map(|phase| phase.task).collect()
}
