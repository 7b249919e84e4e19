//! What kernels in objects can rely on.

mod compile;
mod conformance;
