//! graph.json, for dumps whose journal is gone.

use std::borrow::Cow;

use argus_abi::args::KernelAbi;
use argus_abi::{ArgDirection, CoreSet, CoreType, EdgeReason, MAX_CORES, TaskId, TaskState};
use argus_facts::{Edge, Graph, KernelInfo, TaskInfo};
use serde::Deserialize;
use thiserror::Error;

use super::json::{Token, Wrong};

/// Nothing of ours nests deeper than four.
const DEEPEST: usize = 64;

/// Why a graph cannot be understood.
#[derive(Debug, Error)]
pub(crate) enum GraphFileError {
    #[error("it nests deeper than {DEEPEST} levels")]
    TooDeep,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// Number `index` of the list of `what`.
    #[error("{what} {index}: found {found}; allowed is {allowed}")]
    Value { what: &'static str, index: usize, found: String, allowed: &'static str },
}

/// Reads the text; the error says where it is wrong.
pub(crate) fn parse(text: &[u8]) -> Result<Graph, GraphFileError> {
    check_depth(text)?;
    let file: File<'_> = serde_json::from_slice(text)?;
    let place = |what: &'static str, index: usize| {
        move |Wrong { found, allowed }: Wrong| GraphFileError::Value { what, index, found, allowed }
    };
    let mut kernels = Vec::new();
    for (index, kernel) in file.kernels.iter().enumerate() {
        kernels.push(kernel.understood().map_err(place("kernel", index))?);
    }
    let mut tasks = Vec::new();
    for (index, task) in file.tasks.iter().enumerate() {
        tasks.push(task.understood().map_err(place("task", index))?);
    }
    let mut edges = Vec::new();
    for (index, edge) in file.edges.iter().enumerate() {
        edges.push(edge.understood().map_err(place("edge", index))?);
    }
    Ok(Graph::new(kernels, tasks, edges))
}

/// The parser remembers every bracket of what it skips, so there must not be too many.
fn check_depth(text: &[u8]) -> Result<(), GraphFileError> {
    let (mut depth, mut quoted, mut escaped) = (0usize, false, false);
    for &byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            b'[' | b'{' if !quoted => {
                depth += 1;
                if depth > DEEPEST {
                    return Err(GraphFileError::TooDeep);
                }
            }
            b']' | b'}' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

#[derive(Deserialize)]
struct File<'a> {
    #[serde(borrow)]
    kernels: Vec<KernelText<'a>>,
    #[serde(borrow)]
    tasks: Vec<TaskText<'a>>,
    #[serde(borrow)]
    edges: Vec<EdgeText<'a>>,
}

#[derive(Deserialize)]
struct KernelText<'a> {
    func_id: u32,
    #[serde(borrow)]
    name: Cow<'a, str>,
    #[serde(borrow)]
    core_type: Token<'a>,
    #[serde(borrow)]
    abi: Token<'a>,
    #[serde(borrow)]
    signature: Vec<Token<'a>>,
}

impl KernelText<'_> {
    fn understood(&self) -> Result<KernelInfo, Wrong> {
        let words = self.signature.iter();
        Ok(KernelInfo {
            func_id: self.func_id,
            name: self.name.clone().into_owned(),
            core_type: self.core_type.word(CoreType::from_name, "\"aic\" or \"aiv\"")?,
            signature: words
                .map(|word| word.word(ArgDirection::from_name, "\"scalar\", \"in\", \"out\" or \"inout\""))
                .collect::<Result<_, _>>()?,
            abi: self.abi.word(KernelAbi::from_name, "\"tensor\" or \"raw\"")?,
        })
    }
}

const CORES: &str = "cores from 0 to 255";
const _: () = assert!(MAX_CORES == 256);

#[derive(Deserialize)]
struct TaskText<'a> {
    #[serde(borrow)]
    task_id: Token<'a>,
    func_id: Vec<i32>,
    blocks: u32,
    cores: Vec<u16>,
    dispatch_order: Option<u64>,
    dispatched_ns: Option<u64>,
    finished_ns: Option<u64>,
    scope_depth: u32,
    tensors: u16,
    scalars: u16,
    #[serde(borrow)]
    state: Token<'a>,
}

impl TaskText<'_> {
    fn understood(&self) -> Result<TaskInfo, Wrong> {
        let mut cores = CoreSet::EMPTY;
        for &core in &self.cores {
            if !cores.insert(core.into()) {
                return Err(Wrong::new(core.to_string(), CORES));
            }
        }
        Ok(TaskInfo {
            id: TaskId::from_raw(self.task_id.hex()?),
            func_ids: self.func_id.iter().copied().collect(),
            blocks: self.blocks,
            dispatch_order: self.dispatch_order,
            dispatched_ns: self.dispatched_ns.unwrap_or(0),
            finished_ns: self.finished_ns.unwrap_or(0),
            cores,
            scope_depth: self.scope_depth,
            tensors: self.tensors,
            scalars: self.scalars,
            state: self
                .state
                .word(TaskState::from_name, "\"completed\", \"running\", \"waiting\" or \"skipped\"")?,
        })
    }
}

#[derive(Deserialize)]
struct EdgeText<'a> {
    #[serde(borrow)]
    from: Token<'a>,
    #[serde(borrow)]
    to: Token<'a>,
    #[serde(borrow)]
    reason: Token<'a>,
}

impl EdgeText<'_> {
    fn understood(&self) -> Result<Edge, Wrong> {
        Ok(Edge {
            from: TaskId::from_raw(self.from.hex()?),
            to: TaskId::from_raw(self.to.hex()?),
            reason: self.reason.word(
                EdgeReason::from_name,
                "\"explicit\", \"creator\", \"overlap\" or \"write_after_read\"",
            )?,
        })
    }
}
