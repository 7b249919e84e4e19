//! Between ranks: signals that are notified and waited for, and copies from tensor to tensor.
//!
//! Every rank's window is device memory of this process, so a copy to a peer is a copy.

use core::panic::Location;
use core::time::Duration;

use argus_abi::DType;
use argus_gm::MemoryError;

use crate::core::{Caller, Core};
use crate::fault::{Fault, FaultKind};
use crate::global::Global;
use crate::kernel::KernelResult;
use crate::log::LogEntry;
use crate::memory::by_dtype;
use crate::number::Element;
use crate::opcode::{Opcode, Pipe};
use crate::store::Scratch;
use crate::tile::Tile;

/// Between two looks at a signal that does not satisfy yet.
const PAUSE: Duration = Duration::from_micros(10);

/// What a notification does to its word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NotifyOp {
    Add = 0,
    Set = 1,
}

/// What a wait compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WaitFor {
    Equal = 0,
    NotEqual = 1,
    Greater = 2,
    GreaterOrEqual = 3,
    Less = 4,
    LessOrEqual = 5,
}

impl WaitFor {
    /// As C writes it.
    pub(crate) fn sign(self) -> &'static str {
        match self {
            WaitFor::Equal => "==",
            WaitFor::NotEqual => "!=",
            WaitFor::Greater => ">",
            WaitFor::GreaterOrEqual => ">=",
            WaitFor::Less => "<",
            WaitFor::LessOrEqual => "<=",
        }
    }

    pub(crate) fn holds(self, word: i32, value: i32) -> bool {
        match self {
            WaitFor::Equal => word == value,
            WaitFor::NotEqual => word != value,
            WaitFor::Greater => word > value,
            WaitFor::GreaterOrEqual => word >= value,
            WaitFor::Less => word < value,
            WaitFor::LessOrEqual => word <= value,
        }
    }
}

impl Core {
    /// Adds to the first word of a signal, or sets it. What this core stored before is visible to who sees it.
    #[track_caller]
    pub fn tnotify(&mut self, signal: &Global, value: i32, op: NotifyOp) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tnotify,
            caller,
            |_| {
                check_words("signal", signal)?;
                // The same lock that a wait takes: it orders the stores before with the loads after.
                let _turn = signal.window().take_turn();
                let old = if op == NotifyOp::Add { word(signal, 0)? } else { 0 };
                let new = old.wrapping_add(value).to_le_bytes();
                signal
                    .window()
                    .write(signal.addr(), &new)
                    .map_err(|error| Fault::memory(error).operand("signal"))
            },
            |_| {
                LogEntry::new(Opcode::Tnotify, Pipe::S, caller)
                    .element("signal", true, signal, 0)
                    .scalar(value.into())
                    .scalar((op as i32).into())
                    .bytes(4)
            },
        )
    }

    /// Waits until all words of a signal compare as asked, or until the core is told to stop.
    #[track_caller]
    pub fn twait(&mut self, signal: &Global, value: i32, wanted: WaitFor) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Twait,
            caller,
            |core| {
                check_words("signal", signal)?;
                while !all_hold(signal, value, wanted)? {
                    if core.status.is_stopped() {
                        return Err(in_vain(signal, value, wanted)?);
                    }
                    std::thread::sleep(PAUSE);
                }
                Ok(())
            },
            |_| {
                LogEntry::new(Opcode::Twait, Pipe::S, caller)
                    .element("signal", false, signal, 0)
                    .scalar(value.into())
                    .scalar((wanted as i32).into())
                    .bytes(4)
            },
        )
    }

    /// Copies a tensor, or adds it, over the destination's shape and with the strides of each. The staging tile is
    /// what a real chip needs; it is left alone.
    #[track_caller]
    pub fn tput(&mut self, dst: &Global, src: &Global, stage: &Tile, add: bool) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::Tput,
            caller,
            |core| put(&mut core.memory.scratch[0], dst, src, add),
            |_| {
                log_copy(Opcode::Tput, Pipe::Mte3, dst, src, caller)
                    .reads("stage", stage)
                    .scalar(i32::from(add).into())
            },
        )
    }

    /// [`Core::tput`] by a copy engine beside the core. The copy is complete when this returns.
    #[track_caller]
    pub fn tput_async(&mut self, dst: &Global, src: &Global) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::TputAsync,
            caller,
            |core| put(&mut core.memory.scratch[0], dst, src, false),
            |_| log_copy(Opcode::TputAsync, Pipe::S, dst, src, caller),
        )
    }

    /// Asks for a tensor to be brought closer, which changes no value.
    #[track_caller]
    pub fn tprefetch_async(&mut self, src: &Global) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::TprefetchAsync,
            caller,
            |_| Ok(()),
            |_| LogEntry::new(Opcode::TprefetchAsync, Pipe::S, caller).reads_global("src", src),
        )
    }
}

fn log_copy(opcode: Opcode, pipe: Pipe, dst: &Global, src: &Global, caller: Caller) -> LogEntry {
    let elements: u64 = dst.shape().shape.iter().map(|&size| u64::from(size)).product();
    LogEntry::new(opcode, pipe, caller)
        .writes_global("dst", dst)
        .reads_global("src", src)
        .bytes(elements.saturating_mul(dst.dtype().size() as u64))
}

pub(crate) fn check_words(name: &'static str, signal: &Global) -> KernelResult {
    if signal.dtype() == DType::I32 {
        return Ok(());
    }
    let text = format!("signals are 32-bit integers, not {}", signal.dtype());
    Err(Fault::new(FaultKind::WrongType, text).operand(name))
}

pub(crate) fn word(signal: &Global, offset: u64) -> Result<i32, Fault> {
    let mut bytes = [0; 4];
    signal
        .window()
        .read(signal.address(offset), &mut bytes)
        .map_err(|error| Fault::memory(error).operand("signal"))?;
    Ok(i32::from_le_bytes(bytes))
}

fn all_hold(signal: &Global, value: i32, wanted: WaitFor) -> Result<bool, Fault> {
    let _turn = signal.window().take_turn();
    let mut holds = true;
    for_elements(signal.shape().shape, |index| {
        let offset = offset_of(signal, index);
        holds &= wanted.holds(word(signal, offset)?, value);
        Ok(())
    })?;
    Ok(holds)
}

/// The end of a wait for a signal that did not come: what it was, and what it should have been.
#[cold]
fn in_vain(signal: &Global, value: i32, wanted: WaitFor) -> Result<Fault, Fault> {
    let word = word(signal, 0)?;
    let text = format!(
        "it waited for a signal {} {value}, which is {word}, until the run was stopped",
        wanted.sign()
    );
    Ok(Fault::new(FaultKind::Stopped, text))
}

fn put(scratch: &mut Scratch, dst: &Global, src: &Global, add: bool) -> KernelResult {
    if dst.dtype() != src.dtype() {
        let text = format!("a tensor of {} cannot be copied to {}", src.dtype(), dst.dtype());
        return Err(Fault::new(FaultKind::WrongType, text).operand("src"));
    }
    if add {
        return by_dtype!(dst.dtype(), T => add_elements::<T>(dst, src));
    }
    // Rows at once where both sides have no gaps in them.
    let gapless = dst.shape().stride[4] == 1 && src.shape().stride[4] == 1;
    let run = if gapless { dst.shape().shape[4] } else { 1 };
    let mut shape = dst.shape().shape;
    if gapless {
        shape[4] = shape[4].min(1);
    }
    let bytes = scratch.take::<u8>(run as usize * dst.dtype().size());
    for_elements(shape, |index| {
        read(src, "src", src.address(offset_of(src, index)), bytes)?;
        write(dst, dst.address(offset_of(dst, index)), bytes)
    })
}

fn add_elements<T: Element>(dst: &Global, src: &Global) -> KernelResult {
    // Between reading and writing an element nothing else may add.
    let _turn = dst.window().take_turn();
    for_elements(dst.shape().shape, |index| {
        let (mut old, mut new) = (T::zeroed(), T::zeroed());
        let to = dst.address(offset_of(dst, index));
        read(src, "src", src.address(offset_of(src, index)), bytemuck::bytes_of_mut(&mut new))?;
        read(dst, "dst", to, bytemuck::bytes_of_mut(&mut old))?;
        write(dst, to, bytemuck::bytes_of(&old.add(new)))
    })
}

fn read(from: &Global, name: &'static str, addr: u64, bytes: &mut [u8]) -> KernelResult {
    from.window().read(addr, bytes).map_err(|error: MemoryError| Fault::memory(error).operand(name))
}

fn write(to: &Global, addr: u64, bytes: &[u8]) -> KernelResult {
    to.window().write(addr, bytes).map_err(|error| Fault::memory(error).operand("dst"))
}

fn offset_of(global: &Global, index: [u64; 5]) -> u64 {
    let terms = index.iter().zip(&global.shape().stride);
    terms.fold(0u64, |sum, (&index, &stride)| sum.saturating_add(index.saturating_mul(stride)))
}

fn for_elements(shape: [u32; 5], mut visit: impl FnMut([u64; 5]) -> KernelResult) -> KernelResult {
    let [s0, s1, s2, s3, s4] = shape.map(u64::from);
    for i0 in 0..s0 {
        for i1 in 0..s1 {
            for i2 in 0..s2 {
                for i3 in 0..s3 {
                    for i4 in 0..s4 {
                        visit([i0, i1, i2, i3, i4])?;
                    }
                }
            }
        }
    }
    Ok(())
}
