"""A checkout of the reference, where the tests may lie in one: only its tests and their data are used."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Iterable

#: Where the tests are, for processes that they start.
VARIABLE = "ARGUS_TESTS"


def remember(place: Path) -> None:
    """Says where the tests are. Those that import each other by their place in the checkout find it."""
    os.environ[VARIABLE] = str(place)
    root = find([place])
    if root is not None and str(root) not in sys.path:
        sys.path.append(str(root))


def find(places: Iterable[Path]) -> Path | None:
    """The checkout around one of the places."""
    for place in places:
        for directory in (place, *place.parents):
            if (directory / "simpler_setup").is_dir() and (directory / "tests").is_dir():
                return directory
    return None


def goldens() -> list[str]:
    """Directories with goldens of a checkout."""
    told = os.environ.get(VARIABLE)
    root = find([Path(told)] if told else [Path.cwd()])
    directory = root / "simpler_setup" / "goldens" if root else None
    return [str(directory)] if directory is not None and directory.is_dir() else []
