//! The graph of a program, without its data.

use std::convert::Infallible;
use std::sync::Arc;

use argus_abi::capture::{ArgumentEntry, EdgesEntry, SkipEntry, TaskEntry};
use argus_abi::{FuncId, TaskId};
use argus_capture::{Selection, Sink};

use crate::config::RunConfig;
use crate::device::{CaptureRequest, CapturedRun, Collect, Device};
use crate::error::RunError;
use crate::program::{HostArgs, Program};

/// The tasks of a run and who waits for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskGraph {
    /// By id.
    pub tasks: Vec<GraphTask>,
    /// Each pair once, in order.
    pub edges: Vec<GraphEdge>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphTask {
    pub id: TaskId,
    /// Kernels by place in the cluster.
    pub funcs: [Option<FuncId>; 3],
    /// 0 for a task without kernels.
    pub blocks: u32,
}

/// `to` waits for `from`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GraphEdge {
    pub from: TaskId,
    pub to: TaskId,
}

impl Device {
    /// Runs a program and keeps nothing but its graph. Arguments are treated as by [`Device::run`].
    pub fn graph(
        &mut self,
        program: &Program,
        args: &mut HostArgs,
        config: &RunConfig,
    ) -> Result<TaskGraph, RunError> {
        let selection = Arc::new(Selection { level: None, selectors: Vec::new() });
        let request = CaptureRequest { selection, stats_only: false, collect: Collect::default() };
        let CapturedRun { result, captured } =
            self.run_captured(program, args, config, &request, |_| Ok(TaskGraph::default()));
        result?;
        let graph = captured.and_then(|captured| captured.sink);
        let mut graph = graph.ok_or_else(|| RunError::Capture("the graph was lost".into()))?;
        graph.tasks.sort_by_key(|task| task.id);
        graph.edges.sort();
        graph.edges.dedup();
        Ok(graph)
    }
}

impl Sink for TaskGraph {
    type Error = Infallible;

    fn begin_argument(&mut self, _: &ArgumentEntry) -> Result<(), Infallible> {
        Ok(())
    }

    fn payload(&mut self, _: &[u8]) -> Result<(), Infallible> {
        Ok(())
    }

    fn end_argument(&mut self) -> Result<(), Infallible> {
        Ok(())
    }

    fn task(&mut self, entry: &TaskEntry) -> Result<(), Infallible> {
        let func = |id: i32| u32::try_from(id).ok().map(FuncId);
        let (id, funcs) = (TaskId::from_raw(entry.task_id), entry.func_ids.map(func));
        self.tasks.push(GraphTask { id, funcs, blocks: entry.blocks });
        Ok(())
    }

    fn edges(&mut self, entry: &EdgesEntry) -> Result<(), Infallible> {
        let to = TaskId::from_raw(entry.consumer);
        let producers = entry.producers.iter().take(usize::from(entry.count));
        self.edges.extend(producers.map(|&from| GraphEdge { from: TaskId::from_raw(from), to }));
        Ok(())
    }

    fn skip(&mut self, _: &SkipEntry) -> Result<(), Infallible> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
