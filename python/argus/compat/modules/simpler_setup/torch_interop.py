"""From tensors of torch to arguments of a run."""

from __future__ import annotations

import sys
from typing import Any

from simpler.task_interface import ContinuousTensor, DataType

_NAMES = {
    "float32": DataType.FLOAT32,
    "float16": DataType.FLOAT16,
    "bfloat16": DataType.BFLOAT16,
    "int8": DataType.INT8,
    "int16": DataType.INT16,
    "int32": DataType.INT32,
    "int64": DataType.INT64,
    "uint8": DataType.UINT8,
    "uint16": DataType.UINT16,
    "uint32": DataType.UINT32,
}


def torch_dtype_to_datatype(dtype: Any) -> DataType:
    name = str(dtype).removeprefix("torch.")
    if name not in _NAMES:
        raise ValueError(f"an argument cannot be of {dtype}; it can be of {', '.join(_NAMES)}")
    return _NAMES[name]


def make_tensor_arg(tensor: Any, name: str | None = None) -> ContinuousTensor:
    """The argument that is this tensor's own memory."""
    dtype = torch_dtype_to_datatype(tensor.dtype)
    if tensor.device.type != "cpu":
        raise ValueError(f"an argument must be on the CPU, not on {tensor.device}")
    if not tensor.is_contiguous():
        raise ValueError("an argument must be contiguous; call .contiguous() first")
    shape = tuple(tensor.shape) or (1,)
    return ContinuousTensor(tensor.data_ptr(), shape, dtype, name=name, keep=tensor)


make_chip_tensor_arg = make_tensor_arg



def complete_torch() -> None:
    """Older versions of torch do not say how many bytes a tensor has, which tests ask for."""
    torch = sys.modules.get("torch")
    if torch is not None and not hasattr(torch.Tensor, "nbytes"):
        torch.Tensor.nbytes = property(lambda tensor: tensor.numel() * tensor.element_size())


complete_torch()
