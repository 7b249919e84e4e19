"""A task, instruction by instruction."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from argus import _native
from argus._replay import TaskLike, wanted


@dataclass(frozen=True)
class Slice:
    """One machine instruction on its track. Times are in cycles."""

    core: str
    track: str
    instruction: str
    start: int
    end: int
    #: ``file:line``.
    source: str


class Timeline:
    """The timeline of a task: instructions that ran, with times from a cost table."""

    def __init__(self, traced: _native.TaskTrace) -> None:
        self._traced = traced
        told: dict[str, Any] = json.loads(traced.told())
        self.task_id: str = told["task_id"]
        self.kernel: str = told["kernel"]
        self.platform: str = told["platform"]
        #: Whether the task behaved as it did in the run: ``bit-equal``, ``differs``, ``not-compared`` or ``cut``.
        self.replay: str = told["replay"]
        self.notes: tuple[str, ...] = tuple(told["notes"])
        #: What `argus trace --json` reports under ``summary``: cores, tracks, the critical chain, hazards.
        self.summary: dict[str, Any] = told["summary"]
        self.cycles: int = self.summary["cycles"]
        self.time_us: float = self.summary["time_us"]
        self.instructions: int = self.summary["instructions"]
        #: What limits the task, in words.
        self.bottleneck: str = self.summary["bottleneck"]

    @property
    def hazards(self) -> list[dict[str, Any]]:
        """Pairs of instructions that touch the same bytes with nothing ordering them."""
        found: list[dict[str, Any]] = self.summary["hazards"]
        return found

    @cached_property
    def slices(self) -> tuple[Slice, ...]:
        """Every machine instruction, core by core."""
        return tuple(Slice(*row) for row in zip(*self._traced.slices()))

    def to_pandas(self) -> Any:
        """The slices as a pandas data frame. Needs pandas."""
        from argus import _frames

        _frames.check("pandas")
        import pandas

        names = ["core", "track", "instruction", "start", "end", "source"]
        return pandas.DataFrame(dict(zip(names, self._traced.slices())))

    def write(self, directory: str | os.PathLike[str]) -> Path:
        """Writes the files for MindStudio Insight and Perfetto; returns the directory.

        >>> import argus
        >>> argus.trace(argus.open("my_run").task("mul:0")).write("a_trace").name
        'simulator'
        """
        return Path(self._traced.write(os.fspath(directory))[0])

    def __repr__(self) -> str:
        return f"<argus.Timeline {self.kernel} {self.task_id}: {self.instructions} instructions, {self.cycles} cycles>"

    def _repr_html_(self) -> str:
        from argus import _html

        return _html.timeline(self)


def trace(
    task: TaskLike,
    name: str | int | None = None,
    *,
    kernel: str | None = None,
    nth: int = 0,
    scene: str | None = None,
    case: str | None = None,
    runtime: str | None = None,
    platform: str | None = None,
    set: Mapping[int, object] | None = None,
    timeout: float | None = None,
    timing: str | os.PathLike[str] | None = None,
    max_instructions: int | None = None,
) -> Timeline:
    """Runs one task alone and returns its timeline.

    The task is named as for :func:`argus.replay`. ``timing`` is a file with other costs, ``max_instructions`` stops the task
    after that many tile instructions.

    >>> import argus
    >>> timeline = argus.trace(argus.open("my_run").task("mul:0"))
    >>> timeline.replay, timeline.hazards
    ('bit-equal', [])
    >>> timeline.slices[0].track
    'MTE2'
    """
    what, named = wanted(
        task,
        name=name,
        kernel=kernel,
        nth=nth,
        scene=scene,
        case=case,
        runtime=runtime,
        platform=platform,
        set=set,
        timeout=timeout,
    )
    path = None if timing is None else os.fspath(timing)
    return Timeline(_native.trace_task(what, named, path, max_instructions))
