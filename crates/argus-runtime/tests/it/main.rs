//! The runtime's promises, from the outside.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod failures;
mod generate;
mod graphs;
mod oracle;
mod runtimes;
