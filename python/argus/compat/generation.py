"""Which generation of the public interface a test is written for.

Its sources say so by the names they use, and so do the names that the test file imports. Where neither helps, it is
June. The variable ``ARGUS_GENERATION`` (and the option ``--generation`` of the runners) has the last word.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Iterable

VARIABLE = "ARGUS_GENERATION"
GENERATIONS = ("april", "june", "august")
#: Names of ``simpler_setup`` and ``simpler.task_interface`` that only one generation has.
_AUGUST_NAMES = ("TensorArg", "SceneTestLevel", "scene_level", "CallableHandle")
_JUNE_NAMES = ("ContinuousTensor", "RunTiming")

_last = "june"


def override() -> str | None:
    """What the user said."""
    said = os.environ.get(VARIABLE, "").strip().lower()
    if not said:
        return None
    if said not in GENERATIONS:
        raise ValueError(f"{VARIABLE} is '{said}'; it can be {', '.join(GENERATIONS)}")
    return said


def of_sources(paths: Iterable[str | Path]) -> str:
    """The generation of the sources of one program."""
    from argus import _native

    said = override()
    if said:
        return said
    texts = []
    for path in paths:
        try:
            texts.append(Path(path).read_text(errors="replace"))
        except OSError:
            # A source that cannot be read is an error when it is compiled.
            continue
    return str(_native.detect_generation(texts))


def of_module(module: Any) -> str | None:
    """What the names in a test's module say; None if they say nothing."""
    said = override()
    if said:
        return said
    names = vars(module)
    setup = sys.modules.get("simpler_setup")
    for name in _AUGUST_NAMES:
        if name in names:
            return "august"
    for name in _JUNE_NAMES:
        if name in names:
            return "june"
    if setup is not None and names.get("Tensor") is getattr(setup, "Tensor", object()):
        return "june"
    return None


def remember(generation: str) -> str:
    """The generation of what was compiled last is that of things which belong to no source."""
    global _last
    _last = generation
    return generation


def current() -> str:
    return override() or _last
