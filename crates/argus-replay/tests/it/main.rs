//! Tasks of recorded runs, run again alone.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod arguments;
mod capsules;
mod every_task;
mod failing;
mod looking;
mod samples;

mod selecting;
mod setup;
mod specs;
mod third_chip;
