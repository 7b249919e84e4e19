//! widesim: 48 clusters, and a mixture of what the shipped chips do. This file is all there is of it.

use argus_chip::{A2A3SIM, A5SIM, CapturePath, Chip, CoreSizes, Handover, Moves, VectorUnit, VendorNames};

pub const WIDESIM: Chip = Chip {
    name: "widesim",
    hardware: "wide",
    clusters: 48,
    control_threads: 6,
    core_sizes: CoreSizes { ub: 256 << 10, ..A2A3SIM.core_sizes },
    counter_hz: 100_000_000,
    core_mhz: 2000,
    capture_path: CapturePath::Copied,
    vector_unit: VectorUnit::Repeats,
    moves: Moves::V2,
    handover: Handover::Direct,
    timing: A2A3SIM.timing,
    vendor: VendorNames { soc_version: "Wide1", ..A5SIM.vendor },
};

const _: () = WIDESIM.check();
