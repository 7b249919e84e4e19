//! Arguments of a run from plain values, and back.

use argus_abi::{ArgDirection, DType};
use argus_runtime::{HostArgs, HostTensor};

/// A tensor argument from elements of any plain type.
pub fn tensor<T: bytemuck::NoUninit>(
    name: &str,
    direction: ArgDirection,
    dtype: DType,
    shape: &[u32],
    values: &[T],
) -> HostTensor {
    let bytes = bytemuck::cast_slice(values).to_vec();
    HostTensor { name: name.into(), direction, dtype, shape: shape.into(), bytes }
}

/// The elements of an argument, read as plain type.
pub fn elements<T: bytemuck::AnyBitPattern>(args: &HostArgs, name: &str) -> Vec<T> {
    let tensor = args.tensors.iter().find(|tensor| tensor.name == name);
    let bytes = tensor.map_or(&[][..], |tensor| &tensor.bytes);
    bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect()
}
