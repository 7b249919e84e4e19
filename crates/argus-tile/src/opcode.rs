//! Instructions by name, and the pipe each one runs on.

use core::fmt;

use crate::space::Space;

/// An execution queue of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Pipe {
    /// Scalar stream: issues all others.
    S = 0,
    /// Vector unit.
    V = 1,
    /// L1 to L0A and L0B.
    Mte1 = 2,
    /// Global memory to UB and L1.
    Mte2 = 3,
    /// UB and L1 to global memory.
    Mte3 = 4,
    /// Matrix unit.
    M = 5,
    /// All of them, for barriers.
    All = 6,
    /// L0C to global memory, L1 and UB.
    Fix = 7,
}

impl Pipe {
    pub const ALL: [Pipe; 8] =
        [Pipe::S, Pipe::V, Pipe::Mte1, Pipe::Mte2, Pipe::Mte3, Pipe::M, Pipe::All, Pipe::Fix];

    pub const fn name(self) -> &'static str {
        match self {
            Pipe::S => "S",
            Pipe::V => "V",
            Pipe::Mte1 => "MTE1",
            Pipe::Mte2 => "MTE2",
            Pipe::Mte3 => "MTE3",
            Pipe::M => "M",
            Pipe::All => "ALL",
            Pipe::Fix => "FIX",
        }
    }
}

impl fmt::Display for Pipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

macro_rules! opcodes {
    ($($variant:ident = $name:literal,)*) => {
        /// One instruction of the set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Opcode {
            $($variant,)*
        }

        impl Opcode {
            /// Every instruction, in the order of its number.
            pub const ALL: &'static [Opcode] = &[$(Opcode::$variant,)*];

            /// The name kernel authors know.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Opcode::$variant => $name,)*
                }
            }
        }
    };
}

opcodes! {
    Tassign = "TASSIGN",
    Tload = "TLOAD",
    Tstore = "TSTORE",
    TstoreAtomicAdd = "TSTORE_ATOMIC_ADD",
    Tadd = "TADD",
    Tsub = "TSUB",
    Tmul = "TMUL",
    Tdiv = "TDIV",
    Tmax = "TMAX",
    Tmin = "TMIN",
    Tadds = "TADDS",
    Tsubs = "TSUBS",
    Tmuls = "TMULS",
    Tdivs = "TDIVS",
    Tmaxs = "TMAXS",
    Tmins = "TMINS",
    Texpands = "TEXPANDS",
    Texp = "TEXP",
    Tlog = "TLOG",
    Tsqrt = "TSQRT",
    Trsqrt = "TRSQRT",
    Trecip = "TRECIP",
    Tneg = "TNEG",
    Tabs = "TABS",
    Tcvt = "TCVT",
    Tmatmul = "TMATMUL",
    TmatmulAcc = "TMATMUL_ACC",
    Tmov = "TMOV",
    Textract = "TEXTRACT",
    Treshape = "TRESHAPE",
    Ttrans = "TTRANS",
    Tfillpad = "TFILLPAD",
    TfillpadInplace = "TFILLPAD_INPLACE",
    Trowsum = "TROWSUM",
    Trowmax = "TROWMAX",
    Trowexpand = "TROWEXPAND",
    Trowexpandmul = "TROWEXPANDMUL",
    Trowexpandsub = "TROWEXPANDSUB",
    Trowexpanddiv = "TROWEXPANDDIV",
    Tcolexpand = "TCOLEXPAND",
    Tcolexpandmul = "TCOLEXPANDMUL",
    Tgather = "TGATHER",
    TgatherMask = "TGATHER_MASK",
    Tci = "TCI",
    GetValue = "GET_VALUE",
    SetValue = "SET_VALUE",
    LoadScalar = "LOAD_SCALAR",
    StoreScalar = "STORE_SCALAR",
    SetFlag = "SET_FLAG",
    WaitFlag = "WAIT_FLAG",
    PipeBarrier = "PIPE_BARRIER",
    Dcci = "DCCI",
    Dsb = "DSB",
    Tpush = "TPUSH",
    Tpop = "TPOP",
    Tfree = "TFREE",
    Tcolsum = "TCOLSUM",
    Tcolmax = "TCOLMAX",
    Tcolexpandadd = "TCOLEXPANDADD",
    Tcolexpandexpdif = "TCOLEXPANDEXPDIF",
    Tconcat = "TCONCAT",
    Tsort32 = "TSORT32",
    Tmrgsort = "TMRGSORT",
    TmrgsortLists = "TMRGSORT_LISTS",
    Mscatter = "MSCATTER",
    TmatmulMx = "TMATMUL_MX",
    Tnotify = "TNOTIFY",
    Twait = "TWAIT",
    Tput = "TPUT",
    TputAsync = "TPUT_ASYNC",
    TprefetchAsync = "TPREFETCH_ASYNC",
}

impl Opcode {
    /// The instruction with this number.
    pub fn from_raw(raw: u8) -> Option<Opcode> {
        Opcode::ALL.get(usize::from(raw)).copied()
    }

    /// The pipe the instruction runs on. `dst` and `src` are the spaces of its destination and its first
    /// source; `None` stands for global memory, or for no such operand. Flags and barriers run on the pipe
    /// that they name, which only the log entry knows; here they count as scalar.
    ///
    /// TPUSH and TPOP go by the transfer they stand for, not by their bookkeeping.
    pub const fn pipe(self, dst: Option<Space>, src: Option<Space>) -> Pipe {
        match self {
            Opcode::Tload => Pipe::Mte2,
            Opcode::Tstore | Opcode::TstoreAtomicAdd => store_pipe(src),
            Opcode::Tmatmul | Opcode::TmatmulAcc | Opcode::TmatmulMx => Pipe::M,
            Opcode::Tmov | Opcode::Textract => move_pipe(dst, src),
            Opcode::Tfillpad | Opcode::TfillpadInplace | Opcode::Texpands => match dst {
                Some(Space::Mat) => Pipe::Mte2,
                _ => Pipe::V,
            },
            Opcode::Tpush => store_pipe(src),
            Opcode::Tpop => Pipe::Mte2,
            Opcode::Tassign
            | Opcode::Treshape
            | Opcode::Tci
            | Opcode::GetValue
            | Opcode::SetValue
            | Opcode::LoadScalar
            | Opcode::StoreScalar
            | Opcode::SetFlag
            | Opcode::WaitFlag
            | Opcode::PipeBarrier
            | Opcode::Dcci
            | Opcode::Dsb
            | Opcode::Tfree
            | Opcode::Tnotify
            | Opcode::Twait
            // A copy engine outside the core does the work.
            | Opcode::TputAsync
            | Opcode::TprefetchAsync => Pipe::S,
            // Through UB and out again; what leaves is what others wait for.
            Opcode::Tput => Pipe::Mte3,
            Opcode::Tadd
            | Opcode::Tsub
            | Opcode::Tmul
            | Opcode::Tdiv
            | Opcode::Tmax
            | Opcode::Tmin
            | Opcode::Tadds
            | Opcode::Tsubs
            | Opcode::Tmuls
            | Opcode::Tdivs
            | Opcode::Tmaxs
            | Opcode::Tmins
            | Opcode::Texp
            | Opcode::Tlog
            | Opcode::Tsqrt
            | Opcode::Trsqrt
            | Opcode::Trecip
            | Opcode::Tneg
            | Opcode::Tabs
            | Opcode::Tcvt
            | Opcode::Ttrans
            | Opcode::Trowsum
            | Opcode::Trowmax
            | Opcode::Trowexpand
            | Opcode::Trowexpandmul
            | Opcode::Trowexpandsub
            | Opcode::Trowexpanddiv
            | Opcode::Tcolexpand
            | Opcode::Tcolexpandmul
            | Opcode::Tgather
            | Opcode::TgatherMask
            | Opcode::Tcolsum
            | Opcode::Tcolmax
            | Opcode::Tcolexpandadd
            | Opcode::Tcolexpandexpdif
            | Opcode::Tconcat
            | Opcode::Tsort32
            | Opcode::Tmrgsort
            | Opcode::TmrgsortLists
            | Opcode::Mscatter => Pipe::V,
        }
    }
}

const fn store_pipe(src: Option<Space>) -> Pipe {
    match src {
        Some(Space::Acc) => Pipe::Fix,
        _ => Pipe::Mte3,
    }
}

const fn move_pipe(dst: Option<Space>, src: Option<Space>) -> Pipe {
    match (src, dst) {
        (Some(Space::Acc), _) => Pipe::Fix,
        (Some(Space::Mat), Some(Space::Scaling)) => Pipe::Fix,
        (Some(Space::Mat), _) => Pipe::Mte1,
        (Some(Space::Vec), Some(Space::Mat)) => Pipe::Fix,
        _ => Pipe::V,
    }
}

impl fmt::Display for Opcode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
