//! Scene files beside real C++ sources, compiled and run.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod bad;
mod chain;
mod setup;
