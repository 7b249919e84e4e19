//! What a caller may choose about a run.

use std::time::Duration;

use argus_chip::Chip;
use argus_gm::Fill;

use crate::error::ConfigError;
use crate::inject::Injection;

/// Rings of a run; scope depth beyond shares the last.
pub const RINGS: usize = 4;

/// The resources of one ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingConfig {
    /// Task slots; one of them stays free.
    pub window: u32,
    /// Bytes for the outputs of tasks.
    pub heap: u64,
    /// Dependency edges of tasks that are not yet reclaimed.
    pub dep_pool: u32,
}

impl Default for RingConfig {
    fn default() -> RingConfig {
        RingConfig { window: 16384, heap: 256 << 20, dep_pool: 16384 }
    }
}

/// Which hazards become edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hazards {
    /// Every order that overlapping bytes demand: read after write, write after write, write after read.
    #[default]
    Complete,
    /// What the reference tracks: no write-after-read edges, and outputs into existing tensors do not look
    /// for earlier writers.
    Reference,
}

/// Configuration of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunConfig {
    /// Clusters to use; `None`: all of the chip.
    pub block_dim: Option<u32>,
    /// Simulated control threads; `None`: all of the chip.
    pub control_threads: Option<u32>,
    /// Host threads that execute control threads and cores; `None`: one per CPU.
    pub host_threads: Option<usize>,
    pub rings: [RingConfig; RINGS],
    /// Written and read views that are tracked at once.
    pub tensormap_entries: usize,
    /// Tasks that one scope may list.
    pub scope_tasks: usize,
    pub hazards: Hazards,
    /// What fresh memory holds.
    pub fill: Fill,
    /// Longest time without any task completing before the run is given up.
    pub progress_timeout: Duration,
    /// Longest time `get_tensor_data` and `set_tensor_data` wait.
    pub tensor_timeout: Duration,
    /// Faults to make on purpose.
    pub injections: Vec<Injection>,
    /// Write down when what ran where, and which task waited for which. A captured run notes the times anyway, and its
    /// edges go to the capture.
    pub timeline: bool,
    /// Run in a child process: for code that Rust did not check, which may crash.
    pub isolated: bool,
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        RunConfig {
            block_dim: None,
            control_threads: None,
            host_threads: None,
            rings: [RingConfig::default(); RINGS],
            tensormap_entries: 65536,
            scope_tasks: 65536,
            hazards: Hazards::default(),
            fill: Fill::Poison,
            progress_timeout: Duration::from_secs(10),
            tensor_timeout: Duration::from_secs(15),
            injections: Vec::new(),
            timeline: false,
            isolated: false,
        }
    }
}

impl RunConfig {
    /// The number of clusters and control threads to use on `chip`.
    pub(crate) fn resolve(&self, chip: &Chip) -> Result<(u32, u32), ConfigError> {
        let clusters = self.block_dim.unwrap_or(chip.clusters);
        let threads = self.control_threads.unwrap_or(chip.control_threads);
        match clusters {
            0 => return Err(ConfigError::NoBlocks),
            asked if asked > chip.clusters => {
                let (available, chip) = (chip.clusters, chip.name);
                return Err(ConfigError::TooManyBlocks { asked, available, chip });
            }
            _ => {}
        }
        match threads {
            0 => return Err(ConfigError::NoControlThreads),
            asked if asked > chip.control_threads => {
                let (available, chip) = (chip.control_threads, chip.name);
                return Err(ConfigError::TooManyControlThreads { asked, available, chip });
            }
            _ => {}
        }
        for (ring, &RingConfig { window, heap, dep_pool }) in self.rings.iter().enumerate() {
            if window < 4 || !window.is_power_of_two() {
                return Err(ConfigError::Window { ring, window });
            }
            if heap < 1024 {
                return Err(ConfigError::Heap { ring, heap });
            }
            if dep_pool < 4 {
                return Err(ConfigError::DepPool { ring, pool: dep_pool });
            }
        }
        for (what, time) in
            [("the progress timeout", self.progress_timeout), ("the tensor timeout", self.tensor_timeout)]
        {
            if time.is_zero() {
                return Err(ConfigError::ZeroTime { what });
            }
        }
        Ok((clusters, threads))
    }
}
