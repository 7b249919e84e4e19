"""Replay of one task alone."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from argus import _native
from argus._find import FirstWrong
from argus.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What names a task: itself, one of its records, what a search found, a scene, or the path of a dump or a capsule.
TaskLike = Union[_native.Task, _native.Record, FirstWrong, _native.Dump, str, "os.PathLike[str]"]


@dataclass(frozen=True)
class ReplayedOutput:
    """An output of the task: how it compares with what was captured, and what it holds now."""

    arg: int
    #: ``bit-equal``, ``differs`` or ``unchecked``.
    verdict: str
    why: str | None
    elements: int
    compared: int
    differing: int
    #: Elements that the task did not write.
    unwritten: int


class Replay:
    """The result of a replay. It is true if every output that could be compared is bit-equal."""

    def __init__(self, told: dict[str, Any], outputs: list[tuple[int, str, list[int], bytes]]) -> None:
        self._arrays = outputs
        #: ``reproduced``, ``not_reproduced``, ``not_compared``, ``flaky`` or ``failed``.
        self.word: str = told["verdict"]
        self.passed: bool = told["passed"]
        self.task_id: str = told["task_id"]
        self.kernel: str = told["kernel"]
        self.blocks: int = told["blocks"]
        self.platform: str = told["platform"]
        #: Output elements that were compared, and all output elements.
        self.compared: int = told["compared"]
        self.elements: int = told["elements"]
        #: Why the task failed, if it did.
        self.error: str | None = told["error"]
        self.outputs: tuple[ReplayedOutput, ...] = tuple(ReplayedOutput(**each) for each in told["outputs"])
        #: Later runs that gave different bytes from the first, in words.
        self.flaky: tuple[str, ...] = tuple(told["flaky"])
        self.notes: tuple[str, ...] = tuple(told["notes"])

    def __bool__(self) -> bool:
        return self.passed

    @property
    def arrays(self) -> dict[int, NDArray[Any]]:
        """What the outputs hold after the replay, by argument."""
        from argus import _arrays

        return {number: _arrays.array(raw, dtype, tuple(shape)) for number, dtype, shape, raw in self._arrays}

    def __repr__(self) -> str:
        return f"<argus.Replay {self.kernel} {self.task_id}: {self.word}>"

    def _repr_html_(self) -> str:
        from argus import _html

        return _html.replay(self)


def wanted(
    task: TaskLike,
    *,
    name: str | int | None,
    kernel: str | None,
    nth: int,
    scene: str | None,
    case: str | None,
    runtime: str | None,
    platform: str | None,
    set: Mapping[int, object] | None,
    timeout: float | None,
) -> tuple[_native.Dump | str, dict[str, Any]]:
    """Where a task is taken from, and which one is meant."""
    what: _native.Dump | str
    if isinstance(task, (_native.Task, FirstWrong, _native.Record)):
        if name is not None:
            raise UsageError("task= names a task of a dump; this is one already")
        what = task._dump if isinstance(task, FirstWrong) else task.dump
        name = task.task_id if isinstance(task, (FirstWrong, _native.Record)) else task.id
    elif isinstance(task, _native.Dump):
        what = task
    else:
        what = os.fspath(task)
    return what, {
        "task": None if name is None else str(name),
        "kernel": kernel,
        "nth": nth,
        "scene": scene,
        "case": case,
        "runtime": runtime,
        "platform": platform,
        "set": [f"{slot}={value}" for slot, value in (set or {}).items()],
        "timeout": timeout,
    }


def replay(
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
    times: int = 1,
    timeout: float | None = None,
    capsule: str | os.PathLike[str] | None = None,
) -> Replay:
    """Runs one task alone with its captured bytes, and compares its outputs bit by bit.

    ``task`` is a :class:`Task`, one of its records, or what a search found; or a dump, a capsule or a scene, from which
    ``name`` or ``kernel`` selects the task as on the command line. ``set`` overrides values of arguments, ``times`` repeats
    the run to find results that change, ``capsule`` saves the task to one file.

    >>> import argus
    >>> replay = argus.replay(argus.open("my_run").task("mul:0"))
    >>> replay.word, replay.outputs[0].compared
    ('reproduced', 16384)
    >>> float(replay.arrays[2].min())
    42.0
    """
    if times < 1:
        raise UsageError(f"times is {times}; at least 1 is needed")
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
    told, outputs = _native.replay_task(what, named, times, None if capsule is None else os.fspath(capsule))
    return Replay(json.loads(told), outputs)
