//! What a dump promises, one module per promise.

mod common;
mod directory;
mod failures;
mod journal;
mod killed;
mod manifest;
mod payload;
mod statistics;
