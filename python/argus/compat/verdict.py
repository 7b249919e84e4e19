"""Why a scene test failed: the first wrong task, from the dump of its run and its golden.

A golden says what the outputs of the whole program should be. Each element of an output was last written by some task,
so for that task the golden is an expected value, and ``find`` judges the dump by these values. Tasks upstream have none:
where one of them may be the cause, it is named as a suspect. A test that also says what each kernel should make of its
inputs, ``golden(task)`` or ``golden_NAME(task)``, is judged by that, and the task that introduced the error is named.
"""

from __future__ import annotations

import html
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from argus import _native, find
from argus.errors import UsageError

#: Expected values by task and argument, for `argus find --golden`.
GOLDEN = "golden"
PAGE = "verdict.html"
REPORT = "verdict.json"
#: As many first wrong tasks are told about.
MOST = 3


@dataclass
class Verdict:
    """What is known about a failure, line by line."""

    lines: list[str] = field(default_factory=list)
    dump: Path | None = None
    page: Path | None = None
    #: The search as a part of a page.
    shown: str = ""
    #: The ids of the tasks where errors begin.
    first_wrong: list[str] = field(default_factory=list)

    def text(self) -> str:
        return "\n".join(self.lines)


def of_failure(error: BaseException, prefix: Path, dump: Path, last: Any, test: Any) -> Verdict:
    """Judges the dump of a failed case. ``last`` has its arguments, its golden and the names of its outputs."""
    verdict = Verdict(dump=dump if (dump / "run.json").is_file() else None)
    if verdict.dump is None:
        verdict.lines.append(f"no dump: {error}")
        return verdict
    run = json.loads((dump / "run.json").read_text())
    if run.get("error"):
        _tell_ended(verdict, run, dump)
    elif isinstance(error, RuntimeError) and "failed with code" in str(error):
        verdict.lines.append("run once more with everything captured, the case came to its end: it does not fail every time")
    elif last is not None and last.golden is not None:
        _tell_wrong(verdict, error, prefix, dump, last, test)
    verdict.lines.append(f"dump: {dump}")
    if verdict.first_wrong:
        verdict.page = prefix / PAGE
        verdict.page.write_text(page(prefix.name, verdict))
        verdict.lines.append(f"page: {verdict.page}")
        golden = prefix / GOLDEN
        if golden.is_dir():
            verdict.lines.append(f"again: argus find {dump} --golden {golden}")
        verdict.lines.append(f"next: argus trace {dump} --task {verdict.first_wrong[0]}")
    return verdict


def _tell_ended(verdict: Verdict, run: dict[str, Any], dump: Path) -> None:
    """A run that did not come to its end: the tasks that it stopped in."""
    graph = _read(dump / "graph.json")
    stopped = [task for task in graph.get("tasks", []) if task["state"] in ("running", "dispatched", "failed")]
    named = [task for task in graph.get("tasks", []) if task["task_id"] in run["error"]]
    verdict.lines.append(f"the run failed: {run['error']}")
    for task in (named or stopped)[:MOST]:
        verdict.first_wrong.append(task["task_id"])
        verdict.lines.append(f"first wrong task: {task['task_id']} {task['kernel']} ({task['state']})")
        _tell_inputs(verdict, dump, task["task_id"])


def _by_kernel(dump: Path, test: Any) -> Any:
    """The search by what the test says of each kernel; None if it says nothing."""
    if not any(name == "golden" or name.startswith("golden_") for name in dir(type(test))):
        return None
    return find(dump, golden=test)


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.is_file() else {}


def _tell_inputs(verdict: Verdict, dump: Path, task_id: str) -> None:
    """Where the inputs of a task came from, and those that are not numbers."""
    graph = _read(dump / "graph.json")
    kernels = {task["task_id"]: task["kernel"] for task in graph.get("tasks", [])}
    producers = list(dict.fromkeys(edge["from"] for edge in graph.get("edges", []) if edge["to"] == task_id))
    if producers:
        shown = ", ".join(f"{id} {kernels.get(id, '')}".strip() for id in producers[:8])
        more = f" and {len(producers) - 8} more" if len(producers) > 8 else ""
        verdict.lines.append(f"  waits for: {shown}{more}")
    try:
        guilty = [str(record.index) for record in _native.open(dump).filter(task=task_id, stage="before", nan=True)]
    except UsageError:
        # No record is what the filter asks for.
        guilty = []
    if guilty:
        verdict.lines.append(f"  guilty inputs: not a number in record {', '.join(guilty[:8])}")


def _tell_wrong(verdict: Verdict, error: BaseException, prefix: Path, dump: Path, last: Any, test: Any) -> None:
    golden, rtol, atol = prefix / GOLDEN, float(test.RTOL), float(test.ATOL)
    unwritten = write_goldens(golden, dump, last)
    verdict.lines += [f"no task wrote {count} wrong elements of '{name}'" for name, count in unwritten.items()]
    if not golden.is_dir():
        verdict.lines.append("no task wrote an output, so none can be called wrong")
        return
    found = _by_kernel(dump, test)
    if found is None or not found.first_wrong:
        found = find(dump, golden=golden, rtol=rtol, atol=atol)
    verdict.shown = found._repr_html_()
    (prefix / REPORT).write_text(found.json())
    report = json.loads(found.json())
    tasks = report["tasks"]
    if report["failure"]:
        verdict.lines.append(f"the run failed: {report['failure']}")
    elif not report["first_wrong"]:
        own = ", so it is the test's own comparison that fails" if isinstance(error, AssertionError) else ""
        verdict.lines.append(
            f"find: {report['verdict']}; by the test's tolerances every output agrees with the golden{own}"
        )
    for first in report["first_wrong"][:MOST]:
        verdict.first_wrong.append(first["task_id"])
        verdict.lines.append(f"first wrong task: {first['task_id']} {first['kernel']} ({first['verdict'].replace('_', ' ')})")
        for output in first["outputs"]:
            at = next((row for row in tasks[first["position"]]["outputs"] if row["record"] == output["record"]), {})
            shape = " x ".join(str(extent) for extent in output["shape"])
            said = f"  argument {output['arg_index']} [{shape}] {output['dtype']}: {at.get('beyond', 0)} elements wrong"
            if at.get("max_abs") is not None:
                said += f", by up to {at['max_abs']:g}"
            verdict.lines.append(said)
            looks = [finding_text(finding) for finding in output["looks_like"][:2]]
            verdict.lines += [f"  looks like: {text}" for text in looks if text]
        suspects = [f"{tasks[at]['task_id']} {tasks[at]['kernel']}" for at in first.get("suspects", [])]
        if suspects:
            verdict.lines.append(f"  or upstream of it: {', '.join(suspects[:8])}")
        _tell_inputs(verdict, dump, first["task_id"])
    rest = len(report["first_wrong"]) - MOST
    if rest > 0:
        verdict.lines.append(f"and {rest} more tasks where errors begin")


def finding_text(finding: dict[str, Any]) -> str:
    """A pattern in words, with what was counted."""
    pattern = finding["pattern"]
    name = pattern["kind"] if isinstance(pattern, dict) else pattern
    return f"{name.replace('_', ' ')}: {finding['evidence']}"


def write_goldens(folder: Path, dump: Path, last: Any) -> dict[str, int]:
    """One array for each argument of a task that holds elements of an output to the end. Returns how many wrong elements
    of an output no task wrote."""
    import numpy as np

    manifest = _read(dump / "tensor_dump.json")
    addresses = {arg["name"]: int(arg["address"], 16) for arg in manifest["orchestration_args"] if arg["kind"] == "tensor"}
    written = [record for record in manifest["tensors"] if record["stage"] == "after_completion" and record["kind"] == "tensor"]
    finished = {task["task_id"]: task["finished_ns"] or 0 for task in _read(dump / "graph.json")["tasks"]}
    written.sort(key=lambda record: finished.get(record["task_id"], 0))
    opened = _native.open(dump)
    index = {id(record): at for at, record in enumerate(manifest["tensors"])}
    unwritten: dict[str, int] = {}
    for name in last.outputs:
        expected, actual = _raw(getattr(last.golden, name)), _raw(getattr(last.args, name))
        width, base, count = expected.itemsize, addresses[name], expected.size
        owner = np.full(count, -1, dtype=np.int64)
        places: list[tuple[dict[str, Any], Any]] = []
        for record in written:
            if record["dtype"] is None or not base <= int(record["address"], 16) < base + count * width:
                continue
            at = _elements(record, base, width)
            if at is None or at.size == 0 or at.min() < 0 or at.max() >= count:
                continue
            owner[at.ravel()] = len(places)
            places.append((record, at))
        for number, (record, at) in enumerate(places):
            mine = owner[at] == number
            if not mine.any():
                continue
            values = _payload(opened[index[id(record)]], expected.dtype, at.shape)
            if values is None:
                continue
            folder.mkdir(exist_ok=True)
            made = np.where(mine, expected[at], values)
            np.save(folder / f"{record['task_id']}_{record['arg_index']}.npy", np.ascontiguousarray(made))
        lost = int(((owner < 0) & (expected != actual)).sum())
        if lost:
            unwritten[name] = lost
    return unwritten


def _elements(record: dict[str, Any], base: int, width: int) -> Any:
    """The elements of an output that a record holds, as positions in it; None if it is of another element size."""
    import numpy as np

    first, left = divmod(int(record["address"], 16) - base, width)
    if left:
        return None
    at = np.array(first, dtype=np.int64)
    for extent, stride in zip(record["shape"], record["strides"]):
        at = at[..., None] + np.arange(extent, dtype=np.int64) * stride
    return at


def _payload(record: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    import numpy as np

    try:
        raw = np.asarray(record.payload()).view(np.uint8).reshape(-1)
    except Exception:  # noqa: BLE001: a record without bytes has nothing to compare
        return None
    return raw.view(dtype).reshape(shape) if raw.size == dtype.itemsize * int(np.prod(shape)) else None


def _raw(tensor: Any) -> Any:
    """A tensor's elements in one row; bfloat16 as its bits, which `find` reads as such."""
    import ctypes

    import numpy as np

    tensor = tensor.contiguous()
    name = str(tensor.dtype).removeprefix("torch.")
    dtype = np.dtype({"bfloat16": "uint16"}.get(name, name))
    size = tensor.numel() * dtype.itemsize
    return np.frombuffer(ctypes.string_at(tensor.data_ptr(), size), dtype=dtype)


_STYLE = "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}pre{white-space:pre-wrap}"


def page(title: str, verdict: Verdict) -> str:
    """The verdict as a page that needs nothing else."""
    shown = html.escape(verdict.text())
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>'
        f"<style>{_STYLE}</style><h1>{html.escape(title)}</h1><pre>{shown}</pre>{verdict.shown}</html>\n"
    )
