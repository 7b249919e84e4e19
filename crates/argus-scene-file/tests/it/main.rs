//! Scene files beside real C++ sources, compiled and run.

mod bad;
mod chain;
mod setup;
