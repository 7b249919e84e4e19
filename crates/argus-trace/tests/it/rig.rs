//! Cores that run small kernels and give their logs.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use argus_abi::{DType, Member, Tensor};
use argus_chip::Chip;
use argus_gm::{Fill, GlobalMemory};
use argus_tile::{
    ClusterPipes, Core, CoreConfig, CoreLog, CoreStatus, Global, GlobalShape, KernelResult, Opcode, Pipe,
};
use argus_trace::{GlobalBuffer, Params, TaskLog, Timeline};

pub struct Rig {
    pub chip: &'static Chip,
    memory: Arc<GlobalMemory>,
    pipes: Arc<ClusterPipes>,
    buffers: Vec<GlobalBuffer>,
}

impl Rig {
    pub fn new(chip: &'static Chip) -> Rig {
        Rig {
            chip,
            memory: Arc::new(GlobalMemory::new()),
            pipes: Arc::new(ClusterPipes::new()),
            buffers: Vec::new(),
        }
    }

    /// A tensor that the log knows by name.
    pub fn tensor(&mut self, name: &str, dtype: DType, elements: u32) -> Tensor {
        let bytes = u64::from(elements) * dtype.size() as u64;
        let buffer = self.memory.allocate(bytes, Fill::Zero).unwrap();
        self.buffers.push(GlobalBuffer { name: name.into(), addr: buffer.addr, bytes });
        Tensor::contiguous(buffer.addr, dtype, &[elements]).unwrap()
    }

    pub fn core(&self, member: Member) -> Core {
        let config =
            CoreConfig { sizes: self.chip.core_sizes, core_type: member.core_type(), fill: Fill::Zero };
        let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
        let mut core = Core::new(config, self.memory.clone(), self.pipes.clone(), status);
        core.begin_kernel(member);
        core.start_log();
        core
    }

    /// Runs one kernel on one core.
    pub fn run(&self, member: Member, kernel: impl FnOnce(&mut Core) -> KernelResult) -> TaskLog {
        let mut core = self.core(member);
        kernel(&mut core).unwrap();
        self.task(vec![CoreLog { member, block: 0, log: core.take_log().unwrap() }])
    }

    /// Runs one kernel on each core of a cluster, at the same time.
    pub fn run_mix(&self, kernel: impl Fn(&mut Core, Member) -> KernelResult + Sync) -> TaskLog {
        let cores = std::thread::scope(|scope| {
            let threads = Member::ALL.map(|member| {
                let (mut core, kernel) = (self.core(member), &kernel);
                scope.spawn(move || {
                    kernel(&mut core, member).unwrap();
                    CoreLog { member, block: 0, log: core.take_log().unwrap() }
                })
            });
            threads.map(|thread| thread.join().unwrap()).into()
        });
        self.task(cores)
    }

    pub fn task(&self, cores: Vec<CoreLog>) -> TaskLog {
        TaskLog { name: "kernel".into(), chip: self.chip, cores, buffers: self.buffers.clone(), cut: false }
    }
}

pub fn nd(core: &mut Core, tensor: &Tensor, rows: u32, cols: u32) -> Global {
    core.global(tensor, GlobalShape::nd(rows, cols)).unwrap()
}

pub fn hand_over(core: &mut Core, from: Pipe, to: Pipe, id: u8) -> KernelResult {
    core.set_flag(from, to, id)?;
    core.wait_flag(from, to, id)
}

/// Removes the entries of one opcode on one pair of pipes.
pub fn without(mut task: TaskLog, opcode: Opcode, from: Pipe, to: Pipe) -> TaskLog {
    for core in &mut task.cores {
        core.log.entries.retain(|entry| {
            let pair = entry.flag.is_some_and(|flag| flag.src == from && flag.dst == to);
            entry.opcode != opcode || !pair
        });
    }
    task
}

pub fn timeline<'a>(task: &'a TaskLog, params: &'a Params) -> Timeline<'a> {
    Timeline::new(task, params).unwrap()
}
