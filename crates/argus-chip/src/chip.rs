//! What a chip is made of.

use argus_abi::{MAX_CORES, Member};

/// One matrix and two vector cores.
pub const CORES_PER_CLUSTER: usize = Member::ALL.len();

/// A simulated chip and the names of the real one that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chip {
    /// What users and dumps call the simulated chip.
    pub name: &'static str,
    /// The real chip, which needs its vendor's toolkit.
    pub hardware: &'static str,
    pub clusters: u32,
    /// Control threads that may take part in a run.
    pub control_threads: u32,
    /// On-chip memory of each core.
    pub core_sizes: CoreSizes,
    /// Ticks per second of the system counter.
    pub counter_hz: u64,
    /// Clock of the cores.
    pub core_mhz: u32,
    /// How captured entries leave the device during the run.
    pub capture_path: CapturePath,
    pub vector_unit: VectorUnit,
    pub moves: Moves,
    pub handover: Handover,
    /// What instructions and transfers cost: a JSON object, see `docs/timing.md`.
    pub timing: &'static str,
    pub vendor: VendorNames,
}

/// Bytes of each memory of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoreSizes {
    pub ub: u32,
    pub l1: u32,
    pub l0a: u32,
    pub l0b: u32,
    pub l0c: u32,
    pub bias: u32,
    pub scaling: u32,
    pub scale_left: u32,
    pub scale_right: u32,
}

/// How the host gets at what a device captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePath {
    /// Device memory is mapped into the host.
    Mapped,
    /// The host copies it.
    Copied,
}

/// How the vector unit works on a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorUnit {
    /// An instruction repeats over 256 bytes at a time, and a mask cuts the last repeat. Instructions that
    /// build on each other need a barrier between them.
    Repeats,
    /// An instruction is a function with loads, computation and stores of its own.
    Functions,
}

/// Which generation of the instructions that move tiles it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// One load for each operand of a product.
    V1,
    /// One load for both operands, and loads of columns from global memory.
    V2,
}

/// How a tile gets from one core of a cluster to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handover {
    ThroughGlobalMemory,
    /// The sender writes into the receiver's memory.
    Direct,
}

/// What the vendor's tools call the chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VendorNames {
    /// Folder of the toolkit's simulator libraries.
    pub simulator_dir: &'static str,
    /// What msprof calls the chip that this folder simulates.
    pub soc_version: &'static str,
    /// Compiler target for both kinds of core at once.
    pub compiler_arch: &'static str,
    /// Macros given to the device compiler.
    pub defines: &'static [&'static str],
    /// Macros that newer headers expect and older compilers lack.
    pub compatibility: &'static [Macro],
    /// What MindStudio Insight calls the chip in its memory map.
    pub insight: &'static str,
    /// Which arrows that map has.
    pub memory_map: MemoryMap,
}

/// The two memory maps that MindStudio Insight draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryMap {
    /// L0C is emptied to L1 and to L2; UB is connected to L2 alone.
    Plain,
    /// L0C is emptied through FIXP to L1, to L2 and to UB; UB and L1 are connected.
    Fixpipe,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Macro {
    pub name: &'static str,
    pub value: &'static str,
}

impl Chip {
    pub const fn cores(&self) -> usize {
        self.clusters as usize * CORES_PER_CLUSTER
    }

    /// Refuses a chip that cannot be run. In a `const` this fails the build.
    pub const fn check(&self) {
        assert!(self.clusters > 0 && self.control_threads > 0, "a chip needs a cluster and a control thread");
        assert!(self.cores() <= MAX_CORES, "the chip has more cores than argus_abi::MAX_CORES");
    }
}
