//! The simulated chips, as data.
//!
//! One file per chip, the same names in each. Everything that differs between chips is a number here; the
//! code that uses the numbers is the same for all.

mod a2a3sim;
mod a5sim;

use argus_capture::TransportKind;
use argus_tile::CoreSizes;
use thiserror::Error;

pub use a2a3sim::A2A3SIM;
pub use a5sim::A5SIM;

/// What a chip is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Platform {
    pub name: &'static str,
    /// Clusters of one matrix and two vector cores.
    pub clusters: u32,
    /// Control threads that may take part in a run.
    pub control_threads: u32,
    /// On-chip memory of each core.
    pub core_sizes: CoreSizes,
    /// Ticks per second of the system counter.
    pub counter_hz: u64,
    /// How captured entries leave the device while a run goes on.
    pub transport: TransportKind,
}

/// Every platform that can be asked for.
pub const PLATFORMS: [&Platform; 2] = [&A2A3SIM, &A5SIM];

/// A platform name that cannot be run here.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PlatformError {
    #[error(
        "platform '{name}' is real hardware and needs its vendor's toolkit; run on its simulated twin '{twin}'"
    )]
    Hardware { name: String, twin: &'static str },
    #[error("there is no platform '{name}'; there are a2a3sim and a5sim")]
    Unknown { name: String },
}

impl Platform {
    /// The platform with this name.
    pub fn by_name(name: &str) -> Result<&'static Platform, PlatformError> {
        if let Some(platform) = PLATFORMS.into_iter().find(|platform| platform.name == name) {
            return Ok(platform);
        }
        match PLATFORMS.into_iter().find(|platform| platform.name.strip_suffix("sim") == Some(name)) {
            Some(twin) => Err(PlatformError::Hardware { name: name.into(), twin: twin.name }),
            None => Err(PlatformError::Unknown { name: name.into() }),
        }
    }
}
