"""Tensors."""

from __future__ import annotations

import builtins
import functools
import math
from collections import namedtuple
from typing import Any, Callable, Iterator, TypeVar

import numpy as np

from torch import _dtypes as types
from torch._dtypes import dtype

ValuesAndIndices = namedtuple("ValuesAndIndices", "values indices")
_CPU = types.device()
_Function = TypeVar("_Function", bound=Callable[..., Any])
#: Keywords of torch that mean nothing for arrays of numpy. Any other one that a function does not know is an error.
_WITHOUT_EFFECT = ("device", "requires_grad", "pin_memory", "layout", "memory_format", "non_blocking", "stable", "names")


def lenient(function: _Function) -> _Function:
    """The function, also called with keywords that have no effect here."""

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        for name in _WITHOUT_EFFECT:
            named.pop(name, None)
        return function(*arguments, **named)

    return call  # type: ignore[return-value]


class Size(tuple):
    """A shape."""

    def numel(self) -> builtins.int:
        return builtins.int(np.prod(self, dtype=np.int64)) if self else 1

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


def stored(array: np.ndarray, of: dtype) -> Tensor:
    """The tensor over this memory."""
    made = object.__new__(Tensor)
    made._store = array if isinstance(array, np.ndarray) else np.asarray(array)
    made.dtype = of
    return made


def computed(values: Any, of: dtype) -> Tensor:
    """The tensor with these values, rounded to its type."""
    return stored(np.asarray(of.encode(np.asarray(values))), of)


def type_of(value: Any) -> dtype:
    """The type of a tensor or of a plain number."""
    if isinstance(value, Tensor):
        return value.dtype
    if isinstance(value, (builtins.bool, np.bool_)):
        return types.bool
    if isinstance(value, (builtins.int, np.integer)):
        return types.int64
    return types.float32


def number(value: Any, of: dtype) -> np.ndarray:
    """A value as numpy computes it in a type."""
    values = value.dtype.decode(value._store) if isinstance(value, Tensor) else np.asarray(value)
    return values.astype(of.compute, copy=False)


def common(a: Any, b: Any) -> dtype:
    """The type of an operation. A plain number only counts if it is of another kind than the tensor."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        if a.ndim == 0 and b.ndim and _kind(a.dtype) <= _kind(b.dtype):
            return b.dtype
        if b.ndim == 0 and a.ndim and _kind(b.dtype) <= _kind(a.dtype):
            return a.dtype
        return types.promoted(a.dtype, b.dtype)
    tensor, plain = (a, b) if isinstance(a, Tensor) else (b, a)
    return tensor.dtype if _kind(type_of(plain)) <= _kind(tensor.dtype) else type_of(plain)


def _kind(of: dtype) -> builtins.int:
    return {"b": 0, "u": 1, "i": 1, "f": 2}[of.compute.kind]


def binary(operation: Any, a: Any, b: Any, *, result: dtype | None = None, in_float: builtins.bool = False) -> Tensor:
    of = common(a, b)
    if in_float and not of.is_floating_point:
        of = types.float32
    with np.errstate(all="ignore"):
        return computed(operation(number(a, of), number(b, of)), result or of)


def unary(operation: Any, a: Tensor, *, in_float: builtins.bool = False) -> Tensor:
    of = types.float32 if in_float and not a.dtype.is_floating_point else a.dtype
    with np.errstate(all="ignore"):
        return computed(operation(number(a, of)), of)


def shape_of(sizes: tuple[Any, ...]) -> tuple[builtins.int, ...]:
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    return tuple(builtins.int(size) for size in sizes)


def _plain_index(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(_plain_index(part) for part in index)
    if isinstance(index, list):
        return [_plain_index(part) for part in index]
    return index._store if isinstance(index, Tensor) else index


def _is_basic(index: Any) -> builtins.bool:
    parts = index if isinstance(index, tuple) else (index,)
    return all(part is None or part is Ellipsis or isinstance(part, (builtins.int, np.integer, slice)) for part in parts)


def _with_ellipsis(index: Any) -> Any:
    """A basic index that means memory of the tensor, also where it means one element, never a copy of it."""
    if not _is_basic(index):
        return index
    parts = index if isinstance(index, tuple) else (index,)
    return parts if builtins.any(part is Ellipsis for part in parts) else (*parts, Ellipsis)


class Tensor:
    """An array with an element type of torch's."""

    _store: np.ndarray
    dtype: dtype
    requires_grad = False
    __array_priority__ = 100
    __hash__ = object.__hash__

    def __init__(self, data: Any = ()) -> None:
        self._store, self.dtype = np.array(data, dtype=np.float32), types.float32

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name in ("_store", "dtype"):
            raise AttributeError(name)
        raise AttributeError(
            f"torch is not installed, and the tensors that come with Argus have no '{name}'; `pip install torch` gets all of it"
        )

    # What it is

    @property
    def shape(self) -> Size:
        return Size(self._store.shape)

    @property
    def ndim(self) -> builtins.int:
        return self._store.ndim

    @property
    def device(self) -> types.device:
        return _CPU

    @property
    def nbytes(self) -> builtins.int:
        return self.numel() * self.element_size()

    @property
    def data(self) -> Tensor:
        return self

    @property
    def T(self) -> Tensor:
        return stored(self._store.T, self.dtype)

    @property
    def is_cuda(self) -> builtins.bool:
        return False

    def size(self, dim: builtins.int | None = None) -> Any:
        return self.shape if dim is None else self._store.shape[dim]

    def dim(self) -> builtins.int:
        return self._store.ndim

    ndimension = dim

    def numel(self) -> builtins.int:
        return builtins.int(self._store.size)

    nelement = numel

    def element_size(self) -> builtins.int:
        return self._store.itemsize

    def stride(self, dim: builtins.int | None = None) -> Any:
        steps = tuple(step // self._store.itemsize for step in self._store.strides)
        return steps if dim is None else steps[dim]

    def storage_offset(self) -> builtins.int:
        base = self._store if self._store.base is None else self._store.base
        return (self.data_ptr() - base.ctypes.data) // self._store.itemsize if isinstance(base, np.ndarray) else 0

    def data_ptr(self) -> builtins.int:
        return builtins.int(self._store.__array_interface__["data"][0])

    @lenient
    def is_contiguous(self) -> builtins.bool:
        return builtins.bool(self._store.flags.c_contiguous)

    def is_floating_point(self) -> builtins.bool:
        return self.dtype.is_floating_point

    def is_shared(self) -> builtins.bool:
        return False

    # From and to plain values

    def numpy(self) -> np.ndarray:
        if self.dtype is types.bfloat16:
            raise TypeError("Got unsupported ScalarType BFloat16")
        return self._store

    def __array__(self, wanted: Any = None, copy: Any = None) -> np.ndarray:
        values = self.dtype.decode(self._store)
        return values if wanted is None else values.astype(wanted)

    def tolist(self) -> Any:
        return self.dtype.decode(self._store).tolist()

    def item(self) -> Any:
        if self._store.size != 1:
            raise RuntimeError(f"a Tensor with {self._store.size} elements cannot be converted to Scalar")
        return self.dtype.decode(self._store.reshape(1))[0].item()

    def __float__(self) -> builtins.float:
        return builtins.float(self.item())

    def __int__(self) -> builtins.int:
        return builtins.int(self.item())

    def __index__(self) -> builtins.int:
        return builtins.int(self.item())

    def __bool__(self) -> builtins.bool:
        if self._store.size != 1:
            raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
        return builtins.bool(self.item())

    def __len__(self) -> builtins.int:
        if self._store.ndim == 0:
            raise TypeError("len() of a 0-d tensor")
        return len(self._store)

    def __iter__(self) -> Iterator[Tensor]:
        return (self[place] for place in range(len(self)))

    def __repr__(self) -> str:
        return f"tensor({np.array2string(self.dtype.decode(self._store), separator=', ')}, dtype={self.dtype})"

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if self._store.ndim == 0 and spec else str(self)

    def __contains__(self, value: Any) -> builtins.bool:
        return builtins.bool((self == value)._store.any())

    # Copies

    @lenient
    def clone(self) -> Tensor:
        return stored(self._store.copy(order="C"), self.dtype)

    def detach(self) -> Tensor:
        return self

    cpu = detach
    share_memory_ = detach

    def contiguous(self) -> Tensor:
        return self if self.is_contiguous() else self.clone()

    def copy_(self, source: Any) -> Tensor:
        self[...] = source
        return self

    @lenient
    def to(self, *wanted: Any, dtype: dtype | None = None, copy: builtins.bool = False) -> Tensor:
        for word in wanted:
            if isinstance(word, types.dtype):
                dtype = word
            elif isinstance(word, Tensor):
                dtype = word.dtype
        if dtype is None or dtype is self.dtype:
            return self.clone() if copy else self
        values = self.dtype.decode(self._store)
        if dtype is types.bool:
            values = values != 0
        with np.errstate(all="ignore"):
            return stored(np.array(dtype.encode(values)), dtype)

    def type(self, dtype: dtype | None = None) -> Any:
        return f"torch.{self.dtype.name}" if dtype is None else self.to(dtype)

    def type_as(self, other: Tensor) -> Tensor:
        return self.to(other.dtype)

    # Parts

    def __getitem__(self, index: Any) -> Tensor:
        return stored(self._store[_with_ellipsis(_plain_index(index))], self.dtype)

    def __setitem__(self, index: Any, value: Any) -> None:
        values = number(value, value.dtype) if isinstance(value, Tensor) else np.asarray(value)
        with np.errstate(all="ignore"):
            self._store[_with_ellipsis(_plain_index(index))] = self.dtype.encode(values)

    def reshape(self, *shape: Any) -> Tensor:
        return stored(self._store.reshape(shape_of(shape)), self.dtype)

    def view(self, *shape: Any) -> Tensor:
        if len(shape) == 1 and isinstance(shape[0], types.dtype):
            return stored(self._store.view(shape[0].store), shape[0])
        if not self.is_contiguous():
            raise RuntimeError("view needs a contiguous tensor; use reshape")
        return self.reshape(*shape)

    def view_as(self, other: Tensor) -> Tensor:
        return self.view(other.shape)

    def reshape_as(self, other: Tensor) -> Tensor:
        return self.reshape(other.shape)

    def flatten(self, start_dim: builtins.int = 0, end_dim: builtins.int = -1) -> Tensor:
        shape, last = self._store.shape, end_dim % max(self.ndim, 1)
        if not shape:
            return self.reshape(1)
        joined = builtins.int(np.prod(shape[start_dim : last + 1], dtype=np.int64))
        return self.reshape(*shape[:start_dim], joined, *shape[last + 1 :])

    def ravel(self) -> Tensor:
        return self.flatten()

    def unsqueeze(self, dim: builtins.int) -> Tensor:
        return stored(np.expand_dims(self._store, dim), self.dtype)

    def squeeze(self, dim: Any = None) -> Tensor:
        if dim is not None and self._store.shape[dim] != 1:
            return self
        return stored(self._store.squeeze(dim), self.dtype)

    def expand(self, *shape: Any) -> Tensor:
        wanted, own = shape_of(shape), self._store.shape
        padded = (1,) * (len(wanted) - len(own)) + own
        full = tuple(have if want == -1 else want for want, have in zip(wanted, padded))
        return stored(np.broadcast_to(self._store, full), self.dtype)

    def expand_as(self, other: Tensor) -> Tensor:
        return self.expand(*other.shape)

    def repeat(self, *times: Any) -> Tensor:
        return stored(np.tile(self._store, shape_of(times)), self.dtype)

    tile = repeat

    def repeat_interleave(self, repeats: Any, dim: builtins.int | None = None) -> Tensor:
        return stored(np.repeat(self._store, _plain_index(repeats), axis=dim), self.dtype)

    def transpose(self, a: builtins.int, b: builtins.int) -> Tensor:
        return stored(np.swapaxes(self._store, a, b), self.dtype)

    def permute(self, *order: Any) -> Tensor:
        return stored(self._store.transpose(shape_of(order)), self.dtype)

    def t(self) -> Tensor:
        return stored(self._store.T, self.dtype)

    def narrow(self, dim: builtins.int, start: builtins.int, length: builtins.int) -> Tensor:
        return self[(slice(None),) * (dim % self.ndim) + (slice(start, start + length),)]

    def chunk(self, chunks: builtins.int, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        size = -(-self._store.shape[dim] // chunks)
        return self.split(size, dim)

    def split(self, size: Any, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        extent = self._store.shape[dim]
        sizes = list(size) if isinstance(size, (list, tuple)) else [min(size, extent - at) for at in range(0, extent, size)]
        starts = np.cumsum([0, *sizes[:-1]])
        return tuple(self.narrow(dim, builtins.int(at), length) for at, length in zip(starts, sizes))

    def index_select(self, dim: builtins.int, index: Tensor) -> Tensor:
        return stored(np.take(self._store, index._store, axis=dim), self.dtype)

    def gather(self, dim: builtins.int, index: Tensor) -> Tensor:
        return stored(np.take_along_axis(self._store, index._store, axis=dim), self.dtype)

    def select(self, dim: builtins.int, index: builtins.int) -> Tensor:
        return self[(slice(None),) * (dim % self.ndim) + (index,)]

    def unbind(self, dim: builtins.int = 0) -> tuple[Tensor, ...]:
        return tuple(self.select(dim, at) for at in range(self._store.shape[dim]))

    def roll(self, shifts: Any, dims: Any = None) -> Tensor:
        return stored(np.roll(self._store, shifts, axis=dims), self.dtype)

    def flip(self, *places: Any, dims: Any = None) -> Tensor:
        return stored(np.flip(self._store, shape_of(places if dims is None else (dims,))).copy(), self.dtype)

    def movedim(self, source: Any, destination: Any) -> Tensor:
        return stored(np.moveaxis(self._store, source, destination), self.dtype)

    def masked_select(self, mask: Tensor) -> Tensor:
        return self[mask]

    def scatter_(self, dim: builtins.int, index: Tensor, src: Any) -> Tensor:
        values = src._store if isinstance(src, Tensor) else self.dtype.encode(np.asarray(src, dtype=self.dtype.compute))
        np.put_along_axis(self._store, index._store, values, axis=dim)
        return self

    def scatter(self, dim: builtins.int, index: Tensor, src: Any) -> Tensor:
        return self.clone().scatter_(dim, index, src)

    def index_add_(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        values = number(self, self.dtype).copy()
        np.add.at(np.swapaxes(values, 0, dim), index._store, np.swapaxes(number(source, self.dtype), 0, dim))
        self[...] = computed(values, self.dtype)
        return self

    def index_add(self, dim: builtins.int, index: Tensor, source: Tensor) -> Tensor:
        return self.clone().index_add_(dim, index, source)

    @lenient
    def sort(self, dim: builtins.int = -1, descending: builtins.bool = False) -> Any:
        order = self.argsort(dim, descending)
        return ValuesAndIndices(self.gather(dim, order), order)

    @lenient
    def argsort(self, dim: builtins.int = -1, descending: builtins.bool = False) -> Tensor:
        values = number(self, self.dtype)
        if descending:
            # The complement, because a number without a sign has no negative.
            values = -values if self.dtype.is_floating_point else ~values
        order = np.argsort(values, axis=dim, kind="stable")
        return stored(np.asarray(order, dtype=np.int64), types.int64)

    def topk(self, k: builtins.int, dim: builtins.int = -1, largest: builtins.bool = True, sorted: builtins.bool = True) -> Any:
        order = self.argsort(dim, descending=largest).narrow(dim, 0, k)
        return ValuesAndIndices(self.gather(dim, order), order)

    def unique(self, sorted: builtins.bool = True, return_inverse: builtins.bool = False, return_counts: builtins.bool = False) -> Any:
        found = np.unique(self._store, return_inverse=return_inverse, return_counts=return_counts)
        if not return_inverse and not return_counts:
            return stored(found, self.dtype)
        values, *rest = found
        return (stored(values, self.dtype), *(computed(part, types.int64) for part in rest))

    def tril(self, diagonal: builtins.int = 0) -> Tensor:
        return stored(np.tril(self._store, diagonal), self.dtype)

    def triu(self, diagonal: builtins.int = 0) -> Tensor:
        return stored(np.triu(self._store, diagonal), self.dtype)

    def diagonal(self) -> Tensor:
        return stored(np.diagonal(self._store), self.dtype)

    def diag(self, diagonal: builtins.int = 0) -> Tensor:
        return stored(np.diag(self._store, diagonal).copy(), self.dtype)

    @lenient
    def new_zeros(self, *size: Any, dtype: dtype | None = None) -> Tensor:
        of = dtype or self.dtype
        return stored(np.zeros(shape_of(size), of.store), of)

    new_empty = new_zeros

    @lenient
    def new_ones(self, *size: Any, dtype: dtype | None = None) -> Tensor:
        return self.new_zeros(*size, dtype=dtype).fill_(1)

    @lenient
    def new_full(self, size: Any, fill_value: Any, dtype: dtype | None = None) -> Tensor:
        return self.new_zeros(*shape_of((size,)), dtype=dtype).fill_(fill_value)

    @lenient
    def new_tensor(self, data: Any, dtype: dtype | None = None) -> Tensor:
        return computed(np.asarray(data), dtype or self.dtype)

    def masked_fill(self, mask: Tensor, value: Any) -> Tensor:
        filled = np.broadcast_to(self.dtype.encode(np.asarray(number(value, self.dtype))), self._store.shape)
        return stored(np.where(mask._store, filled, self._store), self.dtype)

    def masked_fill_(self, mask: Tensor, value: Any) -> Tensor:
        self._store[...] = self.masked_fill(mask, value)._store
        return self

    # Filling

    def fill_(self, value: Any) -> Tensor:
        self[...] = value
        return self

    def zero_(self) -> Tensor:
        return self.fill_(0)

    def uniform_(self, low: builtins.float = 0.0, high: builtins.float = 1.0, generator: Any = None) -> Tensor:
        from torch._functions import random_of

        self[...] = random_of(generator).uniform(low, high, self._store.shape)
        return self

    def normal_(self, mean: builtins.float = 0.0, std: builtins.float = 1.0, generator: Any = None) -> Tensor:
        from torch._functions import random_of

        self[...] = random_of(generator).normal(mean, std, self._store.shape)
        return self

    # Folding

    def _folded(self, fold: Any, dim: Any, keepdim: builtins.bool, of: dtype) -> Tensor:
        axis = tuple(dim) if isinstance(dim, (list, tuple)) else dim
        with np.errstate(all="ignore"):
            return computed(fold(number(self, of), axis=axis, keepdims=keepdim), of)

    def sum(self, dim: Any = None, keepdim: builtins.bool = False, dtype: dtype | None = None) -> Tensor:
        of = dtype or (self.dtype if self.dtype.is_floating_point else types.int64)
        return self._folded(np.sum, dim, keepdim, of)

    def mean(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        return self._folded(np.mean, dim, keepdim, self.dtype)

    def prod(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        return self._folded(np.prod, dim, keepdim, self.dtype if self.dtype.is_floating_point else types.int64)

    def var(self, dim: Any = None, keepdim: builtins.bool = False, unbiased: builtins.bool = True) -> Tensor:
        return self._folded(lambda a, **k: np.var(a, ddof=builtins.int(unbiased), **k), dim, keepdim, self.dtype)

    def std(self, dim: Any = None, keepdim: builtins.bool = False, unbiased: builtins.bool = True) -> Tensor:
        return self._folded(lambda a, **k: np.std(a, ddof=builtins.int(unbiased), **k), dim, keepdim, self.dtype)

    def _extreme(self, fold: Any, place: Any, pair: Any, dim: Any, keepdim: builtins.bool) -> Any:
        if isinstance(dim, Tensor):
            return binary(pair, self, dim)
        if dim is None:
            return self._folded(fold, None, False, self.dtype)
        values = self._folded(fold, dim, keepdim, self.dtype)
        indices = place(number(self, self.dtype), axis=dim)
        if keepdim:
            indices = np.expand_dims(indices, dim)
        return ValuesAndIndices(values, stored(np.asarray(indices, dtype=np.int64), types.int64))

    def max(self, dim: Any = None, keepdim: builtins.bool = False) -> Any:
        return self._extreme(np.max, np.argmax, np.maximum, dim, keepdim)

    def min(self, dim: Any = None, keepdim: builtins.bool = False) -> Any:
        return self._extreme(np.min, np.argmin, np.minimum, dim, keepdim)

    def amax(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        return self._folded(np.max, dim, keepdim, self.dtype)

    def amin(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        return self._folded(np.min, dim, keepdim, self.dtype)

    def argmax(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        found = np.argmax(number(self, self.dtype), axis=dim)
        found = np.expand_dims(found, dim) if keepdim and dim is not None else found
        return stored(np.asarray(found, dtype=np.int64), types.int64)

    def argmin(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        found = np.argmin(number(self, self.dtype), axis=dim)
        found = np.expand_dims(found, dim) if keepdim and dim is not None else found
        return stored(np.asarray(found, dtype=np.int64), types.int64)

    def median(self) -> Tensor:
        values = np.sort(number(self, self.dtype), axis=None)
        return computed(values[(values.size - 1) // 2], self.dtype)

    def norm(self, p: Any = 2, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        order = 2 if p == "fro" else p
        powers = lambda a, **k: np.sum(np.abs(a) ** order, **k) ** (1 / order)  # noqa: E731
        return self._folded(powers, dim, keepdim, self.dtype)

    def logsumexp(self, dim: Any, keepdim: builtins.bool = False) -> Tensor:
        def fold(a: np.ndarray, axis: Any, keepdims: builtins.bool) -> np.ndarray:
            top = np.max(a, axis=axis, keepdims=True)
            summed = np.log(np.sum(np.exp(a - top), axis=axis, keepdims=True)) + top
            return summed if keepdims else np.squeeze(summed, axis=axis)

        return self._folded(fold, dim, keepdim, self.dtype)

    def any(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        return stored(np.asarray(np.any(self._store, axis=dim, keepdims=keepdim)), types.bool)

    def all(self, dim: Any = None, keepdim: builtins.bool = False) -> Tensor:
        return stored(np.asarray(np.all(self._store, axis=dim, keepdims=keepdim)), types.bool)

    def cumsum(self, dim: builtins.int) -> Tensor:
        of = self.dtype if self.dtype.is_floating_point else types.int64
        return computed(np.cumsum(number(self, of), axis=dim), of)

    # Element by element

    def abs(self) -> Tensor:
        return unary(np.abs, self)

    def neg(self) -> Tensor:
        return unary(np.negative, self)

    def square(self) -> Tensor:
        return unary(np.square, self)

    def round(self, decimals: builtins.int = 0) -> Tensor:
        return unary(lambda a: np.round(a, decimals), self)

    def clamp(self, min: Any = None, max: Any = None) -> Tensor:
        low = None if min is None else number(min, self.dtype)
        high = None if max is None else number(max, self.dtype)
        return unary(lambda a: np.clip(a, low, high), self)

    clip = clamp

    def clamp_min(self, min: Any) -> Tensor:
        return self.clamp(min=min)

    def clamp_max(self, max: Any) -> Tensor:
        return self.clamp(max=max)

    def clamp_(self, min: Any = None, max: Any = None) -> Tensor:
        self[...] = self.clamp(min, max)
        return self

    def add(self, other: Any, *, alpha: Any = 1) -> Tensor:
        return self + (other if alpha == 1 else other * alpha)

    def sub(self, other: Any, *, alpha: Any = 1) -> Tensor:
        return self - (other if alpha == 1 else other * alpha)

    def add_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        return self.copy_(self.add(other, alpha=alpha))

    def sub_(self, other: Any, *, alpha: Any = 1) -> Tensor:
        return self.copy_(self.sub(other, alpha=alpha))

    def div(self, other: Any, rounding_mode: str | None = None) -> Tensor:
        if rounding_mode is None:
            return self / other
        if rounding_mode == "floor":
            return self // other
        return binary(lambda a, b: np.trunc(np.true_divide(a, b)), self, other)

    def log_softmax(self, dim: builtins.int = -1, dtype: dtype | None = None) -> Tensor:
        of = dtype or self.dtype
        values = number(self, of)
        shifted = values - np.max(values, axis=dim, keepdims=True)
        return computed(shifted - np.log(np.sum(np.exp(shifted), axis=dim, keepdims=True)), of)

    def nan_to_num(self, nan: builtins.float = 0.0, posinf: Any = None, neginf: Any = None) -> Tensor:
        return unary(lambda a: np.nan_to_num(a, nan=nan, posinf=posinf, neginf=neginf), self)

    def lerp(self, end: Tensor, weight: Any) -> Tensor:
        return self + (end - self) * weight

    def logical_and(self, other: Tensor) -> Tensor:
        return stored(np.logical_and(self._store, other._store), types.bool)

    def logical_or(self, other: Tensor) -> Tensor:
        return stored(np.logical_or(self._store, other._store), types.bool)

    def logical_xor(self, other: Tensor) -> Tensor:
        return stored(np.logical_xor(self._store, other._store), types.bool)

    def logical_not(self) -> Tensor:
        return stored(np.logical_not(self._store), types.bool)

    def where(self, condition: Tensor, other: Any) -> Tensor:
        from torch._functions import where

        return where(condition, self, other)

    def isclose(self, other: Tensor, rtol: builtins.float = 1e-5, atol: builtins.float = 1e-8, equal_nan: builtins.bool = False) -> Tensor:
        from torch._functions import isclose

        return isclose(self, other, rtol, atol, equal_nan)

    def isnan(self) -> Tensor:
        return stored(np.asarray(np.isnan(number(self, self.dtype))), types.bool)

    def isinf(self) -> Tensor:
        return stored(np.asarray(np.isinf(number(self, self.dtype))), types.bool)

    def isfinite(self) -> Tensor:
        return stored(np.asarray(np.isfinite(number(self, self.dtype))), types.bool)

    def pow(self, exponent: Any) -> Tensor:
        return binary(np.power, self, exponent)

    def matmul(self, other: Tensor) -> Tensor:
        of = types.promoted(self.dtype, other.dtype)
        # Sums in float32, rounded once.
        inner = types.float32 if of in (types.float16, types.bfloat16) else of
        return computed(np.matmul(number(self, inner), number(other, inner)), of)

    mm = bmm = mv = dot = matmul

    def equal(self, other: Tensor) -> builtins.bool:
        return self.shape == other.shape and builtins.bool(np.array_equal(number(self, self.dtype), number(other, other.dtype)))

    def allclose(self, other: Tensor, rtol: builtins.float = 1e-5, atol: builtins.float = 1e-8, equal_nan: builtins.bool = False) -> builtins.bool:
        from torch._functions import allclose

        return allclose(self, other, rtol, atol, equal_nan)

    def nonzero(self, as_tuple: builtins.bool = False) -> Any:
        found = np.nonzero(number(self, self.dtype))
        if as_tuple:
            return tuple(stored(places.astype(np.int64), types.int64) for places in found)
        return stored(np.stack(found, axis=-1).astype(np.int64), types.int64)

    def count_nonzero(self, dim: Any = None) -> Tensor:
        return stored(np.asarray(np.count_nonzero(number(self, self.dtype), axis=dim), dtype=np.int64), types.int64)

    def softmax(self, dim: builtins.int = -1, dtype: dtype | None = None) -> Tensor:
        of = dtype or self.dtype
        values = number(self, of)
        with np.errstate(all="ignore"):
            powers = np.exp(values - np.max(values, axis=dim, keepdims=True))
            return computed(powers / np.sum(powers, axis=dim, keepdims=True), of)


def _erf(values: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf, otypes=[values.dtype])(values)


def _make_casts() -> None:
    names = {"float": types.float32, "double": types.float64, "half": types.float16, "bfloat16": types.bfloat16,
             "int": types.int32, "long": types.int64, "short": types.int16, "bool": types.bool}
    for name, of in names.items():
        setattr(Tensor, name, lambda self, of=of: self.to(of))
    setattr(Tensor, "byte", lambda self: self.to(types.uint8))
    setattr(Tensor, "char", lambda self: self.to(types.int8))


def _make_operators() -> None:
    arithmetic = {
        "add": (np.add, False), "sub": (np.subtract, False), "mul": (np.multiply, False),
        "truediv": (np.true_divide, True), "floordiv": (np.floor_divide, False), "mod": (np.mod, False),
        "pow": (np.power, False),
    }
    for name, (operation, in_float) in arithmetic.items():
        def forward(self, other, operation=operation, in_float=in_float):
            return binary(operation, self, other, in_float=in_float)

        def reverse(self, other, operation=operation, in_float=in_float):
            return binary(operation, other, self, in_float=in_float)

        def inplace(self, other, operation=operation, in_float=in_float):
            self[...] = binary(operation, self, other, in_float=in_float)
            return self

        setattr(Tensor, f"__{name}__", forward)
        setattr(Tensor, f"__r{name}__", reverse)
        setattr(Tensor, f"__i{name}__", inplace)
        plain = {"truediv": "div", "floordiv": "floor_divide", "mod": "remainder"}.get(name, name)
        if plain not in ("add", "sub", "pow", "div"):
            setattr(Tensor, plain, forward)
        if plain not in ("add", "sub"):
            setattr(Tensor, f"{plain}_", inplace)
    for name, operation in {"lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
                            "eq": np.equal, "ne": np.not_equal}.items():
        def compare(self, other, operation=operation):
            if not isinstance(other, (Tensor, builtins.bool, builtins.int, builtins.float, np.generic, np.ndarray)):
                return NotImplemented
            return binary(operation, self, other, result=types.bool)

        setattr(Tensor, f"__{name}__", compare)
        setattr(Tensor, name, compare)
    for name, operation in {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
                            "lshift": np.left_shift, "rshift": np.right_shift}.items():
        setattr(Tensor, f"__{name}__", lambda self, other, operation=operation: binary(operation, self, other))
        setattr(Tensor, f"bitwise_{name}", getattr(Tensor, f"__{name}__"))
        setattr(Tensor, f"__r{name}__", lambda self, other, operation=operation: binary(operation, other, self))
    Tensor.__neg__ = Tensor.neg
    Tensor.__abs__ = Tensor.abs
    Tensor.__matmul__ = Tensor.matmul
    Tensor.__invert__ = lambda self: unary(np.invert, self)
    for name, operation in {"exp": np.exp, "log": np.log, "log2": np.log2, "sqrt": np.sqrt, "tanh": np.tanh,
                            "sin": np.sin, "cos": np.cos, "floor": np.floor, "ceil": np.ceil,
                            "reciprocal": lambda a: 1 / a, "rsqrt": lambda a: 1 / np.sqrt(a),
                            "sigmoid": lambda a: 1 / (1 + np.exp(-a)), "exp2": np.exp2, "log1p": np.log1p,
                            "expm1": np.expm1, "erf": _erf, "sinh": np.sinh, "cosh": np.cosh, "tan": np.tan,
                            "atan": np.arctan, "log10": np.log10}.items():
        setattr(Tensor, name, lambda self, operation=operation: unary(operation, self, in_float=True))
    for name in ("abs", "ceil", "exp", "floor", "log", "neg", "reciprocal", "relu", "round", "rsqrt", "sigmoid", "sqrt", "square", "tanh"):
        setattr(Tensor, f"{name}_", lambda self, name=name: self.copy_(getattr(self, name)()))
    Tensor.relu = lambda self: unary(lambda a: np.maximum(a, 0), self)
    Tensor.trunc = lambda self: unary(np.trunc, self)
    Tensor.atan2 = lambda self, other: binary(np.arctan2, self, other, in_float=True)
    Tensor.swapaxes = Tensor.transpose
    Tensor.swapdims = Tensor.transpose
    Tensor.mT = property(lambda self: self.transpose(-1, -2))
    Tensor.sign = lambda self: unary(np.sign, self)


_make_casts()
_make_operators()
