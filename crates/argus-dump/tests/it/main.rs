//! What a dump promises, one module per promise.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod common;
mod directory;
mod failures;
mod journal;
mod killed;
mod manifest;
mod payload;
mod statistics;
