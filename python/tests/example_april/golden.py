"""April's form of a test: inputs, what must come out, and cases by name."""

import ctypes

import torch

__outputs__ = ["out"]
RTOL = ATOL = 0
ALL_CASES = {"small": {"first": 2.0}, "large": {"first": 512.0}}
DEFAULT_CASE = "small"


def generate_inputs(params):
    shape = (4, 16)
    return [
        ("x", torch.full(shape, params["first"], dtype=torch.float32)),
        ("count", ctypes.c_int64(64)),
        ("y", torch.arange(64, dtype=torch.float32).reshape(shape)),
        ("out", torch.zeros(shape, dtype=torch.float32)),
    ]


def compute_golden(tensors, params):
    assert tensors["count"].value == 64
    tensors["out"][:] = params["first"] + 2 * tensors["y"]
