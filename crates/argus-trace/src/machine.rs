//! The machine that tile instructions are lowered to: tracks, mnemonics, and one instruction with its times.

mod vector;

use argus_tile::{Flag, Pipe};

pub(crate) use vector::VectorInstr;

/// A row of the timeline. Instructions of one pipe may lie on several tracks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Track {
    Scalar,
    Mte1,
    Cube,
    Fixp,
    Mte2,
    Vector,
    Mte3,
    ScalarLdSt,
    All,
    RvecEx,
    RvecSt,
    RvecLd,
    PushQ,
}

impl Track {
    pub const ALL: [Track; 13] = [
        Track::Scalar,
        Track::Mte1,
        Track::Cube,
        Track::Fixp,
        Track::Mte2,
        Track::Vector,
        Track::Mte3,
        Track::ScalarLdSt,
        Track::All,
        Track::RvecEx,
        Track::RvecSt,
        Track::RvecLd,
        Track::PushQ,
    ];

    /// The track's name, as users of MindStudio Insight know it.
    pub const fn name(self) -> &'static str {
        match self {
            Track::Scalar => "SCALAR",
            Track::Mte1 => "MTE1",
            Track::Cube => "CUBE",
            Track::Fixp => "FIXP",
            Track::Mte2 => "MTE2",
            Track::Vector => "VECTOR",
            Track::Mte3 => "MTE3",
            Track::ScalarLdSt => "SCALARLDST",
            Track::All => "ALL",
            Track::RvecEx => "RVECEX",
            Track::RvecSt => "RVECST",
            Track::RvecLd => "RVECLD",
            Track::PushQ => "PUSHQ",
        }
    }

    /// The track on which a pipe's flags and barriers lie.
    pub const fn of_pipe(pipe: Pipe) -> Track {
        match pipe {
            Pipe::S => Track::Scalar,
            Pipe::V => Track::Vector,
            Pipe::Mte1 => Track::Mte1,
            Pipe::Mte2 => Track::Mte2,
            Pipe::Mte3 => Track::Mte3,
            Pipe::M => Track::Cube,
            Pipe::All => Track::All,
            Pipe::Fix => Track::Fixp,
        }
    }
}

/// What a pipe is called inside the operand text of a flag.
pub(crate) const fn flag_pipe_name(pipe: Pipe) -> &'static str {
    match pipe {
        Pipe::V => "VEC",
        other => Track::of_pipe(other).name(),
    }
}

macro_rules! mnemonics {
    ($($variant:ident = $name:literal,)*) => {
        /// A machine instruction by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Mnemonic {
            $($variant,)*
        }

        impl Mnemonic {
            pub const ALL: &'static [Mnemonic] = &[$(Mnemonic::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Mnemonic::$variant => $name,)*
                }
            }
        }
    };
}

mnemonics! {
    MovXdImm = "MOV_XD_IMM",
    MovSprXn = "MOV_SPR_XN",
    LdXdXnImm = "LD_XD_XN_IMM",
    StXdXnImm = "ST_XD_XN_IMM",
    Dcci = "DCCI",
    Dsb = "DSB",
    SetFlag = "SET_FLAG",
    WaitFlag = "WAIT_FLAG",
    SetIntraBlock = "SET_INTRA_BLOCK",
    WaitIntraBlock = "WAIT_INTRA_BLOCK",
    Bar = "BAR",
    MovAlign = "MOV_SRC_TO_DST_ALIGN",
    MovAlignV2 = "MOV_SRC_TO_DST_ALIGNv2",
    MovNd2Nz = "MOV_OUT_TO_L1_MULTI_ND2NZ",
    MovDn2Nz = "MOV_OUT_TO_L1_MULTI_DN2NZ",
    MovOutToL1 = "MOV_OUT_TO_L1",
    MovL1ToOut = "MOV_L1_TO_OUT",
    MovUbToUb = "MOV_UB_TO_UB",
    MovUbToL1 = "MOV_UB_TO_L1",
    MovL1ToUb = "MOV_L1_TO_UB",
    MovL1ToBt = "MOV_L1_TO_BT",
    MovL1ToFb = "MOV_L1_TO_FB",
    Load2d = "LOAD_2D",
    Load2dV2 = "LOAD_2Dv2",
    Load3dV2 = "LOAD_3Dv2",
    SetL12d = "SET_L1_2D",
    FixL0cToDst = "FIX_L0C_TO_DST",
    Mmad = "MMAD",
    MoveMask = "MOVEMASK",
    MoveV = "MOVEV",
    Vdup = "VDUP",
    Vadd = "VADD",
    Vsub = "VSUB",
    Vmul = "VMUL",
    Vdiv = "VDIV",
    Vmax = "VMAX",
    Vmin = "VMIN",
    Vadds = "VADDS",
    Vmuls = "VMULS",
    Vmaxs = "VMAXS",
    Vmins = "VMINS",
    Vexp = "VEXP",
    Vln = "VLN",
    Vsqrt = "VSQRT",
    Vrsqrt = "VRSQRT",
    Vabs = "VABS",
    Vconv = "VCONV",
    Vcopy = "VCOPY",
    Vbrcb = "VBRCB",
    Vcadd = "VCADD",
    Vcmax = "VCMAX",
    Vgather = "VGATHER",
    Vreducev2 = "VREDUCEV2",
    Vnchwconv = "VNCHWCONV",
    Vscatter = "VSCATTER",
    Vbitsort = "VBITSORT",
    Vmrgsort = "VMRGSORT",
    Vf = "VF",
    RvVldi = "RV_VLDI",
    RvVsti = "RV_VSTI",
    RvVdup = "RV_VDUP",
    RvVadd = "RV_VADD",
    RvVsub = "RV_VSUB",
    RvVmul = "RV_VMUL",
    RvVdiv = "RV_VDIV",
    RvVmax = "RV_VMAX",
    RvVmin = "RV_VMIN",
    RvVadds = "RV_VADDS",
    RvVmuls = "RV_VMULS",
    RvVmaxs = "RV_VMAXS",
    RvVmins = "RV_VMINS",
    RvVexp = "RV_VEXP",
    RvVln = "RV_VLN",
    RvVsqrt = "RV_VSQRT",
    RvVrsqrt = "RV_VRSQRT",
    RvVabs = "RV_VABS",
    RvVcvt = "RV_VCVT",
    RvVcadd = "RV_VCADD",
    RvVcmax = "RV_VCMAX",
    RvVgather = "RV_VGATHER",
    RvVsqz = "RV_VSQZ",
}

/// A way that bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Path {
    GmToUb,
    GmToL1,
    UbToGm,
    L1ToGm,
    L0cToGm,
    L0cToL1,
    L0cToUb,
    UbToL1,
    UbToUb,
    L1ToL0a,
    L1ToL0b,
    L1ToBt,
    L1ToFb,
    FillL1,
}

impl Path {
    pub const ALL: [Path; 14] = [
        Path::GmToUb,
        Path::GmToL1,
        Path::UbToGm,
        Path::L1ToGm,
        Path::L0cToGm,
        Path::L0cToL1,
        Path::L0cToUb,
        Path::UbToL1,
        Path::UbToUb,
        Path::L1ToL0a,
        Path::L1ToL0b,
        Path::L1ToBt,
        Path::L1ToFb,
        Path::FillL1,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Path::GmToUb => "GM_TO_UB",
            Path::GmToL1 => "GM_TO_L1",
            Path::UbToGm => "UB_TO_GM",
            Path::L1ToGm => "L1_TO_GM",
            Path::L0cToGm => "L0C_TO_GM",
            Path::L0cToL1 => "L0C_TO_L1",
            Path::L0cToUb => "L0C_TO_UB",
            Path::UbToL1 => "UB_TO_L1",
            Path::UbToUb => "UB_TO_UB",
            Path::L1ToL0a => "L1_TO_L0A",
            Path::L1ToL0b => "L1_TO_L0B",
            Path::L1ToBt => "L1_TO_BT",
            Path::L1ToFb => "L1_TO_FB",
            Path::FillL1 => "FILL_L1",
        }
    }

    /// What the source and the destination are called in operand texts.
    pub(crate) const fn ends(self) -> (&'static str, &'static str) {
        match self {
            Path::GmToUb => ("OUT", "UB"),
            Path::GmToL1 => ("OUT", "L1"),
            Path::UbToGm => ("UB", "OUT"),
            Path::L1ToGm => ("L1", "OUT"),
            Path::L0cToGm => ("L0C", "OUT"),
            Path::L0cToL1 => ("L0C", "L1"),
            Path::L0cToUb => ("L0C", "UB"),
            Path::UbToL1 => ("UB", "L1"),
            Path::UbToUb => ("UB", "UB"),
            Path::L1ToL0a => ("L1", "L0A"),
            Path::L1ToL0b => ("L1", "L0B"),
            Path::L1ToBt => ("L1", "BT"),
            Path::L1ToFb => ("L1", "FB"),
            Path::FillL1 => ("SPR", "L1"),
        }
    }
}

/// What an instruction does to the order of others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Computes or moves.
    Work,
    /// Part of the vector function before it in the list; takes no place in the queue.
    Body,
    Set(Flag),
    Wait(Flag),
    /// Tells another core of the block, through the channel with this number.
    Signal(u16),
    /// Waits for another core of the block.
    Await(u16),
    Barrier,
}

impl Role {
    /// Whether the instruction is drawn as a flag.
    pub const fn is_flag(self) -> bool {
        matches!(self, Role::Set(_) | Role::Wait(_) | Role::Signal(_) | Role::Await(_))
    }

    pub(crate) const fn sets(self) -> bool {
        matches!(self, Role::Set(_) | Role::Signal(_))
    }
}

/// No instruction, no pair, no site.
pub(crate) const NONE: u32 = u32::MAX;

/// One machine instruction. Times are cycles from the start of the task.
#[derive(Clone, Copy, Debug)]
pub struct Instr {
    pub mnemonic: Mnemonic,
    pub track: Track,
    pub pipe: Pipe,
    pub role: Role,
    pub path: Option<Path>,
    /// The tile instruction it comes from, an index into the core's log.
    pub entry: u32,
    /// Which of the machine instructions of its tile instruction it is.
    pub part: u16,
    /// Its address, as an index into [`crate::Timeline::sites`].
    pub site: u32,
    /// How often it repeats; of a mask, the elements that it lets through, 0 for all.
    pub repeats: u32,
    pub bytes: u64,
    /// Operations that it does: elements of the vector unit, multiplications of the matrix unit.
    pub(crate) useful: u64,
    /// Operations that its unit could do in the same steps, if each were full.
    pub(crate) capacity: u64,
    pub start: u64,
    pub end: u64,
    /// Cycles of the work itself; of a body, its length.
    pub(crate) work: u32,
    /// Paid when the pipe was empty; of a body, its distance from the start of its function.
    pub(crate) head: u32,
    /// Paid when an instruction waits for the result.
    pub(crate) tail: u32,
    /// The flag pair it belongs to.
    pub(crate) pair: u32,
    /// The instruction whose end let this one start.
    pub(crate) cause: Cause,
}

/// An instruction of a timeline: the core's number and the index in its list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct At {
    pub core: u32,
    pub index: u32,
}

/// Why an instruction could not start earlier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// The scalar stream had just come to it.
    Issue,
    /// Another instruction had to end.
    After(At),
}

impl Instr {
    pub fn cycles(&self) -> u64 {
        self.end - self.start
    }

    /// The flag pair it belongs to, an index into [`crate::Timeline::pairs`].
    pub fn pair(&self) -> Option<u32> {
        (self.pair != NONE).then_some(self.pair)
    }
}
