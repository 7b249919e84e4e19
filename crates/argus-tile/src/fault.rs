//! Why a kernel cannot go on.

use core::fmt;
use core::ops::Deref;
use core::panic::Location;

use argus_abi::FatalCode;
use argus_abi::args::ArgError;
use argus_gm::MemoryError;

use crate::opcode::Opcode;
use crate::site::Site;

/// The sort of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The run was cancelled; the kernel is not to blame.
    Stopped,
    /// An operand leaves its memory space, or an index its tile.
    OutOfRange,
    /// A tile address that is not a multiple of 32.
    Misaligned,
    /// A tile that was never given an address.
    Unassigned,
    /// Element types that the instruction does not take.
    WrongType,
    /// A memory that this core does not have, or that the instruction does not work on.
    WrongSpace,
    /// Shapes or layouts that do not fit each other.
    WrongShape,
    /// An integer divided by zero.
    DivisionByZero,
    /// A flag or a slot of a cross-core pipe that is used against its protocol.
    Protocol,
    /// The instruction log holds as many instructions as it may; the kernel is not to blame.
    LogFull,
    /// Global memory refused the access.
    Memory(MemoryError),
    /// The kernel asked for an argument that it was not given.
    Argument(ArgError),
    /// The kernel itself complains.
    Kernel(String),
}

/// A fault with all that is known of the place where it happened.
///
/// The particulars live behind a pointer, so that the good case stays cheap to return; their fields are
/// reached as if they were the fault's own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<Particulars>);

/// What a [`Fault`] tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Particulars {
    pub kind: FaultKind,
    /// The instruction that failed; none for a complaint of the kernel itself.
    pub instruction: Option<Opcode>,
    /// The instruction was the n-th of its kernel, counted from 1; 0 outside an instruction.
    pub index: u64,
    /// The operand to blame.
    pub operand: Option<&'static str>,
    /// Where the kernel's source issued the instruction.
    pub location: Option<Site>,
    /// The rest of the sentence that starts with the operand.
    pub detail: String,
    /// The code that the kernel itself gave for the end of the run.
    pub code: Option<FatalCode>,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, detail: impl Into<String>) -> Fault {
        Fault(Box::new(Particulars {
            kind,
            instruction: None,
            index: 0,
            operand: None,
            location: None,
            detail: detail.into(),
            code: None,
        }))
    }

    /// A kernel's own complaint.
    #[track_caller]
    pub fn kernel(message: impl Into<String>) -> Fault {
        Fault::new(FaultKind::Kernel(message.into()), "").located(Location::caller())
    }

    /// A fault of a kernel in another process: its place, and what [`Fault::message`] said there.
    pub fn relayed(
        instruction: Option<Opcode>,
        index: u64,
        location: Option<Site>,
        message: String,
    ) -> Fault {
        let mut fault = Fault::new(FaultKind::Kernel(message), "");
        (fault.0.instruction, fault.0.index, fault.0.location) = (instruction, index, location);
        fault
    }

    /// The same fault with the code that the kernel gave for it.
    pub fn with_code(mut self, code: Option<FatalCode>) -> Fault {
        self.0.code = code;
        self
    }

    /// What happened, without the place.
    pub fn message(&self) -> String {
        let operand = self.operand.map(|operand| format!("operand {operand}: ")).unwrap_or_default();
        match &self.kind {
            FaultKind::Kernel(message) => format!("{operand}{message}"),
            FaultKind::Argument(error) => format!("{operand}{error}"),
            _ => format!("{operand}{}", self.detail),
        }
    }

    pub(crate) fn stopped() -> Fault {
        Fault::new(FaultKind::Stopped, "the run was stopped")
    }

    pub(crate) fn log_full(limit: usize) -> Fault {
        Fault::new(FaultKind::LogFull, format!("the log is limited to {limit} instructions"))
    }

    pub(crate) fn memory(error: MemoryError) -> Fault {
        let detail = error.to_string();
        Fault::new(FaultKind::Memory(error), detail)
    }

    pub(crate) fn operand(mut self, name: &'static str) -> Fault {
        self.0.operand = Some(name);
        self
    }

    pub(crate) fn located(mut self, location: impl Into<Site>) -> Fault {
        self.0.location = Some(location.into());
        self
    }

    pub(crate) fn issued(mut self, opcode: Opcode, index: u64, location: impl Into<Site>) -> Fault {
        self.0.instruction = Some(opcode);
        self.0.index = index;
        self.0.location = Some(location.into());
        self
    }

    /// Whether the run was cancelled rather than wrong.
    pub fn is_stop(&self) -> bool {
        self.0.kind == FaultKind::Stopped
    }
}

impl Deref for Fault {
    type Target = Particulars;

    fn deref(&self) -> &Particulars {
        &self.0
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.location.map(|at| format!("{}:{}", at.file(), at.line()));
        match (self.instruction, place) {
            (Some(opcode), Some(place)) => write!(f, "{opcode} (instruction {}, {place}): ", self.index)?,
            (Some(opcode), None) => write!(f, "{opcode} (instruction {}): ", self.index)?,
            (None, Some(place)) => write!(f, "{place}: ")?,
            (None, None) => {}
        }
        f.write_str(&self.message())
    }
}

impl core::error::Error for Fault {}

impl From<ArgError> for Fault {
    #[track_caller]
    fn from(error: ArgError) -> Fault {
        Fault::new(FaultKind::Argument(error), "").located(Location::caller())
    }
}
