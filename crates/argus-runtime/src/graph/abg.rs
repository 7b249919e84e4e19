//! aicpu_build_graph: edges are declared, and a task is invisible until its scope ends.

use std::borrow::Borrow;
use std::sync::Arc;

use argus_abi::{EdgeReason, FatalCode, FuncId, TaskId};
use smallvec::SmallVec;

use crate::error::Fatal;
use crate::graph::arg::{Arg, MixedKernels, TaskOutputs, TensorArg, TensorCreateInfo};
use crate::graph::frame::{Frame, ScopeMode};
use crate::schedule::task::{Task, Work};
use crate::schedule::task_ring::Lookup;

/// The orchestration's handle. Every call fails once the run is fatal; pass the error on.
pub struct Abg {
    frame: Frame,
}

impl Abg {
    pub(crate) fn new(frame: Frame) -> Abg {
        Abg { frame }
    }

    /// Submits a task for the matrix core of a cluster.
    pub fn submit_aic(&mut self, func: FuncId, arg: impl Borrow<Arg>) -> Result<TaskOutputs, Fatal> {
        self.submit(MixedKernels::aic(func), arg)
    }

    /// Submits a task for a vector core.
    pub fn submit_aiv(&mut self, func: FuncId, arg: impl Borrow<Arg>) -> Result<TaskOutputs, Fatal> {
        self.submit(MixedKernels::aiv(func), arg)
    }

    /// Submits a task; it waits for nothing until [`Abg::add_dependency`] says so.
    pub fn submit(&mut self, kernels: MixedKernels, arg: impl Borrow<Arg>) -> Result<TaskOutputs, Fatal> {
        let arg = arg.borrow();
        self.frame.check()?;
        if arg.predicate.is_some() {
            let message = "aicpu_build_graph has no conditions on tasks";
            return Err(self.frame.fail(Fatal::invalid(message)));
        }
        let launch = self.frame.launch(kernels, arg)?;
        let mut creators: SmallVec<[Arc<Task>; 8]> = SmallVec::new();
        for tensor in &arg.tensors {
            if let TensorArg::Existing(tensor, _) = tensor {
                creators.extend(self.frame.creator(tensor)?);
            }
        }
        let (task, outputs) = self.frame.add_task(Work::Kernels(launch), arg, 0)?;
        for creator in &creators {
            task.retain(creator);
        }
        if let Some(hooks) = &self.frame.scheduler.hooks {
            hooks.submitted(&task, &[]);
        }
        for &producer in &arg.dependencies {
            self.add_dependency(producer, task.id)?;
        }
        Ok(outputs)
    }

    /// Allocates tensors that belong to the current scope.
    pub fn alloc_tensors(&mut self, infos: &[TensorCreateInfo]) -> Result<TaskOutputs, Fatal> {
        self.frame.alloc_tensors(infos)
    }

    /// Makes `consumer` wait for `producer`. The consumer's scope must still be open.
    pub fn add_dependency(&mut self, producer: TaskId, consumer: TaskId) -> Result<(), Fatal> {
        self.frame.check()?;
        let Lookup::Live(waiting) = self.frame.find(consumer) else {
            let message = format!("task {consumer} cannot be given a dependency: it is not there");
            return Err(self.frame.fail(Fatal::invalid(message)));
        };
        if !self.frame.is_in_open_scope(consumer) {
            let message = format!("task {consumer} cannot be given a dependency: its scope has ended");
            return Err(self.frame.fail(Fatal::invalid(message)));
        }
        // Only an allocation completes before its scope ends. Waiting after that, it would complete twice.
        if waiting.is_complete() {
            let message = format!("task {consumer} cannot be given a dependency: it only allocates memory");
            return Err(self.frame.fail(Fatal::invalid(message)));
        }
        let found = self.frame.find(producer);
        if let (Some(hooks), Lookup::Live(_) | Lookup::Reclaimed) = (&self.frame.scheduler.hooks, &found) {
            hooks.waits_for(consumer, &[(producer, EdgeReason::Explicit)]);
        }
        match found {
            // Ordering only: memory is kept by the task that uses a tensor of the producer, not by who waits.
            Lookup::Live(task) => {
                waiting.wait_for(&task);
                Ok(())
            }
            Lookup::Reclaimed => Ok(()),
            Lookup::Never => {
                let message = format!("task {producer}, named as a dependency, was never submitted");
                Err(self.frame.fail(Fatal::invalid(message)))
            }
        }
    }

    /// Opens a scope, runs `body` in it and closes it, which publishes its tasks.
    pub fn scope<R>(&mut self, body: impl FnOnce(&mut Abg) -> Result<R, Fatal>) -> Result<R, Fatal> {
        self.scope_begin()?;
        let open = self.frame.open_scopes();
        let result = body(self);
        let result = self.frame.after_body(open, result)?;
        self.scope_end()?;
        Ok(result)
    }

    pub fn scope_begin(&mut self) -> Result<(), Fatal> {
        self.frame.begin_scope(ScopeMode::Auto)
    }

    pub fn scope_end(&mut self) -> Result<(), Fatal> {
        let tasks = self.frame.end_scope()?;
        for task in &tasks {
            if !task.is_complete() {
                self.frame.scheduler.publish(task);
            }
        }
        self.frame.release_scope(&tasks);
        Ok(())
    }

    /// Ends the run with an error of the orchestration's own.
    pub fn report_fatal(&mut self, code: FatalCode, message: impl Into<String>) -> Fatal {
        self.frame.fail(Fatal::new(code, message))
    }

    pub fn is_fatal(&mut self) -> bool {
        self.frame.is_fatal()
    }
}
