//! What each kernel and each scene must produce.
//!
//! Plain loops over plain slices. Half-precision buffers are slices of raw bits, as they lie in device
//! memory. Where a result depends on the order of additions, the order is the documented one of the kernel,
//! so that a comparison may be as strict as bit for bit.
//!
//! A slice whose length contradicts the stated sizes is a mistake in the caller and panics.

pub mod bgemm;
pub mod double_buffered;
pub mod gemm;
pub mod matmul;
pub mod mixed;
pub mod paged_attention;
pub mod pipe_mix;
pub mod spmd;
pub mod vector;
