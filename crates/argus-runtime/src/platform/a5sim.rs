//! a5sim: two dies of 18 clusters each, seen as one device.

use argus_capture::TransportKind;
use argus_tile::CoreSizes;

use super::Platform;

pub const A5SIM: Platform = Platform {
    name: "a5sim",
    clusters: 36,
    control_threads: 7,
    core_sizes: CoreSizes::A5,
    counter_hz: 1_000_000_000,
    transport: TransportKind::Copied,
};
