//! One simulated core: its memories, its tiles and its instruction set.
//!
//! What comes in: a kernel ([`Kernel`]) with its arguments, and the device's global memory. What goes out:
//! the bytes the kernel stored there, an instruction log if one was asked for ([`Core::start_log`]), or a
//! [`Fault`] that names the instruction, its place in the kernel's source and the operand to blame.
//!
//! ```
//! use std::sync::{Arc, atomic::AtomicBool};
//!
//! use argus_abi::{CoreType, DType, Tensor};
//! use argus_chip::DEFAULT_CHIP;
//! use argus_gm::{Fill, GlobalMemory};
//! use argus_tile::{ClusterPipes, Core, CoreConfig, CoreStatus, GlobalShape, Tile};
//!
//! let memory = Arc::new(GlobalMemory::new());
//! let buffer = memory.allocate(8 * 4, Fill::Zero)?;
//! let numbers = Tensor::contiguous(buffer.addr, DType::F32, &[1, 8])?;
//!
//! let config = CoreConfig { sizes: DEFAULT_CHIP.core_sizes, core_type: CoreType::Aiv, fill: Fill::Poison };
//! let status = Arc::new(CoreStatus::new(Arc::new(AtomicBool::new(false))));
//! let mut core = Core::new(config, memory.clone(), Arc::new(ClusterPipes::new()), status);
//!
//! let tile = Tile::vec(DType::F32, 1, 8).at(0);
//! let place = core.global_at(&numbers, 0, GlobalShape::nd(1, 8))?;
//! core.tload(&tile, &place)?;
//! core.tadds(&tile, &tile, 1.5)?;
//! core.tstore(&place, &tile)?;
//!
//! let mut first = [0; 4];
//! memory.read(buffer.addr, &mut first)?;
//! assert_eq!(f32::from_le_bytes(first), 1.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What holds
//!
//! - An instruction is complete when its method returns, and has read all its sources before it writes.
//!   Flags and barriers change no value; they are counted and logged for a timing model.
//! - Every operand is checked before it is touched: its memory, address, extent, shape and type. A fault
//!   ends the kernel; the core is good for the next one.
//! - What a kernel did not write carries the fill byte: [`Core::begin_kernel`] wipes what the previous one
//!   left behind.
//! - Values are the same bits on every machine, apart from the payload of a NaN that arithmetic made.
//! - When its stop flag is set, a core ends its kernel at the next instruction, also while it waits for a
//!   slot of a cross-core pipe.
//!
//! # What it never does
//!
//! Start threads, spin, print, use unsafe code, or allocate per instruction once its scratch has grown. It
//! knows nothing of tasks, graphs and time.
//!
//! | module | subject |
//! |---|---|
//! | `core` | a core, and how it issues an instruction |
//! | `kernel` | what runs on it |
//! | `global` | operands in global memory |
//! | `tile`, `layout`, `space` | operands on the core |
//! | `scalar`, `number` | values, and how they are rounded |
//! | `memory`, `store` | the bytes of a core, and the checks before they are touched |
//! | `pack`, `lines`, `loops` | walking layouts, aliasing, and the inner loops |
//! | `transfer` | TLOAD, TSTORE, scalar accesses |
//! | `elementwise`, `reduce`, `columns`, `broadcast`, `convert`, `gather`, `scatter`, `sort` | the vector unit |
//! | `matrix`, `scaled` | the matrix unit |
//! | `movement` | moves on the core |
//! | `pipe`, `exchange` | tiles between the cores of a cluster |
//! | `sync` | flags, barriers, cache maintenance |
//! | `signal`, `deferred` | signals and copies between ranks, tasks that complete later |
//! | `opcode`, `log`, `observe`, `status`, `fault`, `site` | what others learn of it |

mod broadcast;
mod columns;
mod convert;
mod core;
mod deferred;
mod elementwise;
mod exchange;
mod fault;
mod gather;
mod global;
mod kernel;
mod layout;
mod lines;
mod log;
mod loops;
mod matrix;
mod memory;
mod movement;
mod number;
mod observe;
mod opcode;
mod pack;
mod pipe;
mod reduce;
mod scalar;
mod scaled;
mod scatter;
mod signal;
mod site;
mod sort;
mod space;
mod status;
mod store;
mod sync;
mod tile;
mod transfer;

pub use crate::convert::{RoundMode, Saturation};
pub use crate::core::{Core, CoreConfig, Overrun};
pub use crate::deferred::Deferred;
pub use crate::fault::{Fault, FaultKind, Particulars};
pub use crate::gather::MaskPattern;
pub use crate::global::{Global, GlobalLayout, GlobalShape};
pub use crate::kernel::{Kernel, KernelResult};
pub use crate::layout::{BlockOrder, InnerOrder, Layout};
pub use crate::log::{CoreLog, Flag, InstrLog, LogEntry, LogOperand, OperandPlace, Work};
pub use crate::observe::Observer;
pub use crate::opcode::{Opcode, Pipe};
pub use crate::pipe::{ClusterPipes, Direction, Split, TPipe};
pub use crate::scalar::{Scalar, ScalarValue};
pub use crate::scaled::{Float8, Scaled};
pub use crate::scatter::{ScatterBounds, ScatterBy, ScatterOp};
pub use crate::signal::{NotifyOp, WaitFor};
pub use crate::site::Site;
pub use crate::space::Space;
pub use crate::status::CoreStatus;
pub use crate::tile::{Pad, Tile};
