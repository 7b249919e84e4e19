//! What the crate promises, one module per promise.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod by_hand;
mod data;
mod knowledge;
mod metrics;
mod numpy;
mod patterns;
#[path = "../../../../tests/python/interpreter.rs"]
mod python;
mod stains;
mod verdicts;
