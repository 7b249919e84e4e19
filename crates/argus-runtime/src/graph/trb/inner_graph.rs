//! Graphs within a host-built graph: a function of boundary tensors, submitted as one task.
//!
//! Outside, the graph is one task on its boundary: a task that touches those tensors is ordered against it. Inside, its
//! tasks are ordered among themselves; those that wait for no other inner task wait for what the boundary waits
//! for, and the graph is complete when all of them are. Inner tasks have names of their own, in blocks of
//! [`MAX_INNER_TASKS`] on a ring of their own, and are captured like any other.

use std::sync::Arc;

use argus_abi::{EdgeReason, TaskId};

use super::{Producers, Trb, Wired, pending};
use crate::error::Fatal;
use crate::graph::arg::{Arg, TensorArg};
use crate::graph::frame::{Frame, GRAPH_RING};
use crate::graph::tensormap::{Found, TensorMap};
use crate::schedule::hooks::Hooks;
use crate::schedule::task::{Task, Work};

/// Tasks of one inner graph.
pub const MAX_INNER_TASKS: u32 = 0x400;

/// The inner graphs of a run, and the one that is being described.
#[derive(Default)]
pub(super) struct InnerGraphs {
    begun: u32,
    open: Option<Open>,
}

struct Open {
    /// The graph as one task.
    whole: Arc<Task>,
    /// What the boundary waits for.
    boundary: Producers,
    /// Views outside, put aside while inner tasks are described.
    outside: TensorMap,
    tasks: Vec<Arc<Task>>,
    first: u32,
}

impl InnerGraphs {
    /// Refuses a task for which the graph that is being described has no name left.
    pub(super) fn check_room(&self, frame: &mut Frame) -> Result<(), Fatal> {
        let full = |open: &Open| frame.ring().next_local() - open.first >= MAX_INNER_TASKS;
        if self.open.as_ref().is_some_and(full) {
            let message = format!("a graph within the graph has at most {MAX_INNER_TASKS} tasks");
            return Err(frame.fail(Fatal::invalid(message)));
        }
        Ok(())
    }

    /// A task that waits for no other inner task waits for what the boundary waits for.
    pub(super) fn follow_boundary(&self, producers: &mut Producers) {
        let Some(open) = &self.open else { return };
        let inner = |(found, _): &(Found, EdgeReason)| usize::from(found.id().ring()) == GRAPH_RING;
        if !producers.found.iter().any(inner) {
            for (found, reason) in &open.boundary.found {
                producers.add(found.clone(), *reason);
            }
        }
    }

    /// Inside a graph the tasks outside are not looked through: whatever its boundary waits for may matter.
    pub(super) fn add_boundary(&self, tasks: &mut Vec<Arc<Task>>) {
        let boundary = self.open.iter().flat_map(|open| &open.boundary.found);
        tasks.extend(boundary.filter_map(|(found, _)| pending(found.clone())));
    }

    pub(super) fn added(&mut self, task: &Arc<Task>) {
        if let Some(open) = &mut self.open {
            open.tasks.push(Arc::clone(task));
        }
    }
}

impl Trb {
    /// Submits a graph as one task. `body` describes its tasks; `boundary` names every tensor from outside that
    /// they use. Only a host-built graph has graphs within.
    pub fn submit_graph(
        &mut self,
        boundary: Arg,
        body: impl FnOnce(&mut Trb) -> Result<(), Fatal>,
    ) -> Result<TaskId, Fatal> {
        let id = self.graph_begin(boundary)?;
        body(self).map_err(|fatal| self.frame.fail(fatal))?;
        self.graph_end()?;
        Ok(id)
    }

    /// Begins a graph within the graph; tasks belong to it until [`Trb::graph_end`].
    pub fn graph_begin(&mut self, boundary: Arg) -> Result<TaskId, Fatal> {
        self.frame.check()?;
        let refused = if !self.frame.ahead {
            Some("graphs are submitted in host-built graphs only")
        } else if self.inner.open.is_some() {
            Some("a graph within a graph has no graphs of its own")
        } else if boundary.tensors.iter().any(|tensor| matches!(tensor, TensorArg::Create(_))) {
            Some("the boundary of a graph is made of tensors that exist")
        } else {
            None
        };
        if let Some(message) = refused {
            return Err(self.frame.fail(Fatal::invalid(message)));
        }
        let Wired { task: whole, producers: boundary, .. } = self.wire(Work::None, &boundary)?;
        let first = self.inner.begun * MAX_INNER_TASKS;
        self.inner.begun += 1;
        self.frame.begin_scope(self.frame.mode())?;
        self.frame.in_graph = true;
        self.frame.ring().begin_block(first);
        let fresh = TensorMap::new(self.frame.scheduler.hooks.as_ref().is_some_and(Hooks::wants_edges));
        let outside = std::mem::replace(&mut self.map, fresh);
        let id = whole.id;
        self.inner.open = Some(Open { whole, boundary, outside, tasks: Vec::new(), first });
        Ok(id)
    }

    /// The graph that was begun last has all its tasks.
    pub fn graph_end(&mut self) -> Result<(), Fatal> {
        self.frame.check()?;
        let Some(Open { whole, outside, tasks, .. }) = self.inner.open.take() else {
            return Err(self.frame.fail(Fatal::invalid("a graph ended that was never begun")));
        };
        self.map = outside;
        self.frame.in_graph = false;
        self.scope_end()?;
        if let Some(hooks) = &self.frame.scheduler.hooks {
            let waits: Vec<_> = tasks.iter().map(|task| (task.id, EdgeReason::Explicit)).collect();
            hooks.waits_for(whole.id, &waits);
        }
        for task in &tasks {
            whole.wait_for(task);
        }
        // Inner tasks were handed over as they came; the graph itself comes last.
        self.publish(whole);
        Ok(())
    }
}
