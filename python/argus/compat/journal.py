"""What an orchestration asked for, as the native module wrote it down while it ran."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Beside our own dump.
FILE = "orchestration.jsonl"


@dataclass
class Journal:
    """The calls of one orchestration in their order."""

    submits: list[dict[str, Any]] = field(default_factory=list)
    scopes: list[dict[str, Any]] = field(default_factory=list)
    #: The outermost scope was left: nothing is missing.
    is_complete: bool = False


def read(path: Path) -> Journal:
    journal = Journal()
    lines = path.read_text().splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        try:
            call = json.loads(line)
        except ValueError:
            if number < len(lines):
                raise ValueError(f"{path}, line {number}: not a call of an orchestration") from None
            # The process died while it wrote the last one.
            break
        (journal.submits if call["call"] == "submit" else journal.scopes).append(call)
    last = journal.scopes[-1] if journal.scopes else None
    journal.is_complete = last is not None and not last["begins"] and last["depth"] == 0
    return journal
