//! Dumps are true: what a dump says of a run is held against what the tests compute themselves.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod dump;
mod model;
mod programs;
mod setup;

mod truth_attention;
mod truth_matrix;
mod truth_members;
mod truth_observed;
mod truth_vector;

mod endings;
mod host_built;
mod injected;
mod isolated;
mod levels;
mod numbers;
mod pressure;
mod selectors;
mod several;
mod statistics;
mod transports;
