//! The cores of a chip: each a mailbox and a memory. Threads belong to no core in particular; the thread that finds
//! a core with an unread token runs it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use argus_abi::cores::CORE_WORDS;
use argus_abi::{DispatchPayload, FuncId, Member, TaskId};
use argus_chip::Chip;
use argus_facts::PartTime;
use argus_gm::{Fill, GlobalMemory};
use argus_sync::{Bits, Mailbox, Token};
use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus};

use crate::schedule::task::Task;

/// A set of cores, marked by one thread and looked at by another.
pub type CoreBits = Bits<CORE_WORDS>;

/// What a control thread posts to a core.
#[derive(Debug, Default)]
pub struct Dispatch {
    pub payload: DispatchPayload,
    pub task: Option<Arc<Task>>,
    /// When, if the run is timed.
    pub posted_ns: u64,
}

/// What a core does at the moment, for those who watch from outside.
#[derive(Debug)]
pub struct Activity {
    task: AtomicU64,
    func: AtomicU32,
    block: AtomicU32,
}

impl Activity {
    fn idle() -> Activity {
        Activity {
            task: AtomicU64::new(TaskId::INVALID.raw()),
            func: AtomicU32::new(0),
            block: AtomicU32::new(0),
        }
    }

    pub fn begin(&self, task: TaskId, func: FuncId, block: u32) {
        self.func.store(func.0, Ordering::Relaxed);
        self.block.store(block, Ordering::Relaxed);
        self.task.store(task.raw(), Ordering::Release);
    }

    pub fn end(&self) {
        self.task.store(TaskId::INVALID.raw(), Ordering::Relaxed);
    }

    /// Task, kernel and block that run now.
    pub fn current(&self) -> Option<(TaskId, FuncId, u32)> {
        let task = TaskId::from_raw(self.task.load(Ordering::Acquire));
        let (func, block) = (self.func.load(Ordering::Relaxed), self.block.load(Ordering::Relaxed));
        task.is_valid().then_some((task, FuncId(func), block))
    }
}

/// The part of a core that only the thread that runs it touches.
#[derive(Default)]
pub struct Engine {
    /// Made when the core runs its first kernel.
    pub core: Option<Core>,
    pub last: Option<Token>,
    /// When its kernel began, and what it ran before, if the run is timed.
    pub started_ns: u64,
    pub parts: Vec<PartTime>,
}

/// One core.
pub struct CoreCell {
    pub member: Member,
    pub mailbox: Mailbox<Dispatch>,
    pub engine: Mutex<Engine>,
    pub status: Arc<CoreStatus>,
    pub activity: Activity,
    pipes: Arc<ClusterPipes>,
}

/// The cores of a run, in blocked order: all matrix cores, then the vector cores of each cluster in pairs.
pub struct Cores {
    pub clusters: usize,
    cells: Vec<CoreCell>,
    chip: &'static Chip,
    fill: Fill,
    memory: Arc<GlobalMemory>,
}

impl Cores {
    pub fn new(
        chip: &'static Chip,
        clusters: usize,
        fill: Fill,
        memory: Arc<GlobalMemory>,
        stop: &Arc<AtomicBool>,
    ) -> Cores {
        let pipes: Vec<_> = (0..clusters).map(|_| Arc::new(ClusterPipes::default())).collect();
        let cell = |cluster: usize, member| CoreCell {
            member,
            mailbox: Mailbox::default(),
            engine: Mutex::default(),
            status: Arc::new(CoreStatus::new(Arc::clone(stop))),
            activity: Activity::idle(),
            pipes: Arc::clone(&pipes[cluster]),
        };
        let matrix = (0..clusters).map(|cluster| cell(cluster, Member::Aic));
        let vector =
            (0..clusters).flat_map(|cluster| [cell(cluster, Member::Aiv0), cell(cluster, Member::Aiv1)]);
        Cores { clusters, cells: matrix.chain(vector).collect(), chip, fill, memory }
    }

    /// The number of the core at a place of a cluster.
    pub fn core_number(&self, cluster: usize, member: Member) -> usize {
        match member {
            Member::Aic => cluster,
            Member::Aiv0 => self.clusters + 2 * cluster,
            Member::Aiv1 => self.clusters + 2 * cluster + 1,
        }
    }

    pub fn cell(&self, core: usize) -> &CoreCell {
        &self.cells[core]
    }

    pub fn cells(&self) -> impl Iterator<Item = (usize, &CoreCell)> {
        self.cells.iter().enumerate()
    }

    pub fn cluster_of(&self, core: usize) -> usize {
        if core < self.clusters { core } else { (core - self.clusters) / 2 }
    }

    /// The engine's core, made on first use: a run that needs three cores pays for three.
    pub fn core_of<'a>(&self, cell: &CoreCell, engine: &'a mut Engine) -> &'a mut Core {
        engine.core.get_or_insert_with(|| {
            let config = CoreConfig {
                sizes: self.chip.core_sizes,
                core_type: cell.member.core_type(),
                fill: self.fill,
            };
            Core::new(config, Arc::clone(&self.memory), Arc::clone(&cell.pipes), Arc::clone(&cell.status))
        })
    }
}
