//! The memories of a core.

use core::fmt;

use argus_abi::CoreType;
use argus_chip::CoreSizes;

/// A memory space, numbered like the tile types that live in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Space {
    Vec = 0,
    Mat = 1,
    Left = 2,
    Right = 3,
    Acc = 4,
    Bias = 5,
    Scaling = 6,
    ScaleLeft = 7,
    ScaleRight = 8,
}

impl Space {
    /// Every space, in the order of its number.
    pub const ALL: [Space; 9] = [
        Space::Vec,
        Space::Mat,
        Space::Left,
        Space::Right,
        Space::Acc,
        Space::Bias,
        Space::Scaling,
        Space::ScaleLeft,
        Space::ScaleRight,
    ];

    /// What kernel authors call the tile type.
    pub const fn name(self) -> &'static str {
        match self {
            Space::Vec => "Vec",
            Space::Mat => "Mat",
            Space::Left => "Left",
            Space::Right => "Right",
            Space::Acc => "Acc",
            Space::Bias => "Bias",
            Space::Scaling => "Scaling",
            Space::ScaleLeft => "ScaleLeft",
            Space::ScaleRight => "ScaleRight",
        }
    }

    /// What the memory is called on the chip.
    pub const fn memory(self) -> &'static str {
        match self {
            Space::Vec => "UB",
            Space::Mat => "L1",
            Space::Left => "L0A",
            Space::Right => "L0B",
            Space::Acc => "L0C",
            Space::Bias => "bias table",
            Space::Scaling => "fixpipe buffer",
            Space::ScaleLeft => "L0A scale buffer",
            Space::ScaleRight => "L0B scale buffer",
        }
    }

    /// The kind of core that has this memory.
    pub const fn core_type(self) -> CoreType {
        match self {
            Space::Vec => CoreType::Aiv,
            _ => CoreType::Aic,
        }
    }

    /// Bytes of this memory on a core of these sizes.
    pub const fn bytes_of(self, sizes: &CoreSizes) -> u32 {
        match self {
            Space::Vec => sizes.ub,
            Space::Mat => sizes.l1,
            Space::Left => sizes.l0a,
            Space::Right => sizes.l0b,
            Space::Acc => sizes.l0c,
            Space::Bias => sizes.bias,
            Space::Scaling => sizes.scaling,
            Space::ScaleLeft => sizes.scale_left,
            Space::ScaleRight => sizes.scale_right,
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
