//! The graph of a program, without its data.

use std::convert::Infallible;
use std::sync::Arc;

use argus_abi::capture::{ArgumentEntry, EdgesEntry, SkipEntry, TaskEntry};
use argus_abi::{EdgeReason, TaskId};
use argus_facts::{Edge, Graph, Selection, Sink, TaskInfo};

use crate::config::RunConfig;
use crate::device::{CaptureRequest, CapturedRun, Collect, Device};
use crate::error::RunError;
use crate::program::{HostArgs, Program};

impl Device {
    /// Runs a program and keeps nothing but its graph. Arguments are treated as by [`Device::run`].
    pub fn graph(
        &mut self,
        program: &Program,
        args: &mut HostArgs,
        config: &RunConfig,
    ) -> Result<Graph, RunError> {
        let selection = Arc::new(Selection { level: None, selectors: Vec::new() });
        let request = CaptureRequest { selection, stats_only: false, collect: Collect::default() };
        let CapturedRun { result, captured } =
            self.run_captured(program, args, config, &request, |_| Ok(Structure::default()));
        result?;
        let structure = captured.and_then(|captured| captured.sink);
        let Structure { tasks, edges } = structure.ok_or(RunError::GraphLost)?;
        Ok(Graph::new(program.kernel_infos(), tasks, edges))
    }
}

/// A sink that keeps tasks and edges.
#[derive(Default)]
struct Structure {
    tasks: Vec<TaskInfo>,
    edges: Vec<Edge>,
}

impl Sink for Structure {
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
        self.tasks.extend(TaskInfo::from_fields(&entry.task));
        Ok(())
    }

    fn edges(&mut self, entry: &EdgesEntry) -> Result<(), Infallible> {
        let to = TaskId::from_raw(entry.consumer);
        let known = entry.producers.iter().zip(entry.reasons).take(usize::from(entry.count));
        self.edges.extend(known.filter_map(|(&from, reason)| {
            Some(Edge { from: TaskId::from_raw(from), to, reason: EdgeReason::from_raw(reason)? })
        }));
        Ok(())
    }

    fn skip(&mut self, _: &SkipEntry) -> Result<(), Infallible> {
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Infallible> {
        Ok(())
    }
}
