"""Arguments, callables and configuration of a run."""

from __future__ import annotations

import ctypes
import struct
from enum import IntEnum
from typing import Any, Iterable, Sequence

from argus.compat.engine import CompiledBytes

#: How many callables one Worker takes.
MAX_REGISTERED_CALLABLE_IDS = 64
#: Tensors have one to this many dimensions.
MAX_DIMENSIONS = 5


class ArgDirection(IntEnum):
    """What a kernel or an orchestration does with an argument."""

    SCALAR = 0
    IN = 1
    OUT = 2
    INOUT = 3


class TensorArgType(IntEnum):
    """How a tensor is handed to a task."""

    INPUT = 0
    OUTPUT = 1
    INOUT = 2
    OUTPUT_EXISTING = 3
    NO_DEP = 4


class DataType(IntEnum):
    """Element types, with the numbers of the interface."""

    FLOAT32 = 0
    FLOAT16 = 1
    INT32 = 2
    INT16 = 3
    INT8 = 4
    UINT8 = 5
    BFLOAT16 = 6
    INT64 = 7
    UINT64 = 8
    UINT16 = 9
    UINT32 = 10
    BOOL = 11
    FP8E4M3FN = 12
    FP8E8M0 = 13
    FP4E2M1 = 14


_SIZES = {1: (4, 5, 11, 12, 13, 14), 2: (1, 3, 6, 9), 4: (0, 2, 10), 8: (7, 8)}
_ELEMENT_SIZE = {DataType(number): size for size, numbers in _SIZES.items() for number in numbers}


def get_element_size(dtype: DataType) -> int:
    return _ELEMENT_SIZE[DataType(dtype)]


def get_dtype_name(dtype: DataType) -> str:
    return DataType(dtype).name


class ContinuousTensor:
    """A tensor without gaps, by the address of its first element."""

    def __init__(self, data: int = 0, shapes: Sequence[int] = (), dtype: DataType = DataType.FLOAT32,
                 child_memory: bool = False, *, name: str | None = None, keep: Any = None) -> None:
        shapes = tuple(int(extent) for extent in shapes)
        if len(shapes) > MAX_DIMENSIONS:
            raise ValueError(f"a tensor has at most {MAX_DIMENSIONS} dimensions, not {len(shapes)}")
        self.data = int(data)
        self.shapes = shapes
        self.dtype = DataType(dtype)
        self.child_memory = bool(child_memory)
        self.name = name
        # Whatever owns the memory must live as long as this.
        self._keep = keep

    @classmethod
    def make(cls, data: int, shapes: Sequence[int], dtype: DataType, child_memory: bool = False) -> ContinuousTensor:
        return cls(data, shapes, dtype, child_memory)

    @property
    def ndims(self) -> int:
        return len(self.shapes)

    def numel(self) -> int:
        count = 1
        for extent in self.shapes:
            count *= extent
        return count

    def nbytes(self) -> int:
        return self.numel() * get_element_size(self.dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(data=0x{self.data:x}, shapes={self.shapes}, dtype={self.dtype.name})"


class ChipTensor(ContinuousTensor):
    """August's word for it."""


class Buffer(int):
    """Device memory: its address, as June has it, that also makes tensors, as August has it."""

    nbytes: int

    def __new__(cls, address: int, nbytes: int) -> Buffer:
        made = super().__new__(cls, address)
        made.nbytes = nbytes
        return made

    @property
    def base(self) -> int:
        return int(self)

    def tensor(self, shapes: Sequence[int], dtype: DataType = DataType.FLOAT32) -> ChipTensor:
        made = ChipTensor(int(self), shapes, dtype, True)
        if made.nbytes() > self.nbytes:
            raise ValueError(f"a tensor of {made.nbytes()} bytes does not fit a buffer of {self.nbytes}")
        return made

    def __repr__(self) -> str:
        return f"Buffer(0x{int(self):x}, {self.nbytes} bytes)"


def scalar_to_uint64(value: Any) -> int:
    """The 64 bits that a scalar is passed as: floats as IEEE single, everything else by its own bits."""
    if isinstance(value, ctypes.c_float):
        return struct.unpack("<I", struct.pack("<f", value.value))[0]
    if isinstance(value, ctypes.c_double):
        return struct.unpack("<Q", struct.pack("<d", value.value))[0]
    if isinstance(value, ctypes._SimpleCData):
        value = value.value
    if isinstance(value, float):
        return struct.unpack("<I", struct.pack("<f", value))[0]
    return int(value) & 0xFFFF_FFFF_FFFF_FFFF


class _TaskArguments:
    """Tensors, then scalars."""

    def __init__(self) -> None:
        self._tensors: list[tuple[ContinuousTensor, TensorArgType | None]] = []
        self._scalars: list[int] = []

    def add_tensor(self, tensor: Any, tag: TensorArgType | None = None) -> None:
        if self._scalars:
            raise ValueError("tensors come before scalars")
        if not isinstance(tensor, ContinuousTensor):
            from simpler_setup.torch_interop import make_tensor_arg

            tensor = make_tensor_arg(tensor)
        self._tensors.append((tensor, None if tag is None else TensorArgType(tag)))

    def add_scalar(self, value: Any) -> None:
        self._scalars.append(scalar_to_uint64(value))

    def tensor(self, index: int) -> ContinuousTensor:
        return self._tensors[index][0]

    def scalar(self, index: int) -> int:
        return self._scalars[index]

    def tag(self, index: int) -> TensorArgType | None:
        return self._tensors[index][1]

    def tensor_count(self) -> int:
        return len(self._tensors)

    def scalar_count(self) -> int:
        return len(self._scalars)

    def clear(self) -> None:
        self._tensors.clear()
        self._scalars.clear()

    def __len__(self) -> int:
        return len(self._tensors) + len(self._scalars)


class ChipStorageTaskArgs(_TaskArguments):
    """The arguments of an orchestration."""


class TaskArgs(_TaskArguments):
    """The same with what each tensor is for."""


class ChipTaskArgs(_TaskArguments):
    """August's word for the first."""


class RunTiming:
    """How long a run took: for its caller, and on the device."""

    def __init__(self, host_wall_ns: int = 0, device_wall_ns: int = 0) -> None:
        self.host_wall_ns = host_wall_ns
        self.device_wall_ns = device_wall_ns

    @property
    def host_wall_us(self) -> float:
        return self.host_wall_ns / 1000

    @property
    def device_wall_us(self) -> float:
        return self.device_wall_ns / 1000

    def __repr__(self) -> str:
        return f"RunTiming(host_wall_us={self.host_wall_us:.3f}, device_wall_us={self.device_wall_us:.3f})"


class RuntimeEnv:
    """Sizes of the task rings: one number for all four, or one for each. None leaves the default."""

    _LEAST = {"ring_task_window": 4, "ring_heap": 1024, "ring_dep_pool": 4}

    def __init__(self) -> None:
        for name in self._LEAST:
            object.__setattr__(self, name, None)

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in self._LEAST:
            raise ValueError(f"runtime_env has no '{name}'; it has {', '.join(self._LEAST)}")
        if value is not None:
            self._check(name, value)
        object.__setattr__(self, name, value)

    def _check(self, name: str, value: Any) -> None:
        numbers = list(value) if isinstance(value, (list, tuple)) else [value]
        if isinstance(value, (list, tuple)) and len(numbers) != 4:
            raise ValueError(f"{name} takes one number or four, not {len(numbers)}")
        for number in numbers:
            if isinstance(number, bool) or not isinstance(number, int):
                raise ValueError(f"{name} takes whole numbers, not {number!r}")
            if number < self._LEAST[name]:
                raise ValueError(f"{name} must be at least {self._LEAST[name]}, not {number}")
            if name == "ring_task_window" and number & (number - 1):
                raise ValueError(f"ring_task_window must be a power of two, not {number}")

    def rings(self, name: str) -> list[int] | None:
        """The four sizes, or None if nothing was said."""
        value = getattr(self, name)
        if value is None:
            return None
        return list(value) if isinstance(value, (list, tuple)) else [value] * 4


_CONFIG = {
    "block_dim": 0,
    "aicpu_thread_num": None,
    "enable_l2_swimlane": 0,
    "enable_dump_tensor": 0,
    "enable_pmu": 0,
    "enable_dep_gen": False,
    "enable_scope_stats": False,
    "output_prefix": "",
}
#: What August calls some of them.
_AUGUST = {"enable_chip_swimlane": "enable_l2_swimlane", "enable_dump_args": "enable_dump_tensor"}


class CallConfig:
    """How to run a callable."""

    def __init__(self, **values: Any) -> None:
        object.__setattr__(self, "_values", dict(_CONFIG))
        object.__setattr__(self, "runtime_env", RuntimeEnv())
        for name, value in values.items():
            setattr(self, name, value)

    def __getattr__(self, name: str) -> Any:
        values = object.__getattribute__(self, "_values")
        name = _AUGUST.get(name, name)
        if name not in values:
            raise AttributeError(f"CallConfig has no '{name}'")
        value = values[name]
        if name == "aicpu_thread_num" and value is None:
            from argus.compat.generation import current

            return 0 if current() == "august" else 3
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "runtime_env":
            env = RuntimeEnv()
            for key, given in (value.items() if isinstance(value, dict) else vars(value).items()):
                setattr(env, key, given)
            object.__setattr__(self, name, env)
            return
        own = _AUGUST.get(name, name)
        if own not in self._values:
            raise AttributeError(f"CallConfig has no '{name}'")
        if own == "output_prefix":
            value = str(value)
            if len(value.encode()) > 1023:
                raise ValueError("output_prefix must be shorter than 1024 bytes")
        elif own in ("block_dim", "aicpu_thread_num", "enable_l2_swimlane", "enable_dump_tensor", "enable_pmu"):
            value = int(value)
            if own == "enable_dump_tensor":
                value = min(max(value, 0), 3)
            if value < 0:
                raise ValueError(f"{name} must not be negative")
        self._values[own] = value

    @property
    def diagnostics(self) -> bool:
        """Whether a run writes any file."""
        names = ("enable_l2_swimlane", "enable_dump_tensor", "enable_pmu", "enable_dep_gen", "enable_scope_stats")
        return any(self._values[name] for name in names)

    def validate(self) -> None:
        if self.diagnostics and not self.output_prefix:
            raise ValueError("a run that writes files needs output_prefix, the directory for them")
        if not 0 <= self.enable_l2_swimlane <= 4:
            raise ValueError(f"the swimlane level is 0 to 4, not {self.enable_l2_swimlane}")
        if not 0 <= self.enable_dump_tensor <= 3:
            raise ValueError(f"the dump level is 0 to 3, not {self.enable_dump_tensor}")

    def __repr__(self) -> str:
        said = ", ".join(f"{name}={value!r}" for name, value in self._values.items() if value != _CONFIG[name])
        return f"CallConfig({said})"


def _directions(signature: Iterable[Any]) -> list[ArgDirection]:
    return [ArgDirection(direction) for direction in signature]


class CoreCallable:
    """A compiled kernel with what it does to its arguments."""

    def __init__(self, signature: Sequence[Any], binary: bytes, name: str | None = None) -> None:
        self.signature = _directions(signature)
        self.binary = CompiledBytes.of(binary)
        self.name = name

    @classmethod
    def build(cls, signature: Sequence[Any] = (), binary: bytes = b"") -> CoreCallable:
        return cls(signature, binary)

    @property
    def binary_size(self) -> int:
        return len(self.binary)

    @property
    def sig_count(self) -> int:
        return len(self.signature)


class ChipCallable:
    """A compiled orchestration with the kernels that it submits."""

    def __init__(self, signature: Sequence[Any], func_name: str, binary: bytes,
                 children: Sequence[tuple[int, CoreCallable]], config_name: str = "") -> None:
        self.signature = _directions(signature)
        self.func_name = func_name
        self.config_name = config_name
        self.binary = CompiledBytes.of(binary)
        self.children = [(int(func_id), core) for func_id, core in children]
        for func_id, core in self.children:
            if not isinstance(core, CoreCallable):
                raise TypeError(f"child {func_id} is a {type(core).__name__}, not a CoreCallable")
            if not 0 <= func_id < 1024:
                raise ValueError(f"func_id must be 0 to 1023, not {func_id}")
        #: What a dump of it is called and carries; filled in by scene tests.
        self.scene: Any = None

    @classmethod
    def build(cls, signature: Sequence[Any] = (), func_name: str = "", binary: bytes = b"",
              children: Sequence[tuple[int, CoreCallable]] = (), config_name: str = "") -> ChipCallable:
        return cls(signature, func_name, binary, children, config_name)

    @property
    def binary_size(self) -> int:
        return len(self.binary)

    @property
    def child_count(self) -> int:
        return len(self.children)

    @property
    def generation(self) -> str:
        return self.binary.generation


__all__ = [name for name in globals() if not name.startswith("_") and name not in ("annotations", "Any")]


def __getattr__(name: str):
    from argus.compat.missing import attribute

    return attribute(__name__, name)
