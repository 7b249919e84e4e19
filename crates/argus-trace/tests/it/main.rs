#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod files;
mod hazards;
mod insight;
mod kernels;
mod model;
mod perfetto;
mod points;
#[path = "../../../../tests/python/interpreter.rs"]
mod python;
mod rig;
