//! One core: its memories, its counters, and how an instruction is issued.

use core::ops::Range;
use core::panic::Location;
use std::sync::Arc;

use argus_abi::{CoreType, Member};
use argus_chip::CoreSizes;
use argus_gm::{Fill, GlobalMemory, MemoryError, Window};

use crate::deferred::Deferred;
use crate::fault::Fault;
use crate::kernel::KernelResult;
use crate::log::{InstrLog, LogEntry};
use crate::memory::Memory;
use crate::observe::Observer;
use crate::opcode::Opcode;
use crate::pipe::ClusterPipes;
use crate::site::{ForeignSite, Site};
use crate::space::Space;
use crate::status::CoreStatus;
use crate::sync::Flags;

/// Allocations that a core remembers.
const NEAR: usize = 4;

/// Where an instruction was issued.
pub(crate) type Caller = &'static Location<'static>;

/// What kind of core to make.
#[derive(Clone, Copy, Debug)]
pub struct CoreConfig {
    pub sizes: CoreSizes,
    pub core_type: CoreType,
    /// What memory holds before a kernel writes it.
    pub fill: Fill,
}

/// A simulated core. Instructions are its methods; each one is complete when its method returns.
#[derive(Debug)]
pub struct Core {
    pub(crate) memory: Memory,
    pub(crate) global: Arc<GlobalMemory>,
    pub(crate) pipes: Arc<ClusterPipes>,
    pub(crate) status: Arc<CoreStatus>,
    pub(crate) member: Member,
    pub(crate) flags: Flags,
    pub(crate) log: Option<InstrLog>,
    pub(crate) log_limit: usize,
    pub(crate) observer: Option<Box<dyn Observer>>,
    /// Allocations that the running kernel found by address.
    pub(crate) near: [Option<Window>; NEAR],
    /// Where the kernel's source stands, if Rust's own call sites are not it.
    site: Option<ForeignSite>,
    /// What the running kernel's task is to wait for when the kernel has ended.
    pub(crate) deferred: Vec<Deferred>,
}

/// A use of UB beyond its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overrun {
    /// Bytes from its start to the end of the farthest tile.
    pub used: u64,
    /// Bytes that the chip has.
    pub size: u64,
}

impl Core {
    /// A core of a cluster whose members share `pipes`. It counts as the cluster's first of its type until
    /// [`Core::begin_kernel`] says otherwise.
    pub fn new(
        config: CoreConfig,
        memory: Arc<GlobalMemory>,
        pipes: Arc<ClusterPipes>,
        status: Arc<CoreStatus>,
    ) -> Core {
        Core {
            memory: Memory::new(config.sizes, config.core_type, config.fill),
            global: memory,
            pipes,
            status,
            member: match config.core_type {
                CoreType::Aic => Member::Aic,
                CoreType::Aiv => Member::Aiv0,
            },
            flags: Flags::default(),
            log: None,
            log_limit: usize::MAX,
            observer: None,
            near: Default::default(),
            site: None,
            deferred: Vec::new(),
        }
    }

    /// Start of a kernel as this member of the cluster: what the previous kernel wrote carries the fill
    /// byte again, flags and counters start anew.
    pub fn begin_kernel(&mut self, member: Member) {
        debug_assert_eq!(member.core_type(), self.core_type(), "a core cannot change its type");
        self.member = member;
        self.memory.reset();
        self.flags = Flags::default();
        self.near = Default::default();
        self.site = None;
        self.deferred.clear();
        self.status.begin_kernel();
    }

    pub fn core_type(&self) -> CoreType {
        self.memory.core_type()
    }

    pub fn member(&self) -> Member {
        self.member
    }

    /// 1 on the second vector core of a cluster, else 0.
    pub fn sub_block_id(&self) -> i32 {
        self.member.sub_block_id()
    }

    pub fn status(&self) -> &CoreStatus {
        &self.status
    }

    /// Instructions come from this line of a source until told otherwise or until the next kernel. Kernels in Rust
    /// need not say so: their instructions know where they are called.
    pub fn issue_from(&mut self, file: &'static [u8], line: u32) {
        self.site = Some(ForeignSite { file, line });
    }

    /// Until the next kernel, tiles in UB may lie beyond its end, up to this many bytes: kernels that were only ever
    /// simulated do that. [`Core::ub_overrun`] tells of it.
    pub fn tolerate_ub_up_to(&mut self, bytes: u64) {
        self.memory.ub_reach = bytes;
    }

    /// How far the kernel's tiles reached into UB, if that is more than the chip has.
    pub fn ub_overrun(&self) -> Option<Overrun> {
        let size = self.memory.size(Space::Vec) as u64;
        (self.memory.overrun > 0).then_some(Overrun { used: self.memory.overrun, size })
    }

    /// A complaint about the kernel, at the line that it stands at.
    #[track_caller]
    pub fn complaint(&self, message: impl Into<String>) -> Fault {
        Fault::kernel(message).located(self.site(Location::caller()))
    }

    pub(crate) fn site(&self, caller: Caller) -> Site {
        self.site.map_or_else(|| caller.into(), Site::from)
    }

    /// Bytes of a memory, for tools that look at a core from outside. `None` beyond the memory's end.
    pub fn peek(&mut self, space: Space, range: Range<usize>) -> Option<&[u8]> {
        let inside = range.start <= range.end && range.end <= self.memory.size(space);
        inside.then(|| self.memory.peek(space, range))
    }

    /// Bytes of global memory, for tools that look at a core from outside.
    pub fn peek_global(&self, addr: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        self.global.read(addr, bytes)
    }

    /// Overwrites bytes of a memory from outside. `None` beyond the memory's end.
    pub fn poke(&mut self, space: Space, addr: usize, bytes: &[u8]) -> Option<()> {
        let inside = addr.checked_add(bytes.len())? <= self.memory.size(space);
        inside.then(|| self.memory.poke(space, addr, bytes))
    }

    /// From now on every instruction is written down.
    pub fn start_log(&mut self) {
        self.start_limited_log(usize::MAX);
    }

    /// From now on every instruction is written down, up to `limit` of them. The next one ends the kernel with
    /// [`FaultKind::LogFull`](crate::FaultKind::LogFull): an endless kernel must not fill the memory of the host.
    pub fn start_limited_log(&mut self, limit: usize) {
        self.log = Some(InstrLog::default());
        self.log_limit = limit;
    }

    /// The log so far; none if it was not started. Logging ends.
    pub fn take_log(&mut self) -> Option<InstrLog> {
        self.log.take()
    }

    /// Issues one instruction: counts it, runs it and, if a log is kept, writes it down.
    #[inline]
    pub(crate) fn issue(
        &mut self,
        opcode: Opcode,
        caller: Caller,
        run: impl FnOnce(&mut Core) -> KernelResult,
        entry: impl FnOnce(&Core) -> LogEntry,
    ) -> KernelResult {
        self.issue_value(opcode, caller, run, |core, ()| entry(core))
    }

    /// [`Core::issue`] for an instruction that gives a value.
    #[inline]
    pub(crate) fn issue_value<R: Copy>(
        &mut self,
        opcode: Opcode,
        caller: Caller,
        run: impl FnOnce(&mut Core) -> Result<R, Fault>,
        entry: impl FnOnce(&Core, R) -> LogEntry,
    ) -> Result<R, Fault> {
        let index = self.status.begin_instruction(opcode);
        if self.status.is_stopped() {
            return Err(Fault::stopped().issued(opcode, index, self.site(caller)));
        }
        let value = match run(self) {
            Ok(value) => value,
            Err(fault) => return Err(fault.issued(opcode, index, self.site(caller))),
        };
        if self.log.is_some() || self.observer.is_some() {
            let entry = LogEntry { location: self.site(caller), ..entry(self, value) };
            self.tell(index, entry)?;
        }
        Ok(value)
    }
}
