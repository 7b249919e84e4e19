//! The command-line tool from the outside: exit codes, words, JSON.

mod bad_usage;
mod capture;
mod failures;
mod find;
mod inject;
mod killed;
mod list;
mod progress;
mod readme;
mod replay;
mod run;
mod tool;
mod tui;
