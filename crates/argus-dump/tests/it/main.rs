//! What a dump promises, one module per promise.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod common;
mod directory;
mod failures;
mod filter;
mod foreign;
mod hostile;
mod journal;
mod killed;
mod locate;
mod manifest;
mod old_journal;
mod payload;
#[path = "../../../../tests/python/interpreter.rs"]
mod python;
mod samples;
mod statistics;
mod summary;
mod verify;
