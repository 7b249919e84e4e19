//! The simulated chips, as data.
//!
//! A chip is one [`Chip`] in one file, with the same fields in the same order in each. Runtime, tile engine,
//! timing model, workspaces and command line take what differs between chips from here and name none of them;
//! a test reads their sources to make sure.
//!
//! To add a chip, write its file and its timing set, and name it in [`CHIPS`].
//!
//! ```
//! use argus_chip::{CHIPS, Chip, ChipError};
//!
//! let chip = Chip::by_name("a5sim")?;
//! assert_eq!(chip.clusters, 36);
//! assert!(CHIPS.iter().all(|chip| chip.clusters as usize * 3 <= argus_chip::MAX_CORES));
//! // Real hardware is refused, and the message names its simulated twin.
//! assert!(matches!(Chip::by_name("a5"), Err(ChipError::Hardware { .. })));
//! # Ok::<(), ChipError>(())
//! ```
//!
//! What it never does: perform I/O, or decide anything. Everything is a constant.
//!
//! | module | subject |
//! |---|---|
//! | `chip` | what a chip is made of |
//! | `a2a3sim`, `a5sim` | one chip each |
//! | `names` | finding a chip by what a user typed |
//!
//! What instructions cost on a chip is `timing/NAME.json`, beside `src`; `argus-trace` reads it.

mod a2a3sim;
mod a5sim;
mod chip;
mod names;

pub use a2a3sim::A2A3SIM;
pub use a5sim::A5SIM;
pub use argus_abi::MAX_CORES;
pub use chip::{
    CORES_PER_CLUSTER, CapturePath, Chip, CoreSizes, Handover, Macro, MemoryMap, Moves, VectorUnit,
    VendorNames,
};
pub use names::{ChipError, listed};

/// Every chip that can be asked for by name.
pub const CHIPS: [&Chip; 2] = [&A2A3SIM, &A5SIM];

/// The chip that is meant when none is named.
pub const DEFAULT_CHIP: &Chip = CHIPS[0];

const _: () = {
    let mut index = 0;
    while index < CHIPS.len() {
        CHIPS[index].check();
        index += 1;
    }
};
