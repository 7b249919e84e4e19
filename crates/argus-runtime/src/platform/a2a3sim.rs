//! a2a3sim: one die of 24 clusters.

use argus_capture::TransportKind;
use argus_tile::CoreSizes;

use super::Platform;

pub const A2A3SIM: Platform = Platform {
    name: "a2a3sim",
    clusters: 24,
    control_threads: 4,
    core_sizes: CoreSizes::A2A3,
    counter_hz: 50_000_000,
    transport: TransportKind::Mapped,
};
