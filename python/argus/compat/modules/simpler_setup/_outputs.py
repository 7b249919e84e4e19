"""Where the files of a run go: a directory for each, never shared."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

#: Names the directory for all of them.
VARIABLE = "ARGUS_OUTPUTS"


def _outputs_dir() -> Path:
    """The directory that holds one directory for each run: ``outputs`` where the command was started."""
    return Path(os.environ.get(VARIABLE) or Path.cwd() / "outputs")


def _sanitize_for_filename(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]", "_", text)


def make_prefix(label: str) -> Path:
    """A new directory for the files of one run. Of two processes that ask in the same second each gets its own."""
    base = f"{_sanitize_for_filename(label)}_{time.strftime('%Y%m%d_%H%M%S')}"
    outputs = _outputs_dir()
    try:
        outputs.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = f"the variable {VARIABLE} names another place"
        raise OSError(f"the directory for files of runs, {outputs}, cannot be made ({error.strerror}); {hint}") from None
    number = 1
    while True:
        path = outputs / (base if number == 1 else f"{base}_{number}")
        try:
            path.mkdir()
            return path
        except FileExistsError:
            number += 1
