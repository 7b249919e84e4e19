//! The promises of the ABI's words, each checked against brute force over element sets.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod cores;
mod overlap;
mod views;
mod words;
