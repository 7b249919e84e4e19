//! Flags, barriers and cache maintenance.
//!
//! Instructions complete in program order, so none of these changes a value. They are counted and written
//! down, because a timing model lives on them.

use core::panic::Location;

use argus_abi::CoreType;

use crate::core::{Caller, Core};
use crate::fault::{Fault, FaultKind};
use crate::kernel::KernelResult;
use crate::log::{Flag, LogEntry};
use crate::opcode::{Opcode, Pipe};

/// Flags per pair of pipes.
const IDS: usize = 8;
/// The flag that `pipe_sync` uses.
const SYNC_ID: u8 = 7;

/// Sets minus waits of every flag.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    balance: [[[i32; IDS]; Pipe::ALL.len()]; Pipe::ALL.len()],
}

impl Flags {
    fn change(&mut self, flag: Flag, by: i32) -> KernelResult {
        let slot = self.balance[flag.src as usize][flag.dst as usize].get_mut(usize::from(flag.id));
        let Some(count) = slot else {
            let text = format!("flag {} does not exist: a pair of pipes has flags 0 to {}", flag.id, IDS - 1);
            return Err(Fault::new(FaultKind::Protocol, text));
        };
        *count += by;
        Ok(())
    }
}

impl Core {
    /// Pipe `src` tells pipe `dst` that all it was given so far is done.
    #[track_caller]
    pub fn set_flag(&mut self, src: Pipe, dst: Pipe, id: u8) -> KernelResult {
        self.flag(Opcode::SetFlag, Flag { src, dst, id }, Location::caller())
    }

    /// Pipe `dst` waits for a flag of pipe `src`, and clears it.
    #[track_caller]
    pub fn wait_flag(&mut self, src: Pipe, dst: Pipe, id: u8) -> KernelResult {
        self.flag(Opcode::WaitFlag, Flag { src, dst, id }, Location::caller())
    }

    /// A pipe finishes what it has before it takes more.
    #[track_caller]
    pub fn pipe_barrier(&mut self, pipe: Pipe) -> KernelResult {
        let caller = Location::caller();
        self.issue(
            Opcode::PipeBarrier,
            caller,
            |_| Ok(()),
            |_| LogEntry::new(Opcode::PipeBarrier, pipe, caller),
        )
    }

    /// The scalar stream waits for what leaves the core: a set and a wait, from MTE3 on a vector core, from
    /// FIX on a matrix core.
    #[track_caller]
    pub fn pipe_sync(&mut self) -> KernelResult {
        let caller = Location::caller();
        let src = match self.core_type() {
            CoreType::Aiv => Pipe::Mte3,
            CoreType::Aic => Pipe::Fix,
        };
        let flag = Flag { src, dst: Pipe::S, id: SYNC_ID };
        self.flag(Opcode::SetFlag, flag, caller)?;
        self.flag(Opcode::WaitFlag, flag, caller)
    }

    /// Cleans or invalidates data cache lines.
    #[track_caller]
    pub fn dcci(&mut self) -> KernelResult {
        let caller = Location::caller();
        self.issue(Opcode::Dcci, caller, |_| Ok(()), |_| LogEntry::new(Opcode::Dcci, Pipe::S, caller))
    }

    /// Waits until memory accesses are visible to others.
    #[track_caller]
    pub fn dsb(&mut self) -> KernelResult {
        let caller = Location::caller();
        self.issue(Opcode::Dsb, caller, |_| Ok(()), |_| LogEntry::new(Opcode::Dsb, Pipe::S, caller))
    }

    /// Flags that the kernel did not set as often as it waited for them, with sets minus waits. A real chip
    /// would hang on a negative one, and a positive one would surprise the next kernel.
    pub fn unbalanced_flags(&self) -> impl Iterator<Item = (Flag, i32)> + '_ {
        let pairs = Pipe::ALL.into_iter().flat_map(|src| Pipe::ALL.into_iter().map(move |dst| (src, dst)));
        pairs.flat_map(|(src, dst)| (0..IDS as u8).map(move |id| Flag { src, dst, id })).filter_map(|flag| {
            let count = self.flags.balance[flag.src as usize][flag.dst as usize][usize::from(flag.id)];
            (count != 0).then_some((flag, count))
        })
    }

    fn flag(&mut self, opcode: Opcode, flag: Flag, caller: Caller) -> KernelResult {
        // A flag runs on the pipe that sets it, or on the one that waits.
        let (by, pipe) = if opcode == Opcode::SetFlag { (1, flag.src) } else { (-1, flag.dst) };
        self.issue(
            opcode,
            caller,
            |core| core.flags.change(flag, by),
            |_| LogEntry { flag: Some(flag), ..LogEntry::new(opcode, pipe, caller) },
        )
    }
}
