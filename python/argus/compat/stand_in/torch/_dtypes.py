"""Element types."""

from __future__ import annotations

import builtins

import numpy as np


class dtype:
    """An element type: its name, and how numpy stores and computes it."""

    def __init__(self, name: str, store: type, compute: type, rank: builtins.int) -> None:
        self.name = name
        self.store = np.dtype(store)
        self.compute = np.dtype(compute)
        #: Of two types in one operation the one of the higher rank wins.
        self.rank = rank

    @property
    def itemsize(self) -> builtins.int:
        return self.store.itemsize

    @property
    def is_floating_point(self) -> builtins.bool:
        return self.compute.kind == "f"

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name

    def decode(self, stored: np.ndarray) -> np.ndarray:
        """Stored elements as numbers."""
        if self is bfloat16:
            # The type is said: older versions of numpy choose one by the value of a single element.
            return np.left_shift(stored, np.uint32(16), dtype=np.uint32).view(np.float32)
        return stored

    def encode(self, values: np.ndarray) -> np.ndarray:
        """Numbers as stored elements, rounded to the nearest, ties to even."""
        if self is not bfloat16:
            return np.asarray(values).astype(self.store, copy=False)
        bits = np.ascontiguousarray(np.asarray(values, dtype=np.float32)).view(np.uint32)
        rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
        nan = (bits & 0x7FFFFFFF) > 0x7F800000
        made = np.where(nan, (bits >> 16) | 0x40, rounded).astype(np.uint16)
        return made.reshape(np.shape(values))


bool = dtype("bool", np.bool_, np.bool_, 0)
uint8 = dtype("uint8", np.uint8, np.uint8, 1)
int8 = dtype("int8", np.int8, np.int8, 2)
uint16 = dtype("uint16", np.uint16, np.uint16, 3)
int16 = short = dtype("int16", np.int16, np.int16, 4)
uint32 = dtype("uint32", np.uint32, np.uint32, 5)
int32 = int = dtype("int32", np.int32, np.int32, 6)
uint64 = dtype("uint64", np.uint64, np.uint64, 7)
int64 = long = dtype("int64", np.int64, np.int64, 8)
float16 = half = dtype("float16", np.float16, np.float16, 10)
bfloat16 = dtype("bfloat16", np.uint16, np.float32, 10)
float32 = float = dtype("float32", np.float32, np.float32, 12)
float64 = double = dtype("float64", np.float64, np.float64, 13)

_OF_NUMPY = {
    known.store: known
    for known in (bool, uint8, int8, uint16, int16, uint32, int32, uint64, int64, float16, float32, float64)
}


def of_numpy(found: np.dtype) -> dtype:
    return _OF_NUMPY[np.dtype(found)]


def promoted(a: dtype, b: dtype) -> dtype:
    """The type of an operation on both."""
    if a is b:
        return a
    if a.rank == b.rank:
        # float16 and bfloat16 have no common type but float32.
        return float32
    high, low = (a, b) if a.rank > b.rank else (b, a)
    if high.compute.kind in "iu" and low.compute.kind in "iu" and high is not low:
        wide = np.promote_types(a.compute, b.compute)
        return high if wide.kind == "f" else of_numpy(wide)
    return high


class device:
    """Where a tensor is: here, always on the CPU."""

    type = "cpu"
    index = None

    def __init__(self, name: str = "cpu", index: builtins.int | None = None) -> None:
        if not str(name).startswith("cpu"):
            raise RuntimeError(f"there is no device '{name}' without torch")

    def __repr__(self) -> str:
        return "device(type='cpu')"

    def __str__(self) -> str:
        return "cpu"

    def __eq__(self, other: object) -> builtins.bool:
        return str(other) == "cpu"

    def __hash__(self) -> builtins.int:
        return hash("cpu")


class finfo:
    """Limits of a float type."""

    def __init__(self, of: dtype = float32) -> None:
        if of is bfloat16:
            self.max, self.min, self.eps, self.tiny, self.bits = 3.3895313892515355e38, -3.3895313892515355e38, 0.0078125, 1.1754943508222875e-38, 16
            return
        info = np.finfo(of.compute)
        self.max, self.min = builtins.float(info.max), builtins.float(info.min)
        self.eps, self.tiny, self.bits = builtins.float(info.eps), builtins.float(info.tiny), info.bits


class iinfo:
    """Limits of an integer type."""

    def __init__(self, of: dtype) -> None:
        info = np.iinfo(of.compute)
        self.max, self.min, self.bits = builtins.int(info.max), builtins.int(info.min), info.bits
