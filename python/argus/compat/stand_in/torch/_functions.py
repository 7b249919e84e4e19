"""Functions that make tensors, and those that are methods as well."""

from __future__ import annotations

import builtins
import contextlib
from typing import Any

import numpy as np

from torch import _dtypes as types
from torch._dtypes import dtype as dtype_
from torch._tensor import Tensor, binary, computed, lenient, number, shape_of, stored, unary

_random = np.random.default_rng(67280421310721)


def random_of(given: Generator | None = None) -> np.random.Generator:
    return _random if given is None else given._random


def manual_seed(seed: builtins.int) -> Generator:
    global _random
    made = Generator().manual_seed(seed)
    _random = made._random
    return made


class Generator:
    """A source of random numbers of its own."""

    def __init__(self, device: Any = None) -> None:
        self._random = np.random.default_rng(67280421310721)

    def manual_seed(self, seed: builtins.int) -> Generator:
        self._random = np.random.default_rng(builtins.int(seed) & 0xFFFF_FFFF_FFFF_FFFF)
        return self


@lenient
def tensor(data: Any, dtype: dtype_ | None = None) -> Tensor:
    if isinstance(data, Tensor):
        return data.clone().to(dtype or data.dtype)
    if isinstance(data, (list, tuple)) and data and isinstance(data[0], Tensor):
        data = [part.tolist() for part in data]
    values = np.array(data)
    if dtype is None:
        dtype = types.float32 if values.dtype.kind == "f" and not isinstance(data, (np.ndarray, np.generic)) else types.of_numpy(values.dtype)
    return stored(np.ascontiguousarray(dtype.encode(values)).reshape(values.shape), dtype)


as_tensor = tensor


def from_numpy(array: np.ndarray) -> Tensor:
    return stored(array, types.of_numpy(array.dtype))


def is_tensor(value: Any) -> builtins.bool:
    return isinstance(value, Tensor)


@lenient
def full(size: Any, fill_value: Any, dtype: dtype_ | None = None) -> Tensor:
    if dtype is None:
        dtype = types.float32 if isinstance(fill_value, float_) else types.bool if isinstance(fill_value, builtins.bool) else types.int64
    value = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    shape = shape_of((size,) if isinstance(size, (tuple, list)) else (size,))
    return stored(np.full(shape, dtype.encode(np.asarray(value, dtype=dtype.compute))), dtype)


float_ = builtins.float


@lenient
def zeros(*sizes: Any, size: Any = (), dtype: dtype_ | None = None) -> Tensor:
    of = dtype or types.float32
    return stored(np.zeros(shape_of(sizes or size), of.store), of)


empty = zeros


@lenient
def ones(*sizes: Any, size: Any = (), dtype: dtype_ | None = None) -> Tensor:
    return full(shape_of(sizes or size), 1, dtype or types.float32)


@lenient
def zeros_like(like: Tensor, dtype: dtype_ | None = None) -> Tensor:
    return zeros(like.shape, dtype=dtype or like.dtype)


empty_like = zeros_like


@lenient
def ones_like(like: Tensor, dtype: dtype_ | None = None) -> Tensor:
    return full(like.shape, 1, dtype or like.dtype)


@lenient
def full_like(like: Tensor, fill_value: Any, dtype: dtype_ | None = None) -> Tensor:
    return full(like.shape, fill_value, dtype or like.dtype)


@lenient
def arange(*bounds: Any, dtype: dtype_ | None = None, start: Any = None, end: Any = None, step: Any = None) -> Tensor:
    if end is not None:
        bounds = (start or 0, end, step or 1)
    elif step is not None:
        bounds = (*((0,) if len(bounds) == 1 else ()), *bounds, step)
    whole = all_(isinstance(bound, (builtins.int, np.integer)) for bound in bounds)
    of = dtype or (types.int64 if whole else types.float32)
    return computed(np.arange(*bounds), of)


all_ = builtins.all


@lenient
def linspace(start: Any, end: Any, steps: builtins.int, dtype: dtype_ | None = None) -> Tensor:
    return computed(np.linspace(start, end, steps), dtype or types.float32)


@lenient
def eye(n: builtins.int, m: builtins.int | None = None, dtype: dtype_ | None = None) -> Tensor:
    return computed(np.eye(n, m), dtype or types.float32)


@lenient
def randn(*sizes: Any, size: Any = (), dtype: dtype_ | None = None, generator: Generator | None = None) -> Tensor:
    return computed(random_of(generator).standard_normal(shape_of(sizes or size), np.float32), dtype or types.float32)


@lenient
def rand(*sizes: Any, size: Any = (), dtype: dtype_ | None = None, generator: Generator | None = None) -> Tensor:
    return computed(random_of(generator).random(shape_of(sizes or size), np.float32), dtype or types.float32)


@lenient
def randn_like(like: Tensor, dtype: dtype_ | None = None) -> Tensor:
    return randn(like.shape, dtype=dtype or like.dtype)


@lenient
def rand_like(like: Tensor, dtype: dtype_ | None = None) -> Tensor:
    return rand(like.shape, dtype=dtype or like.dtype)


@lenient
def randint(
    low: builtins.int, high: Any = None, size: Any = None, dtype: dtype_ | None = None, generator: Generator | None = None
) -> Tensor:
    if size is None:
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    return computed(random_of(generator).integers(low, high, shape_of((size,))), dtype or types.int64)


@lenient
def randperm(n: builtins.int, dtype: dtype_ | None = None, generator: Generator | None = None) -> Tensor:
    return computed(random_of(generator).permutation(n), dtype or types.int64)


def cat(tensors: Any, dim: builtins.int = 0) -> Tensor:
    tensors = list(tensors)
    of = tensors[0].dtype
    for other in tensors[1:]:
        of = types.promoted(of, other.dtype)
    return stored(np.concatenate([part.to(of)._store for part in tensors], axis=dim), of)


concat = cat


def stack(tensors: Any, dim: builtins.int = 0) -> Tensor:
    return cat([part.unsqueeze(dim) for part in tensors], dim)


def hstack(tensors: Any) -> Tensor:
    tensors = list(tensors)
    return cat(tensors, 0 if tensors[0].ndim <= 1 else 1)


def vstack(tensors: Any) -> Tensor:
    return cat([part.unsqueeze(0) if part.ndim == 1 else part for part in tensors], 0)


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    return input.expand(*shape_of((size,)))


@lenient
def scalar_tensor(value: Any, dtype: dtype_ | None = None) -> Tensor:
    return tensor(value, dtype or types.float32)


def get_default_dtype() -> dtype_:
    return types.float32


def is_floating_point(input: Tensor) -> builtins.bool:
    return input.dtype.is_floating_point


def addmm(input: Tensor, a: Tensor, b: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    return input * beta + a.matmul(b) * alpha


baddbmm = addmm


def tensordot(a: Tensor, b: Tensor, dims: Any = 2) -> Tensor:
    of = types.promoted(a.dtype, b.dtype)
    return computed(np.tensordot(number(a, of), number(b, of), axes=dims), of)


def kron(a: Tensor, b: Tensor) -> Tensor:
    of = types.promoted(a.dtype, b.dtype)
    return computed(np.kron(number(a, of), number(b, of)), of)


def meshgrid(*tensors: Any, indexing: str = "ij") -> tuple[Tensor, ...]:
    parts = list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else tensors
    grids = np.meshgrid(*(part._store for part in parts), indexing=indexing)
    return tuple(stored(grid, part.dtype) for grid, part in zip(grids, parts))


def quantile(input: Tensor, q: Any, dim: builtins.int | None = None, keepdim: builtins.bool = False) -> Tensor:
    return computed(np.quantile(number(input, input.dtype), number(q, types.float64), axis=dim, keepdims=keepdim), input.dtype)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        return input * 0.5 * ((input + input**3 * 0.044715) * (2 / np.pi) ** 0.5).tanh().add(1)
    return input * 0.5 * (input / 2**0.5).erf().add(1)


def layer_norm(input: Tensor, shape: Any, weight: Any = None, bias: Any = None, eps: builtins.float = 1e-5) -> Tensor:
    dims = tuple(range(-len(shape_of((shape,))), 0))
    made = (input - input.mean(dims, True)) / (input.var(dims, True, unbiased=False) + eps).sqrt()
    made = made if weight is None else made * weight
    return made if bias is None else made + bias


def pad(input: Tensor, pad: Any, mode: str = "constant", value: Any = 0) -> Tensor:
    pairs = [(pad[at], pad[at + 1]) for at in range(0, len(pad), 2)]
    widths = [(0, 0)] * (input.ndim - len(pairs)) + pairs[::-1]
    fill = input.dtype.encode(np.asarray(value or 0, dtype=input.dtype.compute))
    return stored(np.pad(input._store, widths, constant_values=fill), input.dtype)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: builtins.bool = False) -> builtins.bool:
    return builtins.bool(isclose(input, other, rtol, atol, equal_nan)._store.all())


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: builtins.bool = False) -> Tensor:
    of = types.promoted(input.dtype, other.dtype)
    a, b = number(input, of), number(other, of)
    if of.compute.kind in "iub" and not rtol and not atol:
        return stored(np.asarray(a == b), types.bool)
    if of.compute.kind in "iub":
        a, b = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        close = (np.abs(a - b) <= atol + rtol * np.abs(b)) & np.isfinite(b) | (a == b)
        if equal_nan:
            close |= np.isnan(a) & np.isnan(b)
    return stored(np.asarray(close), types.bool)


def where(condition: Tensor, a: Any = None, b: Any = None) -> Any:
    if a is None:
        return condition.nonzero(as_tuple=True)
    of = binary(lambda x, y: x, a, b).dtype if isinstance(a, Tensor) or isinstance(b, Tensor) else types.float32
    return computed(np.where(condition._store, number(a, of), number(b, of)), of)


def pow(base: Any, exponent: Any) -> Tensor:
    return base.pow(exponent) if isinstance(base, Tensor) else binary(np.power, base, exponent)


def fmod(input: Tensor, other: Any) -> Tensor:
    return binary(np.fmod, input, other)


def tile(input: Tensor, dims: Any) -> Tensor:
    return input.tile(dims)


def max(input: Tensor, *rest: Any, **named: Any) -> Any:
    return input.max(*rest, **named)


def min(input: Tensor, *rest: Any, **named: Any) -> Any:
    return input.min(*rest, **named)


def maximum(a: Any, b: Any) -> Tensor:
    return binary(np.maximum, a, b)


def minimum(a: Any, b: Any) -> Tensor:
    return binary(np.minimum, a, b)


def outer(a: Tensor, b: Tensor) -> Tensor:
    return a.reshape(-1, 1) * b.reshape(1, -1)


def einsum(formula: str, *tensors: Tensor) -> Tensor:
    of = tensors[0].dtype
    inner = types.float32 if of in (types.float16, types.bfloat16) else of
    return computed(np.einsum(formula, *(number(part, inner) for part in tensors)), of)


def topk(input: Tensor, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True, sorted: builtins.bool = True) -> Any:
    return input.topk(k, dim, largest, sorted)


def silu(input: Tensor) -> Tensor:
    return unary(lambda a: a / (1 + np.exp(-a)), input)


def set_printoptions(**_: Any) -> None:
    """Accepted: numpy prints."""


def get_num_threads() -> builtins.int:
    return 1


def set_num_threads(count: builtins.int) -> None:
    """Accepted: numpy decides by itself."""


@contextlib.contextmanager
def no_grad():
    yield


inference_mode = no_grad


def _method(name: str) -> Any:
    def call(input: Tensor, *rest: Any, **named: Any) -> Any:
        return getattr(input, name)(*rest, **named)

    call.__name__ = name
    return call


for _name in (
    "abs add all amax amin any argmax bmm ceil chunk clamp clone count_nonzero cos cumsum div dot eq equal exp flatten floor "
    "gather ge gt index_select isfinite isinf isnan le log log2 lt masked_fill matmul mean mm mul mv narrow ne neg nonzero "
    "permute prod reciprocal relu repeat_interleave reshape round rsqrt sigmoid sign sin softmax split sqrt square "
    "squeeze std sub sum tanh transpose unsqueeze var t exp2 numel argmin median norm logsumexp log_softmax nan_to_num lerp "
    "logical_and logical_or logical_xor logical_not select unbind roll flip movedim masked_select scatter index_add sort "
    "argsort unique diag bitwise_and bitwise_or bitwise_xor remainder floor_divide erf log1p expm1 trunc atan2 swapaxes "
    "swapdims sinh cosh tan atan log10 clamp_min clamp_max tril triu diagonal ravel"
).split():
    globals().setdefault(_name, _method(_name))

__all__ = [name for name in globals() if not name.startswith("_") and name not in ("annotations", "builtins", "contextlib", "Any", "np", "types", "dtype_", "float_", "all_", "Tensor", "computed", "number", "shape_of", "stored", "unary", "binary", "random_of")]
