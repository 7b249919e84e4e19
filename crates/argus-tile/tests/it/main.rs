//! Every instruction against a model that shares no code with it.

// A panic is how a test fails.
#![allow(clippy::unwrap_used)]

mod alias;
mod convert;
mod elementwise;
mod faults;
mod gather;
mod log;
mod matrix;
mod model;
mod moves;
mod pipes;
mod poison;
mod rig;
mod rows;
mod transfer;
