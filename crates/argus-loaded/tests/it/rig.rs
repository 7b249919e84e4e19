//! A core with memory, for one kernel at a time.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use argus_abi::Member;
use argus_abi::args::{DispatchPayload, KernelArgs, SLOTS};
use argus_chip::{Chip, DEFAULT_CHIP};
use argus_gm::{Fill, GlobalMemory};
use argus_loaded::LoadedKernel;
use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus, Kernel, KernelResult};

pub struct Rig {
    pub core: Core,
    pub memory: Arc<GlobalMemory>,
    stop: Arc<AtomicBool>,
    status: Arc<CoreStatus>,
}

impl Rig {
    pub fn new() -> Rig {
        Rig::on(DEFAULT_CHIP, Member::Aiv0)
    }

    /// A core of this chip, at this place of its cluster.
    pub fn on(chip: &Chip, member: Member) -> Rig {
        let memory = Arc::new(GlobalMemory::new());
        let stop = Arc::new(AtomicBool::new(false));
        let config = CoreConfig { sizes: chip.core_sizes, core_type: member.core_type(), fill: Fill::Poison };
        let status = Arc::new(CoreStatus::new(stop.clone()));
        let mut core = Core::new(config, memory.clone(), Arc::new(ClusterPipes::new()), status.clone());
        core.begin_kernel(member);
        Rig { core, memory, stop, status }
    }

    /// A buffer of so many bytes.
    pub fn buffer(&self, bytes: u64) -> u64 {
        self.memory.allocate(bytes, Fill::Zero).unwrap().addr
    }

    pub fn stop(&self) {
        self.stop.store(true, Relaxed);
    }

    /// What stops the run once the kernel has started its first instruction.
    pub fn stopper(&self) -> impl FnOnce() + Send + use<> {
        let (stop, status) = (self.stop.clone(), self.status.clone());
        move || {
            while status.instructions() == 0 {
                std::thread::yield_now();
            }
            stop.store(true, Relaxed);
        }
    }

    /// Runs a kernel with these slots.
    pub fn run(&mut self, object: &Path, slots: &[u64]) -> KernelResult {
        let kernel = LoadedKernel::open(object).unwrap();
        let mut payload = DispatchPayload::default();
        payload.args[..slots.len()].copy_from_slice(slots);
        kernel.run(&mut self.core, &KernelArgs::new(&payload, &[], SLOTS))
    }

    pub fn words(&self, addr: u64, count: usize) -> Vec<i32> {
        let mut bytes = vec![0; count * 4];
        self.memory.read(addr, &mut bytes).unwrap();
        bytes.chunks_exact(4).map(|word| i32::from_le_bytes(word.try_into().unwrap())).collect()
    }
}
