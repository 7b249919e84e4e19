"""What a failed case is followed by: its dump, if it has none yet, and the first wrong task."""

from __future__ import annotations

import copy
import re
import sys
from pathlib import Path
from typing import Any

from argus.compat import engine, verdict
from argus.compat.artefacts import DUMP
from simpler_setup._outputs import make_prefix

#: The scheduler's own time limit: a run that ended so is not run again.
_TIMEOUT = re.compile(r"failed with code -100\b")


def diagnose(test: Any, error: BaseException, label: str) -> verdict.Verdict | None:
    """Judges a failed case; None where there is nothing to judge. The failure itself is the caller's to raise."""
    last = test._st_last
    if last is None:
        return None
    try:
        prefix = Path(last.config.output_prefix) if last.config.diagnostics else None
        if prefix is None or not _has_everything(prefix):
            if _TIMEOUT.search(str(error)):
                return None
            prefix, error = _run_again(test, last, prefix, label, error)
        return verdict.of_failure(error, prefix, prefix / DUMP, last, test)
    except Exception as problem:  # noqa: BLE001: the test's own failure is what must be told
        sys.stderr.write(f"[WARN] the failure could not be looked into: {problem}\n")
        return None


def _has_everything(prefix: Path) -> bool:
    """Whether the run's own dump has every argument of every task."""
    manifest = prefix / DUMP / "tensor_dump.json"
    if not manifest.is_file():
        return False
    with manifest.open() as file:
        # The level is said before the first record.
        return '"level": "full"' in file.read(4096)


def _run_again(test: Any, last: Any, prefix: Path | None, label: str, error: BaseException) -> Any:
    """The same case once more, with everything captured."""
    place = prefix / "again" if prefix else make_prefix(label)
    place.mkdir(exist_ok=True)
    config = copy.deepcopy(last.config)
    for name in ("enable_l2_swimlane", "enable_pmu", "enable_dep_gen", "enable_scope_stats"):
        setattr(config, name, 0)
    config.enable_dump_tensor = 2 if test._st_generation == "august" else 1
    config.output_prefix = str(place)
    try:
        with engine.quiet():
            last.run_once(config)
    except RuntimeError as failed:
        return place, failed
    return place, error
