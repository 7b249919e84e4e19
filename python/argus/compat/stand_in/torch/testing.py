"""Comparison with an explanation."""

from __future__ import annotations

from typing import Any

from torch._functions import allclose


def assert_close(actual: Any, expected: Any, rtol: float = 1.3e-6, atol: float = 1e-5, **_: Any) -> None:
    if actual.shape != expected.shape:
        raise AssertionError(f"the shapes are {tuple(actual.shape)} and {tuple(expected.shape)}")
    if not allclose(actual, expected, rtol, atol):
        raise AssertionError(f"the tensors differ by up to {(actual - expected).abs().max().item()}")
