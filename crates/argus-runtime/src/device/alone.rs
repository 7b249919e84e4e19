//! One task alone, on memory that the caller has laid out.
//!
//! What goes in: a launch, its arguments, and a global memory in which every address of theirs lies. What comes
//! out: that memory, changed by the task. From "ready" to "complete" the task takes the path of every other
//! run; there is no graph around it and nothing is captured.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use argus_abi::args::{KernelAbi, MAX_ARGS, MAX_RAW_ARGS};
use argus_abi::{FatalCode, TaskId};
use argus_gm::GlobalMemory;

use super::{Device, RunReport};
use crate::config::RunConfig;
use crate::error::{ConfigError, Fatal, RunError};
use crate::kernel_table::KernelTable;
use crate::monitor::Monitor;
use crate::schedule::Scheduler;
use crate::schedule::cores::Cores;
use crate::schedule::crew::Crew;
use crate::schedule::task::{Launch, Shape, Task, TaskArgs, Work};

/// A task without a graph.
#[derive(Clone, Debug)]
pub struct Alone {
    /// What messages call it.
    pub id: TaskId,
    pub launch: Launch,
    pub args: TaskArgs,
}

impl Device {
    /// Runs one task on `memory` to its end. After a failure memory is as the task left it.
    pub fn run_alone(
        &mut self,
        kernels: &KernelTable,
        task: Alone,
        memory: &Arc<GlobalMemory>,
        config: &RunConfig,
    ) -> Result<RunReport, RunError> {
        if self.abandoned {
            return Err(ConfigError::Abandoned.into());
        }
        let (clusters, control_threads) = config.resolve(self.chip)?;
        check(&task, kernels, clusters)?;
        let stop = Arc::new(AtomicBool::new(false));
        let scheduler = Arc::new_cyclic(|this| {
            let cores = Cores::new(self.chip, clusters as usize, config.fill, Arc::clone(memory), &stop);
            let (kernels, crew) = (kernels.clone(), Crew::new(this.clone()));
            Scheduler::new(cores, kernels, Vec::new(), vec![None], Arc::clone(&stop), crew, None)
        });
        // The task that would have notified it is not there.
        scheduler.deferrals.ignore();
        let started = Instant::now();
        let Alone { id, launch, args } = task;
        let parts = (launch.blocks * launch.member_count()) as usize;
        let task = Arc::new(Task::new(id, Work::Kernels(launch), args, 0));
        scheduler.count_submitted();
        scheduler.publish(&task);
        scheduler.end_orchestration();
        let monitor = Monitor::new(config.progress_timeout, &self.interrupt);
        let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get());
        for thread in 0..config.host_threads.unwrap_or(cpus.min(parts)).max(1) {
            // The first is enough to finish; kernels that need a second one say so themselves.
            match scheduler.crew.hire(|_, _| ()) {
                Err(source) if thread == 0 => scheduler.end(Some(RunError::Thread { source })),
                _ => {}
            }
        }
        let ended = monitor.watch(&scheduler);
        let elapsed = started.elapsed();
        if ended.abandoned {
            self.abandoned = true;
        }
        scheduler.dismantle();
        match ended.error {
            Some(error) => Err(error.resolved()),
            None => Ok(RunReport { tasks: scheduler.completed(), elapsed, clusters, control_threads }),
        }
    }
}

/// What the graph builders would have refused.
fn check(task: &Alone, kernels: &KernelTable, clusters: u32) -> Result<(), Fatal> {
    let Alone { launch, args, .. } = task;
    let (tensors, scalars) = (args.tensors.len(), args.scalars.len());
    match launch.abi {
        KernelAbi::Tensors if tensors + scalars > MAX_ARGS => {
            return Err(Fatal::invalid(format!(
                "a task has at most {MAX_ARGS} arguments, not {tensors} tensors and {scalars} scalars"
            )));
        }
        KernelAbi::Raw if tensors > 0 || scalars > MAX_RAW_ARGS => {
            let message = format!("a raw task has at most {MAX_RAW_ARGS} slots and no descriptors");
            return Err(Fatal::invalid(message));
        }
        _ => {}
    }
    if launch.member_count() == 0 {
        return Err(Fatal::invalid("a task needs at least one kernel"));
    }
    for (member, func) in launch.members() {
        let entry = kernels.named(func)?;
        if entry.core_type != member.core_type() {
            let message = format!(
                "kernel '{}' (func_id {func}) is for {} cores and was asked for on an {} core",
                entry.name,
                entry.core_type,
                member.core_type()
            );
            return Err(Fatal::invalid(message));
        }
    }
    if launch.blocks == 0 || launch.blocks > i16::MAX as u32 {
        return Err(Fatal::invalid(format!("a task has 1 to {} blocks, not {}", i16::MAX, launch.blocks)));
    }
    let room = if launch.shape() == Shape::Aiv { 2 * clusters } else { clusters };
    if launch.sync_start && launch.blocks > room {
        let message = format!("{} blocks must start together, there is room for {room}", launch.blocks);
        return Err(Fatal::new(FatalCode::RequireSyncStartInvalid, message));
    }
    Ok(())
}
