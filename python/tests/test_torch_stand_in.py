"""The part of torch that comes with Argus, against torch itself: the same expressions, the same answers.

``torch_words/answers.jsonl`` holds what torch answered; with ``ARGUS_LONG`` it is asked again where it is installed.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent / "torch_words"
EXPRESSIONS = (HERE / "expressions.txt").read_text().splitlines()


STAND_IN = Path(__file__).resolve().parents[1] / "argus/compat/stand_in"


def answers(python: str, *first: Path) -> dict[str, Any]:
    """What the torch of an interpreter answers, with these places at the head of its search path."""
    paths = os.pathsep.join([*map(str, first), os.environ.get("PYTHONPATH", "")])
    command, environment = [python, str(HERE / "evaluate.py")], {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return dict(map(json.loads, done.stdout.splitlines()))


def agree(ours: Any, theirs: Any) -> bool:
    """Types and shapes are equal, and so are numbers up to the last bits of a sum in another order."""
    if isinstance(theirs, dict):
        return isinstance(ours, dict) and all(agree(ours[key], theirs[key]) for key in ("dtype", "shape", "values"))
    if isinstance(theirs, list):
        return isinstance(ours, list) and len(ours) == len(theirs) and all(map(agree, ours, theirs))
    if isinstance(theirs, float) and isinstance(ours, float):
        return (math.isnan(ours) and math.isnan(theirs)) or math.isclose(ours, theirs, rel_tol=1e-6, abs_tol=2e-7)
    return type(ours) is type(theirs) and bool(ours == theirs)


def test_every_expression_gives_what_torch_gives() -> None:
    recorded = dict(map(json.loads, (HERE / "answers.jsonl").read_text().splitlines()))
    assert list(recorded) == EXPRESSIONS, "record the answers again: they are of other expressions"
    ours = answers(sys.executable)
    wrong = {text: (ours[text], recorded[text]) for text in EXPRESSIONS if not agree(ours[text], recorded[text])}
    assert not wrong


@pytest.mark.skipif(not os.environ.get("ARGUS_LONG"), reason="takes a Python with torch")
def test_the_recorded_answers_are_those_of_torch() -> None:
    python = os.environ.get("ARGUS_TORCH_PYTHON")
    if not python:
        pytest.skip("ARGUS_TORCH_PYTHON names no interpreter with torch: `cargo xtask long` does")
    recorded = dict(map(json.loads, (HERE / "answers.jsonl").read_text().splitlines()))
    now = answers(python)
    assert {text for text in EXPRESSIONS if not agree(now[text], recorded[text])} == set()


@pytest.mark.skipif(not os.environ.get("ARGUS_LONG"), reason="takes a Python with another NumPy")
def test_another_numpy_gives_the_same() -> None:
    """The Python with torch has a NumPy of its own: the oldest that the package takes, where it is Debian's."""
    python = os.environ.get("ARGUS_TORCH_PYTHON")
    if not python:
        pytest.skip("ARGUS_TORCH_PYTHON names no interpreter with torch: `cargo xtask long` does")
    recorded = dict(map(json.loads, (HERE / "answers.jsonl").read_text().splitlines()))
    ours = answers(python, STAND_IN)
    assert {text: ours[text] for text in EXPRESSIONS if not agree(ours[text], recorded[text])} == {}
