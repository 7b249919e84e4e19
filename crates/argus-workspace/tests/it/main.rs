//! Generated workspaces: their files, their errors, what their host program does, and how they are collected.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod captured;
mod cases;
mod collecting;
mod compiled;
mod errors;
mod golden;
mod specs;
mod symbols;
mod writing;
