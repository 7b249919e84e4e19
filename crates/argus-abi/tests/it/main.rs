//! The promises of the ABI's words, each checked against brute force over element sets.

mod overlap;
mod views;
mod words;
