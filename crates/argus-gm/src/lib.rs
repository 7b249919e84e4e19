//! Global memory of a simulated device.
//!
//! Device addresses are addresses of this process, so that kernels in shared objects can follow them like
//! the reference's do. Nothing outside this crate turns such an address into a pointer: all other code
//! asks for bytes to be copied in or out, and every copy is checked against the allocations there are.
//! A [`Region`] is memory beside it, which no device address leads to.
//!
//! ```
//! use argus_gm::{Fill, GlobalMemory, MemoryError};
//!
//! let memory = GlobalMemory::new();
//! let buffer = memory.allocate(16, Fill::Poison)?;
//! memory.write(buffer.addr, &1.5f32.to_le_bytes())?;
//!
//! let mut bytes = [0; 8];
//! memory.read(buffer.addr, &mut bytes)?;
//! assert_eq!(bytes[..4], 1.5f32.to_le_bytes());
//! assert_eq!(bytes[4..], [0xFF; 4], "nothing was written there");
//!
//! let beyond = memory.read(buffer.addr + 12, &mut bytes);
//! assert!(matches!(beyond, Err(MemoryError::NoSuchAddress { .. } | MemoryError::OutOfRange { .. })));
//! # Ok::<(), MemoryError>(())
//! ```
//!
//! # What a race does
//!
//! A user's program may let two tasks touch the same bytes at once. That must show as a wrong value, not
//! as undefined behaviour of this process. So global memory is never borrowed as a slice: the module `raw` moves it
//! word by word with relaxed atomics of one size, which may interleave but not misbehave.
//!
//! # Poison
//!
//! Fresh memory is filled with [`Fill::Poison`]: the byte 0xFF, a NaN in every float type, so that reading
//! what was never written shows in the result, and shows the same way each time.

mod memory;
mod raw;
mod region;
pub mod view;

pub use memory::{Buffer, Fill, GlobalMemory, MemoryError, RecentWindows, Window};
pub use region::Region;
