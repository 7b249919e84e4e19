//! The crate from outside: what is recorded comes out the same, or is counted as lost.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod copies;
mod failures;
mod gather;
mod pressure;
mod streams;
mod support;
