//! Every scene, on every platform and runtime it is written for.

mod kernels;
mod scenes;
