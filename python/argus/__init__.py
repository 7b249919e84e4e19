"""Argus: task graphs on simulated NPUs, their dumps as arrays, and the first wrong task by name.

>>> import argus
>>> run = argus.run("vector_example", dump="another_run")
>>> run.passed
True
>>> verdict = argus.find(run.dump)
>>> verdict.word
'agree'
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 10):
    found = ".".join(str(part) for part in sys.version_info[:3])
    raise ImportError(f"argus needs Python 3.10 or newer; this is {found} ({sys.executable})")

try:
    from argus import _native as _native
except ImportError as error:
    raise ImportError(
        f"argus has no native module for this Python ({sys.executable}): {error}. "
        "Install a wheel, or build one in a checkout: cargo xtask wheel"
    ) from error

from argus._find import Compared, FirstWrong, Race, TaskVerdict, Verdict, find
from argus._goldens import GoldenTask, TaskArgument
from argus._native import Dump, Payload, Record, Records, Statistics, Task, open
from argus._replay import Replay, ReplayedOutput, replay
from argus._run import Case, OutputVerdict, Round, Run, Scene, run, scenes
from argus._trace import Slice, Timeline, trace
from argus.errors import DumpError, Error, GoldenError, PayloadError, RunError, UsageError

__all__ = [
    "Case",
    "Compared",
    "Dump",
    "DumpError",
    "Error",
    "FirstWrong",
    "GoldenError",
    "GoldenTask",
    "OutputVerdict",
    "Payload",
    "PayloadError",
    "Race",
    "Record",
    "Records",
    "Replay",
    "ReplayedOutput",
    "Round",
    "Run",
    "RunError",
    "Scene",
    "Slice",
    "Statistics",
    "Task",
    "TaskArgument",
    "TaskVerdict",
    "Timeline",
    "UsageError",
    "Verdict",
    "find",
    "include_directory",
    "open",
    "replay",
    "run",
    "scenes",
    "trace",
]


def include_directory() -> str:
    """The directory of the C++ headers that kernels are compiled with, for editors and build files.

    >>> import argus, os
    >>> "pto" in os.listdir(argus.include_directory())
    True
    """
    from pathlib import Path

    here = Path(__file__).resolve().parent
    # A wheel has a copy; a checkout has the originals next to the package.
    for place in (here / "include", here.parent.parent / "include"):
        if place.is_dir():
            return str(place)
    raise Error("this installation has no C++ headers", hint="install a wheel made by: cargo xtask wheel")
