//! Parts of tensors, for orchestrations.

use argus_abi::Tensor;
use argus_runtime::Fatal;

/// Entry `index` of a tensor's first dimension, with all of the others.
pub fn entry(tensor: &Tensor, index: u32) -> Result<Tensor, Fatal> {
    entries(tensor, index, 1)
}

/// `count` entries of a tensor's first dimension from `first` on, with all of the others.
pub fn entries(tensor: &Tensor, first: u32, count: u32) -> Result<Tensor, Fatal> {
    let end = first.saturating_add(count);
    let view = tensor.slice(0, first, end, 1);
    view.map_err(|error| Fatal::invalid(format!("entries {first}..{end} of {:?}: {error}", tensor.shape())))
}
