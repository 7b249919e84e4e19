//! The server from the outside: what it answers, byte by byte, and whom it refuses.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod client;
mod gate;
mod live;
mod routes;
mod setup;
mod tensors;
