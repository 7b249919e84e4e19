"""The part of torch that scene tests use, over numpy.

Found only where torch itself is not installed (see ``argus.compat._finder``). Tensors are arrays of numpy; bfloat16,
which numpy does not have, is kept as 16 bits and computed in float32.
"""

from __future__ import annotations

try:
    import numpy  # noqa: F401
except ModuleNotFoundError as _error:
    raise ModuleNotFoundError(
        "neither torch nor numpy is installed here, and scene tests need one of them: `pip install numpy` is enough",
        name="numpy",
    ) from _error

from torch import nn, testing  # noqa: F401
from torch._dtypes import (  # noqa: F401
    bfloat16,
    bool,
    device,
    double,
    dtype,
    finfo,
    float,
    float16,
    float32,
    float64,
    half,
    iinfo,
    int,
    int8,
    int16,
    int32,
    int64,
    long,
    short,
    uint8,
    uint16,
    uint32,
    uint64,
)
from torch._functions import *  # noqa: F401,F403
from torch._tensor import Size, Tensor  # noqa: F401

__version__ = "0+argus"
inf, nan, pi = numpy.inf, numpy.nan, numpy.pi
#: The only layouts that arrays have here; functions take them without effect.
contiguous_format, strided = "torch.contiguous_format", "torch.strided"


def __getattr__(name: str):
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"torch is not installed, and the part of it that comes with Argus has no '{name}'; `pip install torch` gets all of it"
    )
