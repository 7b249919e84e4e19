//! Instructions of the vector unit: each has a cost row in every timing set.

use super::Mnemonic;

macro_rules! vector_instructions {
    ($($variant:ident => $form:expr,)*) => {
        /// A vector instruction, before it is known whether a chip repeats it or makes a function of it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub(crate) enum VectorInstr {
            $($variant,)*
        }

        impl VectorInstr {
            pub const ALL: &'static [VectorInstr] = &[$(VectorInstr::$variant,)*];

            pub const fn mnemonic(self) -> Mnemonic {
                match self {
                    $(VectorInstr::$variant => Mnemonic::$variant,)*
                }
            }

            /// What computes inside a vector function; `None` if all it does is load and store.
            pub const fn register_form(self) -> Option<Mnemonic> {
                match self {
                    $(VectorInstr::$variant => $form,)*
                }
            }
        }
    };
}

vector_instructions! {
    MoveMask => None,
    MoveV => Some(Mnemonic::RvVdup),
    Vdup => Some(Mnemonic::RvVdup),
    Vadd => Some(Mnemonic::RvVadd),
    Vsub => Some(Mnemonic::RvVsub),
    Vmul => Some(Mnemonic::RvVmul),
    Vdiv => Some(Mnemonic::RvVdiv),
    Vmax => Some(Mnemonic::RvVmax),
    Vmin => Some(Mnemonic::RvVmin),
    Vadds => Some(Mnemonic::RvVadds),
    Vmuls => Some(Mnemonic::RvVmuls),
    Vmaxs => Some(Mnemonic::RvVmaxs),
    Vmins => Some(Mnemonic::RvVmins),
    Vexp => Some(Mnemonic::RvVexp),
    Vln => Some(Mnemonic::RvVln),
    Vsqrt => Some(Mnemonic::RvVsqrt),
    Vrsqrt => Some(Mnemonic::RvVrsqrt),
    Vabs => Some(Mnemonic::RvVabs),
    Vconv => Some(Mnemonic::RvVcvt),
    Vcopy => None,
    Vbrcb => None,
    Vcadd => Some(Mnemonic::RvVcadd),
    Vcmax => Some(Mnemonic::RvVcmax),
    Vgather => Some(Mnemonic::RvVgather),
    Vreducev2 => Some(Mnemonic::RvVsqz),
    Vnchwconv => None,
    Vscatter => None,
    Vbitsort => None,
    Vmrgsort => None,
}
