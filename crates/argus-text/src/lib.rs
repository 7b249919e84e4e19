//! What a dump holds, as people read and write it: one number, a tensor, a part of it, a record.
//!
//! What comes in: records and payloads of a dump, and slices as typed. What goes out: text without colour and
//! without a layout of its own, so that every face (command line, browser) shows the same value the same way.
//!
//! ```
//! use argus_abi::DType;
//! use argus_text::{Array, number};
//!
//! let payload: Vec<u8> = [1.5f32, f32::NAN].iter().flat_map(|value| value.to_le_bytes()).collect();
//! let array = Array { dtype: DType::F32, payload: &payload };
//! let shown: Vec<String> = (0..2).filter_map(|index| array.get(index)).map(|n| number(DType::F32, n)).collect();
//! assert_eq!(shown, ["1.5", "nan"]);
//! ```
//!
//! | module | subject |
//! |---|---|
//! | `number` | one number |
//! | `slice` | `0,3:5,::2`: a part of a tensor as people write it |
//! | `tensor` | rows and brackets as numpy prints them |
//! | `histogram` | how often which values occur, drawn in a line |
//! | [`record`] | the words for a record |
//! | [`object`](mod@object) | a record as JSON |

mod histogram;
mod number;
pub mod object;
pub mod record;
mod slice;
mod tensor;

use argus_abi::DType;
use argus_facts::number::{Number, element};

pub use histogram::Histogram;
pub use number::{UNWRITTEN, float, number};
pub use slice::{Part, Picked, SliceError};
pub use tensor::rows;

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
