//! What the crate promises, one module per promise.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod data;
mod metrics;
mod numpy;
mod patterns;
#[path = "../../../../tests/python/interpreter.rs"]
mod python;
mod verdicts;
