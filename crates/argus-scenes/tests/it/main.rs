//! Every scene, on every platform and runtime it is written for.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails, in its helpers too")]

mod failures;
mod kernels;
mod paged_attention;
mod scenes;
