//! Every scene, on every platform and runtime it is written for.

mod failures;
mod kernels;
mod paged_attention;
mod scenes;
