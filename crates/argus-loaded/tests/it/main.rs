//! What kernels and orchestrations in objects can rely on.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod compile;
mod conformance;
mod deferred;
mod endings;
mod kernels;
mod must_fail;
mod orchestration_refusals;
mod orchestrations;
mod refusals;
mod rig;
mod scenes;
mod styles;
