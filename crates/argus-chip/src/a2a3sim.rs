//! a2a3sim: one die of 24 clusters.

use crate::{CapturePath, Chip, CoreSizes, Handover, MemoryMap, Moves, VectorUnit, VendorNames};

pub const A2A3SIM: Chip = Chip {
    name: "a2a3sim",
    hardware: "a2a3",
    clusters: 24,
    control_threads: 4,
    core_sizes: CoreSizes {
        ub: 192 << 10,
        l1: 512 << 10,
        l0a: 64 << 10,
        l0b: 64 << 10,
        l0c: 128 << 10,
        bias: 1 << 10,
        scaling: 2 << 10,
        scale_left: 0,
        scale_right: 0,
    },
    counter_hz: 50_000_000,
    core_mhz: 1850,
    capture_path: CapturePath::Mapped,
    vector_unit: VectorUnit::Repeats,
    moves: Moves::V1,
    handover: Handover::ThroughGlobalMemory,
    timing: include_str!("../timing/a2a3sim.json"),
    vendor: VendorNames {
        simulator_dir: "dav_2201",
        soc_version: "Ascend910B1",
        compiler_arch: "dav-c220",
        defines: &["__CCE_AICORE__=220", "PTO_NPU_ARCH_A2A3", "MEMORY_BASE"],
        compatibility: &[],
        insight: "910B",
        memory_map: MemoryMap::Plain,
    },
};
