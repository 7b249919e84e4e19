//! Tensors as text: which elements are meant, how they are laid out, how their values are spread.
//!
//! | file | subject |
//! |---|---|
//! | `slice` | `0,3:5,::2`: a part of a tensor as people write it |
//! | `text` | rows and brackets as numpy prints them |
//! | `histogram` | how often which values occur, drawn in a line |

pub mod histogram;
pub mod slice;
pub mod text;

use argus_abi::DType;
use argus_dump::numbers::{Number, element};

/// A payload and how its bytes are read.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    pub dtype: DType,
    /// In logical order; may end early.
    pub payload: &'a [u8],
}

impl Array<'_> {
    pub fn get(&self, index: u64) -> Option<Number> {
        element(self.dtype, self.payload, index)
    }
}
