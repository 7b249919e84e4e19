//! The runtime's promises, from the outside.

mod failures;
mod generate;
mod graphs;
mod oracle;
mod runtimes;
