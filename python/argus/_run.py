"""Runs of scenes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from argus import _native
from argus.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Case:
    """A set of parameters of a scene."""

    name: str
    #: Short names of the runtimes that it is written for; the first is the default.
    runtimes: tuple[str, ...]


@dataclass(frozen=True)
class Scene:
    """A program that can be run and judged."""

    name: str
    about: str
    #: The first case is the default.
    cases: tuple[Case, ...]


def scenes() -> list[Scene]:
    """The scenes that ship. Others are ``scene.toml`` files, named by their paths.

    >>> import argus
    >>> "paged_attention" in [scene.name for scene in argus.scenes()]
    True
    """
    return [
        Scene(name, about, tuple(Case(case, tuple(runtimes)) for case, runtimes in cases))
        for name, about, cases in _native.list_scenes()
    ]


@dataclass(frozen=True)
class OutputVerdict:
    """How an output of a scene compares with what it should be."""

    name: str
    passed: bool
    elements: int
    mismatches: int
    max_abs_error: float
    max_rel_error: float


@dataclass(frozen=True)
class Round:
    """One round of a run."""

    elapsed_ms: float
    tasks: int
    #: Empty when nothing was compared.
    outputs: tuple[OutputVerdict, ...]


class Run:
    """A completed run of a scene."""

    def __init__(self, told: dict[str, Any], tensors: list[tuple[str, str, list[int], bytes]]) -> None:
        self._tensors = tensors
        #: The scene, case, platform and runtime that were run.
        self.scene: str = told["scene"]
        self.case: str = told["case"]
        self.platform: str = told["platform"]
        self.runtime: str = told["runtime"]
        #: No output differs. Says nothing about outputs that were not compared; see :attr:`compared`.
        self.passed: bool = told["passed"]
        #: Whether outputs were compared with anything.
        self.compared: bool = told["compared"]
        #: The rounds, in order.
        self.rounds: tuple[Round, ...] = tuple(_round(each) for each in told["rounds"])
        #: The directory of each round's dump; empty if nothing was captured.
        self.dumps: tuple[Path, ...] = tuple(Path(each) for each in told["dumps"])
        #: Faults injected into the last round, in words.
        self.injected: tuple[str, ...] = tuple(told["injected"])

    @property
    def dump(self) -> _native.Dump:
        """The dump of the last round.

        >>> import argus
        >>> len(argus.run("vector_example", dump="a_run").dump)
        18
        """
        if not self.dumps:
            raise UsageError("the run was not captured", hint="argus.run(..., dump=True) captures it")
        return _native.open(self.dumps[-1])

    @property
    def tensors(self) -> dict[str, NDArray[Any]]:
        """The scene's own tensors after the last round, by name.

        >>> import argus
        >>> sorted(argus.run("vector_example").tensors)
        ['a', 'b', 'f']
        """
        from argus import _arrays

        return {name: _arrays.array(raw, dtype, tuple(shape)) for name, dtype, shape, raw in self._tensors}

    def __repr__(self) -> str:
        word = ("passed" if self.passed else "failed") if self.compared else "not compared"
        return f"<argus.Run {self.scene} {self.case} on {self.platform}, {self.runtime}: {word}>"

    def _repr_html_(self) -> str:
        from argus import _html

        return _html.run(self)


def _round(told: dict[str, Any]) -> Round:
    outputs = tuple(
        OutputVerdict(
            each["name"],
            each["pass"],
            each["elements"],
            each["mismatches"],
            float(each["max_abs_error"]),
            float(each["max_rel_error"]),
        )
        for each in told["outputs"]
    )
    return Round(told["elapsed_ms"], told["tasks"], outputs)


def run(
    scene: str | os.PathLike[str],
    case: str | None = None,
    platform: str | None = None,
    *,
    dump: bool | str | os.PathLike[str] | None = None,
    runtime: str | None = None,
    level: str = "full",
    select: Sequence[str] = (),
    rounds: int = 1,
    block_dim: int | None = None,
    control_threads: int | None = None,
    skip_golden: bool = False,
    rtol: float | None = None,
    atol: float | None = None,
    timeout: float | None = None,
    inject: Sequence[str] = (),
) -> Run:
    """Runs a case of a scene on a simulated chip and compares its outputs with what they should be.

    ``scene`` is one of :func:`scenes`, or the path of a ``scene.toml``. ``dump`` captures every argument of every task:
    into that directory, or with ``True`` under ``outputs/`` as the command line does. ``level``, ``select`` and
    ``inject`` take what ``--dump-tensor``, ``--dump-select`` and ``--inject`` of `argus run` take.

    A run that fails raises :class:`argus.RunError`. One whose outputs differ has ``passed == False``.

    >>> import argus
    >>> run = argus.run("vector_example", case="default", dump="captured")
    >>> run.passed, run.rounds[0].tasks
    (True, 5)
    >>> [(output.name, output.mismatches) for output in run.rounds[0].outputs]
    [('f', 0)]
    """
    captured = dump is not None and dump is not False
    if not captured and (select or level != "full"):
        raise UsageError("level and select say what to capture, but nothing is to be captured", hint="add dump=True")
    if rounds < 1:
        raise UsageError(f"rounds is {rounds}; at least 1 is needed")
    settings = {
        "case": case,
        "platform": platform or os.environ.get("ARGUS_PLATFORM"),
        "runtime": runtime,
        "rounds": rounds,
        "block_dim": block_dim,
        "control_threads": control_threads,
        "skip_golden": skip_golden,
        "rtol": rtol,
        "atol": atol,
        "timeout": timeout,
        "inject": list(inject),
        "level": level if captured else None,
        "select": list(select),
        "directory": None if not captured or dump is True else os.fspath(dump),  # type: ignore[arg-type]
        "outputs": os.environ.get("ARGUS_OUTPUTS", "outputs"),
    }
    told, tensors = _native.run_scene(os.fspath(scene), settings)
    return Run(json.loads(told), tensors)
