//! What an export promises, one module per promise.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod arrays;
mod common;
mod convert;
mod guards;
mod hostile;
mod numbers;
#[path = "../../../../tests/python/interpreter.rs"]
mod python;
mod samples;
mod tables;
mod text;
