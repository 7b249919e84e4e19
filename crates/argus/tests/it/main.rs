//! The command-line tool from the outside: exit codes, words, JSON.

mod bad_usage;
mod capture;
mod failures;
mod list;
mod readme;
mod run;
mod tool;
