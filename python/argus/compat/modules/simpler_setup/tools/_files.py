"""Files of a run, found as the programs here are told to."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Sequence

from simpler_setup._outputs import _outputs_dir


def found(given: str | None, names: Sequence[str], what: str) -> Path:
    """The file that an argument means: itself, one in the directory it names, or that of the newest run."""
    places = [Path(given)] if given else sorted(_outputs_dir().glob("*"), key=lambda path: path.stat().st_mtime)[::-1]
    for place in places:
        if place.is_file():
            return place
        for name in names:
            inside = sorted(place.glob(name)) + sorted(place.glob(f"*/{name}"))
            if inside:
                return inside[0]
    where = given or str(_outputs_dir())
    sys.stderr.write(f"error: {where} has no {what} ({', '.join(names)})\n")
    raise SystemExit(1)


def load(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as error:
        sys.stderr.write(f"error: {path} cannot be read: {error}\n")
        raise SystemExit(1) from None


def names(directory: Path, given: str | None = None) -> dict[int, str]:
    """Kernels by number, from a file or from the newest map in a directory."""
    paths = [Path(given)] if given else sorted(directory.glob("name_map*.json"), key=lambda path: path.stat().st_mtime)
    if not paths:
        return {}
    told = load(paths[-1]).get("callable_id_to_name", {})
    return {int(number): str(name) for number, name in told.items()}


def task_name(number: int) -> str:
    """``t5`` on the first ring, ``r2t5`` elsewhere."""
    ring, local = number >> 32 & 0xFF, number & 0xFFFFFFFF
    return f"r{ring}t{local}" if ring else f"t{local}"
