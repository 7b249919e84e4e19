"""Converts bytes of a dump to NumPy arrays and torch tensors, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from argus.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from argus._native import Payload

#: Names of types in dumps and in NumPy.
_PLAIN = {
    "FLOAT32": "<f4",
    "FLOAT16": "<f2",
    "INT32": "<i4",
    "INT16": "<i2",
    "INT8": "i1",
    "UINT8": "u1",
    "INT64": "<i8",
    "UINT64": "<u8",
    "UINT16": "<u2",
    "UINT32": "<u4",
    "BOOL": "?",
}
#: Names of types in dumps and in ml_dtypes.
_SMALL = {
    "BFLOAT16": "bfloat16",
    "FP8E4M3FN": "float8_e4m3fn",
    "FP8E8M0": "float8_e8m0fnu",
    "FP4E2M1": "float4_e2m1fn",
}
_PACKED = "FP4E2M1"


def numpy_module() -> Any:
    """NumPy, or an error that says how to get it."""
    try:
        import numpy
    except ImportError as error:
        raise UsageError("NumPy is not installed, and arrays need it", hint="pip install numpy") from error
    return numpy


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy type for elements of this type."""
    numpy = numpy_module()
    if name in _PLAIN:
        dtype: np.dtype[Any] = numpy.dtype(_PLAIN[name])
        return dtype
    try:
        import ml_dtypes
    except ImportError as error:
        raise UsageError(f"NumPy has no {name}, and ml_dtypes is not installed", hint="pip install ml_dtypes") from error
    small: np.dtype[Any] = numpy.dtype(getattr(ml_dtypes, _SMALL[name]))
    return small


def array(payload: Payload | bytes, name: str, shape: tuple[int, ...]) -> NDArray[Any]:
    """A read-only array over these bytes."""
    numpy = numpy_module()
    raw = numpy.frombuffer(payload, "u1") if isinstance(payload, bytes) else numpy.asarray(payload)
    if name == _PACKED:
        # Two elements share a byte, the even one in its low half.
        halves = numpy.stack((raw & 15, raw >> 4), axis=-1).reshape(-1)
        raw = halves[: int(numpy.prod(shape, dtype=numpy.int64))]
        raw.flags.writeable = False
    values: NDArray[Any] = raw.view(numpy_dtype(name)).reshape(shape)
    return values


def scalar(bits: int, name: str) -> NDArray[Any]:
    """A scalar as a zero-dimensional array."""
    dtype = numpy_dtype(name)
    raw = bits.to_bytes(8, "little")[: dtype.itemsize]
    values: NDArray[Any] = numpy_module().frombuffer(raw, dtype).reshape(())
    return values


def elements(value: Any, name: str, shape: tuple[int, ...]) -> bytes:
    """The bytes of an array in logical order, in the type of a dump's tensor; the inverse of :func:`array`."""
    numpy = numpy_module()
    if hasattr(value, "detach"):
        value = value.detach().cpu()
        if str(value.dtype) == "torch.bfloat16":
            value = value.float()
        value = value.numpy()
    values = numpy.asarray(value)
    wanted = int(numpy.prod(shape, dtype=numpy.int64))
    if values.size != wanted:
        raise ValueError(f"{values.size} elements of shape {values.shape}, not {wanted} of shape {tuple(shape)}")
    dtype = numpy_dtype(name)
    if values.dtype != dtype:
        values = values.astype(numpy.float32).astype(dtype) if name in _SMALL else values.astype(dtype)
    raw: Any = numpy.ascontiguousarray(values).reshape(-1)
    if name == _PACKED:
        bits = raw.view("u1") & 15
        if bits.size % 2:
            bits = numpy.append(bits, numpy.uint8(0))
        raw = bits[0::2] | (bits[1::2] << 4)
    packed: bytes = raw.tobytes()
    return packed


#: Types that torch makes from plain integers of the same size.
_TORCH = {
    "BFLOAT16": ("<i2", "bfloat16"),
    "FP8E4M3FN": ("u1", "float8_e4m3fn"),
    "FP8E8M0": ("u1", "float8_e8m0fnu"),
    "UINT16": ("<i2", "uint16"),
    "UINT32": ("<i4", "uint32"),
    "UINT64": ("<i8", "uint64"),
}


def _torch_module() -> Any:
    try:
        import torch
    except ImportError as error:
        raise UsageError("torch is not installed", hint="pip install torch, or use record.numpy()") from error
    return torch


def torch_tensor(payload: Payload | bytes, name: str, shape: tuple[int, ...]) -> Any:
    """A torch tensor with a copy of these bytes."""
    torch, numpy = _torch_module(), numpy_module()
    if name == _PACKED:
        return torch.from_numpy(array(payload, name, shape).astype("f4"))
    plain, kind = _TORCH.get(name, (_PLAIN.get(name), None))
    if kind is not None and not hasattr(torch, kind):
        raise UsageError(f"this torch has no {kind}", hint="record.numpy() gives it as an array")
    raw = numpy.frombuffer(payload, "u1") if isinstance(payload, bytes) else numpy.asarray(payload)
    tensor = torch.from_numpy(raw.view(plain).reshape(shape).copy())
    return tensor if kind is None else tensor.view(getattr(torch, kind))


def torch_scalar(bits: int, name: str) -> Any:
    """A scalar as a zero-dimensional torch tensor."""
    plain = _TORCH.get(name, (_PLAIN.get(name), None))[0]
    size = numpy_module().dtype(plain).itemsize
    return torch_tensor(bits.to_bytes(8, "little")[:size], name, ())
