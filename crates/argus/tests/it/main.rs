//! The command-line tool from the outside: exit codes, words, JSON.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod attack;
mod bad_usage;
mod bugs;
mod capture;
mod cpp_scenes;
mod crashes;
mod debugger;
mod dumps;
mod errors;
mod failures;
mod find;
mod inject;
mod json;
mod killed;
mod list;
mod natural;
mod new;
mod open;
mod overclaims;
mod progress;
#[path = "../../../../tests/python/interpreter.rs"]
mod python;
mod readme;
mod replay;
mod run;
mod runs;
mod runs_listed;
mod settings;
mod tool;
mod trace;
mod tui;
mod twins;
mod verdicts;
mod workspace;
