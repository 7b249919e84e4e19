//! What every drawing of a graph holds.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod properties;
