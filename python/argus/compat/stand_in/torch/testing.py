"""Comparison with an explanation."""

from __future__ import annotations

from typing import Any

from torch._functions import allclose


def assert_close(
    actual: Any, expected: Any, *, rtol: float = 1.3e-6, atol: float = 1e-5, equal_nan: bool = False, check_dtype: bool = True,
    msg: str | None = None,
) -> None:
    if check_dtype and actual.dtype != expected.dtype:
        raise AssertionError(msg or f"the types are {actual.dtype} and {expected.dtype}")
    if actual.shape != expected.shape:
        raise AssertionError(msg or f"the shapes are {tuple(actual.shape)} and {tuple(expected.shape)}")
    if not allclose(actual, expected, rtol, atol, equal_nan):
        raise AssertionError(msg or f"the tensors differ by up to {(actual - expected).abs().max().item()}")
