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

/// An error and its causes, as the command line says them.
fn said(error: impl std::error::Error) -> String {
    let causes = std::iter::successors(error.source(), |error| error.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
