//! The runtime's promises, from the outside.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod blocks;
mod capture_rings;
mod conditions;
mod declared;
mod failures;
mod generate;
mod graphs;
mod hazards;
mod host_built;
mod host_built_tensors;
mod memory;
mod oracle;
mod programs;
mod runtimes;
mod scopes;
mod threads;
mod timelines;
mod waits;
