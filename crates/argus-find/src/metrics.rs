//! How far one payload is from another.
//!
//! What comes in: two payloads of one dtype as a [`Pair`], and a [`Tolerance`]. What goes out: a
//! [`Judgement`] (one pass near the speed of memory, for every pair) or [`Metrics`] (everything, for the
//! pairs that are looked at).
//!
//! Guarantees:
//! - An element agrees when `|actual - expected| <= atol + rtol * |expected|`, computed in f64 for floats.
//!   Integers subtract exactly, 64-bit ones too.
//! - Zeros of either sign are equal. NaN agrees with NaN and an infinity with the same infinity; every other
//!   pair with one of them is wrong, whatever the tolerance and its budget of outliers.
//! - Results depend on the bytes alone, not on the number of threads or the CPU.
//!
//! What it never does: read files, know tasks, or decide what a wrong pair means.
//!
//! | file | subject |
//! |---|---|
//! | `pair` | two payloads that can be compared, and their elements |
//! | `tolerance` | what counts as agreement, and the defaults |
//! | `format` | bits of each dtype as values, distances and places on the number line |
//! | `screen` | the loops that see most bytes: is this block clearly within? |
//! | `judge` | the pass over every pair |
//! | `measure` | the full set |
//! | `rms` | how large the values of one side are |
//! | `histogram` | errors counted by decade |

mod format;
mod histogram;
mod judge;
mod measure;
mod pair;
mod rms;
mod screen;
mod tolerance;

pub use histogram::{Decade, Histogram};
pub use judge::{Judgement, NonFinite, Verdict, judge};
pub use measure::{Metrics, measure};
pub use pair::{Element, Pair, PairError};
pub use rms::rms;
pub use tolerance::{Tolerance, ToleranceError};

pub(crate) use judge::wrong_elements;
pub(crate) use pair::{Shown, number_or_name, raw_bits};
