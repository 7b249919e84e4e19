//! What the descriptors promise.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod names;
mod sources;
