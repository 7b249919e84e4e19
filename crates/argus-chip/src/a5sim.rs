//! a5sim: two dies of 18 clusters each, seen as one device.

use crate::{CapturePath, Chip, CoreSizes, Handover, Macro, MemoryMap, Moves, VectorUnit, VendorNames};

pub const A5SIM: Chip = Chip {
    name: "a5sim",
    hardware: "a5",
    clusters: 36,
    control_threads: 7,
    core_sizes: CoreSizes {
        ub: 256 << 10,
        l1: 512 << 10,
        l0a: 64 << 10,
        l0b: 64 << 10,
        l0c: 256 << 10,
        bias: 4 << 10,
        scaling: 4 << 10,
        scale_left: 4 << 10,
        scale_right: 4 << 10,
    },
    counter_hz: 1_000_000_000,
    core_mhz: 1800,
    capture_path: CapturePath::Copied,
    vector_unit: VectorUnit::Functions,
    moves: Moves::V2,
    handover: Handover::Direct,
    timing: include_str!("../timing/a5sim.json"),
    vendor: VendorNames {
        simulator_dir: "dav_3510",
        soc_version: "Ascend950PR_9599",
        compiler_arch: "dav-c310",
        defines: &["__CCE_AICORE__=310", "PTO_NPU_ARCH_A5", "MEMORY_BASE"],
        compatibility: &[
            Macro { name: "EVENT_ID7", value: "static_cast<event_t>(7)" },
            Macro { name: "PIPE_FIX", value: "static_cast<pipe_t>(10)" },
        ],
        insight: "910A5",
        memory_map: MemoryMap::Fixpipe,
    },
};
