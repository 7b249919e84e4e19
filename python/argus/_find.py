"""The first wrong task, as objects."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from argus import _goldens, _native
from argus.errors import UsageError

if TYPE_CHECKING:
    from argus._goldens import GoldenTask


@dataclass(frozen=True)
class Compared:
    """A record, and how it compares with what it should be."""

    arg: int
    #: Position in the dump.
    record: int
    #: What it was compared with.
    compared_with: str
    #: ``equal``, ``within``, ``beyond``, ``unknown`` or ``damaged``.
    agreement: str
    #: Elements beyond the tolerance.
    beyond: int
    max_abs: float | None
    why: str | None


@dataclass(frozen=True)
class TaskVerdict:
    """A task and its verdict."""

    task_id: str
    kernel: str
    #: ``clean``, ``introduced``, ``inherited``, ``here_or_upstream``, ``damaged`` or ``unknown``.
    verdict: str
    inputs: tuple[Compared, ...]
    outputs: tuple[Compared, ...]
    why: tuple[str, ...]


@dataclass(frozen=True)
class Race:
    """Two tasks that touch the same bytes with nothing ordering them."""

    first: TaskVerdict
    second: TaskVerdict
    how: str
    bytes: int


@dataclass(frozen=True)
class FirstWrong:
    """A task where an error starts."""

    task_id: str
    kernel: str
    #: ``introduced``, or ``here_or_upstream``.
    verdict: str
    why: str | None
    #: Wrong tasks downstream of it, where they were counted.
    downstream: int | None
    #: Its wrong outputs by argument: record, dtype, shape, what the error looks like and where it is.
    outputs: tuple[dict[str, Any], ...] = field(repr=False)
    _dump: _native.Dump = field(repr=False, compare=False)

    @property
    def task(self) -> _native.Task:
        """The task, for :func:`argus.replay` and :func:`argus.trace`."""
        return self._dump.task(self.task_id)

    @property
    def looks_like(self) -> str | None:
        """What its first wrong output looks like, with the evidence; ``None`` if no pattern fits."""
        for output in self.outputs:
            for finding in output["looks_like"]:
                return str(finding["evidence"])
        return None


class Verdict:
    """The result of a search. It is true if everything that could be compared agrees."""

    def __init__(self, dump: _native.Dump, report: _native.Report) -> None:
        self._report = report
        self._head: dict[str, Any] = json.loads(report.head())
        #: The dump that was searched.
        self.dump = dump
        #: ``agree``, ``differ``, ``damaged``, ``failed``, ``race`` or ``unjudged``.
        self.word: str = self._head["verdict"]
        #: The exit code of `argus find`: 0 for agreement, 1 if something is wrong, 2 if nothing could be judged.
        self.exit_code: int = self._head["exit_code"]
        #: What the outputs were compared with.
        self.compared_with: str = self._head["compared_with"]
        #: The number of tasks with each verdict.
        self.counts: dict[str, int] = self._head["counts"]
        #: Tasks with at least one compared output, and tasks that run kernels.
        self.judged: int = self._head["judged"]
        self.judgeable: int = self._head["judgeable"]
        #: How the run failed, if it did.
        self.failure: str | None = self._head["failure"]
        #: What counted as agreement.
        self.tolerances: tuple[str, ...] = tuple(self._head["tolerances"])
        #: Caveats of the verdict.
        self.notes: tuple[str, ...] = tuple(self._head["notes"])

    def __bool__(self) -> bool:
        return self.word == "agree"

    @cached_property
    def first_wrong(self) -> tuple[FirstWrong, ...]:
        """The tasks where errors start, dependencies first."""
        return tuple(
            FirstWrong(
                each["task_id"],
                each["kernel"],
                each["verdict"],
                each.get("why"),
                each["downstream"],
                tuple(each["outputs"]),
                self.dump,
            )
            for each in self._head["first_wrong"]
        )

    @cached_property
    def _tasks(self) -> dict[str, Any]:
        told: dict[str, Any] = json.loads(self._report.tasks())
        return told

    @cached_property
    def tasks(self) -> tuple[TaskVerdict, ...]:
        """Every task with its verdict, dependencies first."""
        return tuple(
            TaskVerdict(
                each["task_id"],
                each["kernel"],
                each["verdict"],
                tuple(_compared(one) for one in each.get("inputs", ())),
                tuple(_compared(one) for one in each.get("outputs", ())),
                tuple(each.get("why", ())),
            )
            for each in self._tasks["tasks"]
        )

    @cached_property
    def races(self) -> tuple[Race, ...]:
        """Pairs of tasks that touch the same bytes with nothing ordering them, as far as the dump can tell."""
        tasks = self.tasks
        return tuple(
            Race(tasks[each["tasks"][0]], tasks[each["tasks"][1]], each["how"], each["bytes"])
            for each in self._tasks["races"]
        )

    def json(self) -> str:
        """What `argus find --json` prints."""
        return self._report.json()

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in self.counts.items() if count)
        lines = [f"{self.word.upper()}: {self.judged} of {self.judgeable} tasks judged by {self.compared_with}; {counts}"]
        if self.failure is not None:
            lines.append(f"the run failed: {self.failure}")
        for number, first in enumerate(self.first_wrong[:8]):
            lead = "first wrong" if number == 0 else "also wrong"
            line = f"{lead}: {first.kernel} {first.task_id} ({first.verdict.replace('_', ' ')})"
            if first.why is not None:
                line += f": {first.why}"
            lines.append(line)
            if first.looks_like is not None:
                lines.append(f"  looks like: {first.looks_like}")
        lines.extend(f"note: {note}" for note in self.notes)
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<argus.Verdict {self.word} of {self.dump.directory}>"

    def _repr_html_(self) -> str:
        from argus import _html

        return _html.verdict(self)


def _compared(told: dict[str, Any]) -> Compared:
    return Compared(
        told["arg_index"],
        told["record"],
        told["with"],
        told["agreement"],
        told["beyond"],
        told["max_abs"],
        told.get("why"),
    )


def find(
    a: _native.Dump | str | os.PathLike[str],
    *,
    against: _native.Dump | str | os.PathLike[str] | None = None,
    golden: Callable[[GoldenTask], Any] | str | os.PathLike[str] | object | None = None,
    scene: str | None = None,
    case: str | None = None,
    runtime: str | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    outliers: float | None = None,
    full: bool = False,
) -> Verdict:
    """Finds the first wrong task of a dump.

    ``against`` compares with another dump. ``golden`` is a directory of expected arrays, or says in Python what each task
    should compute from its captured inputs: a function ``golden(task)``, or a module or class with one, or with a function
    ``golden_NAME(task)`` for each kernel. Without either, the scene of the dump says what its kernels should compute; name
    it with ``scene`` and ``case`` if the dump does not.

    >>> import argus
    >>> run = argus.run("vector_example", dump="broken", inject=["add_scalar:1:scale"])
    >>> verdict = argus.find(run.dump)
    >>> bool(verdict), verdict.word, verdict.first_wrong[0].kernel
    (False, 'differ', 'add_scalar')
    >>> argus.find(run.dump, against="my_run").first_wrong[0].kernel
    'add_scalar'

    A golden gets views of the captured inputs and returns the outputs:

    >>> def golden(task):
    ...     first, *rest = task.inputs
    ...     if task.kernel == "add":
    ...         return first + rest[0]
    ...     if task.kernel == "mul":
    ...         return first * rest[0]
    ...     return first + task.scalars[0]
    >>> argus.find(run.dump, golden=golden).first_wrong[0].kernel
    'add_scalar'
    """
    if against is not None and golden is not None:
        raise UsageError("against and golden are two ways to say what is right; give one of them")
    dump = a if isinstance(a, _native.Dump) else _native.open(a)
    other = against if against is None or isinstance(against, _native.Dump) else _native.open(against)
    folder, function = _goldens.resolve(golden)
    report = _native.find(dump, other, folder, function, scene, case, runtime, rtol, atol, outliers, full)
    return Verdict(dump, report)
