"""Where the reference's dump has other records than ours: its inputs of a task of several blocks are there once for each
block, and numbers among the raw slots of a graph built by hand are not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Callable

_BEFORE = "before_dispatch"


def adapt(directory: Path, blocks: dict[str, int], is_raw: bool) -> None:
    """Changes the manifest of a converted dump. ``blocks`` has the tasks of several blocks."""
    if not blocks and not is_raw:
        return
    for path in directory.glob("*_dump/*_dump.json"):
        manifest = json.loads(path.read_text())
        key = "tensors" if "tensors" in manifest else "args"
        made = _records(manifest[key], blocks, is_raw)
        counts = _counts(manifest, manifest[key], made)
        manifest = {**manifest, **counts, key: made}
        path.write_text(json.dumps(manifest, indent=2) + "\n")


def _records(records: list[dict[str, Any]], blocks: dict[str, int], is_raw: bool) -> list[dict[str, Any]]:
    """Block after block, each with all inputs of its task: in the order in which they are dispatched."""
    made: list[dict[str, Any]] = []
    waiting: list[dict[str, Any]] = []

    def flush() -> None:
        if waiting:
            made.extend(waiting * blocks.get(waiting[0]["task_id"], 1))
            waiting.clear()

    for record in records:
        if is_raw and record["kind"] == "scalar":
            continue
        if waiting and (record["task_id"] != waiting[0]["task_id"] or record["stage"] != _BEFORE):
            flush()
        (waiting if record["stage"] == _BEFORE else made).append(record)
    flush()
    return made


def _counts(manifest: dict[str, Any], before: list[dict[str, Any]], after: list[dict[str, Any]]) -> dict[str, int]:
    """The numbers of the head, counted as they were: over all records, or over tensors alone."""
    conditions: dict[str, Callable[[dict[str, Any]], bool]] = {
        "total": lambda record: True,
        _BEFORE: lambda record: bool(record["stage"] == _BEFORE),
        "after_completion": lambda record: bool(record["stage"] == "after_completion"),
        **{role: lambda record, role=role: bool(record["role"] == role) for role in ("input", "output", "inout")},
    }
    made = {}
    for name, value in manifest.items():
        condition = conditions.get(name) or conditions.get(name.removesuffix("_args").removesuffix("_tensors"))
        if name in ("total_args", "total_tensors"):
            condition = conditions["total"]
        if condition is None or not isinstance(value, int):
            continue
        tensors_only = value != sum(map(condition, before))
        made[name] = sum(condition(record) for record in after if not tensors_only or record["kind"] == "tensor")
    return made
