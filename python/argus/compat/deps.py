"""deps.json: which task waits for which, through which argument.

The graph of a run has its edges. This file also says which slot of the consumer and which regions an edge is about,
so the submissions are gone through again with the reference's rules: first what the orchestration names, then for each
slot the task that made the tensor, then every earlier writer that overlaps it. What comes out must have the edges that
the run had.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_FNV_OFFSET, _FNV_PRIME, _WORD = 0xCBF29CE484222325, 0x100000001B3, (1 << 64) - 1


def tensor_id(address: int, version: int) -> int:
    """FNV-1a over the bytes of the address and the version."""
    made = _FNV_OFFSET
    for byte in address.to_bytes(8, "little") + (version & 0xFFFFFFFF).to_bytes(4, "little"):
        made = (made ^ byte) * _FNV_PRIME & _WORD
    return made


@dataclass
class _Writer:
    task: int
    view: dict[str, Any]


def _extent(view: dict[str, Any]) -> int:
    if 0 in view["shape"]:
        return 0
    return 1 + sum((extent - 1) * stride for extent, stride in zip(view["shape"], view["strides"]))


def _origin(view: dict[str, Any]) -> list[int] | None:
    """The first element as one index for each dimension, if the strides are those of a grid."""
    strides, rest, origin = view["strides"], view["start"], []
    if strides[-1] != 1 or any(outer % inner for outer, inner in zip(strides, strides[1:])):
        return None
    for stride in strides:
        origin.append(rest // stride)
        rest %= stride
    return origin if rest == 0 else None


def overlap(probe: dict[str, Any], entry: dict[str, Any]) -> str | None:
    """How a view meets one that was written: ``covered`` if it contains it, ``other``, or None if they are apart.

    Positions are compared in bytes, so views of two element types are not taken for disjoint."""
    mine, theirs = ([view["start"] * view["element"], (view["start"] + _extent(view)) * view["element"]] for view in (probe, entry))
    if mine[0] >= theirs[1] or theirs[0] >= mine[1]:
        return None
    same = all(probe[key] == entry[key] for key in ("dtype", "strides"))
    first, second = _origin(probe), _origin(entry)
    whole = probe["bytes"] // max(probe["element"], 1) % max(probe["strides"][0], 1) == 0
    if not same or first is None or second is None or not whole:
        return "other"
    covers = True
    for at, extent, there, length in zip(first, probe["shape"], second, entry["shape"]):
        if at >= there + length or there >= at + extent:
            return None
        covers &= at <= there and there + length <= at + extent
    return "covered" if covers else "other"


def _region(view: dict[str, Any], prefix: str, with_dtype: bool) -> dict[str, Any]:
    told: dict[str, Any] = {f"{prefix}dtype": view["dtype"]} if with_dtype else {}
    told[f"{prefix}shape"] = view["shape"]
    told[f"{prefix}start_offset"] = str(view["start"])
    told[f"{prefix}strides"] = view["strides"]
    return told


class Replay:
    """Goes through submissions and lists tasks, tensors and edges as the reference does."""

    def __init__(self, generation: str, is_host_built: bool) -> None:
        self.august = generation == "august"
        self.is_host_built = is_host_built
        self.tasks: list[dict[str, Any]] = []
        self.edges: list[dict[str, Any]] = []
        self.tensors: dict[int, dict[str, Any]] = {}
        self._writers: dict[int, list[_Writer]] = {}

    def add(self, submit: dict[str, Any]) -> None:
        task = submit["task"]
        if self.is_host_built and task >> 32:
            # Inside a graph, which is listed as one task.
            return
        for output in submit["outputs"]:
            # New memory may lie where other tensors were.
            if output["bytes"]:
                self._writers.pop(output["address"], None)
        if submit["what"] == "allocation":
            return
        self._add_task(submit)
        self._add_edges(submit)

    def _add_task(self, submit: dict[str, Any]) -> None:
        told: dict[str, Any] = {"task_id": str(submit["task"]), "scope": "manual" if submit["manual"] else "auto"}
        if self.august:
            told["early_dispatch"] = submit["early"]
            told["kernel_ids"] = submit["kernels"]
            told["block_num"] = submit["blocks"]
        told["args"] = []
        for index, argument in enumerate(submit["args"]):
            row = {"idx": index, "type": argument["type"]}
            view = argument["tensor"]
            if view is not None:
                row["tensor_id"] = str(self._tensor(view))
                row |= {"dtype": view["dtype"], **_region(view, "", False)}
            told["args"].append(row)
        self.tasks.append(told)

    def _tensor(self, view: dict[str, Any]) -> int:
        known = tensor_id(view["address"], view["version"])
        self.tensors.setdefault(known, {
            "tensor_id": str(known), "buffer_addr": str(view["address"]), "version": view["version"],
            "dtype": view["dtype"], "buffer_numel": str(view["bytes"] // max(view["element"], 1)),
        })
        return known

    def _add_edges(self, submit: dict[str, Any]) -> None:
        task, producers = submit["task"], set()

        def edge(pred: int, arg: int, source: str, flags: list[str]) -> dict[str, Any]:
            told: dict[str, Any] = {"pred": str(pred), "succ": str(task), "arg": arg, "source": source}
            if self.august and not self.is_host_built:
                told["flags"] = flags
            self.edges.append(told)
            producers.add(pred)
            return told

        for pred in submit["dependencies"]:
            if pred not in producers:
                edge(pred, -1, "explicit", ["wait", "retain"])
        existing = [(at, arg["type"], arg["tensor"]) for at, arg in enumerate(submit["args"]) if arg["tensor"]]
        for at, kind, view in existing if not submit["manual"] else ():
            facts = {"tensor_id": str(tensor_id(view["address"], view["version"])), **_region(view, "consumer_", True)}
            if view["owner"] is not None and view["owner"] not in producers:
                edge(view["owner"], at, "creator", ["wait", "retain"]).update(facts)
            if kind not in ("INPUT", "INOUT") or view["manual"]:
                continue
            kept = []
            # Newest first, as the map lists them.
            for writer in self._writers.get(view["address"], []):
                met = overlap(view, writer.view)
                if met is not None:
                    told = edge(writer.task, at, "tensormap", ["wait"])
                    told |= {"overlap": met, **facts, **_region(writer.view, "producer_", False)}
                if not (met == "covered" and kind == "INOUT"):
                    kept.append(writer)
            self._writers[view["address"]] = kept
        for _, kind, view in existing if not submit["manual"] else ():
            if kind in ("INOUT", "OUTPUT_EXISTING") and not view["manual"]:
                self._writers.setdefault(view["address"], []).insert(0, _Writer(task, view))

    def told(self) -> dict[str, Any]:
        return {"tasks": self.tasks, "tensors": list(self.tensors.values()), "edges": self.edges}


def of_run(submits: list[dict[str, Any]], generation: str, is_host_built: bool) -> dict[str, Any]:
    """The file's content from the submissions of a run."""
    replay = Replay(generation, is_host_built)
    for submit in submits:
        replay.add(submit)
    return replay.told()


def of_graph(graph: dict[str, Any]) -> dict[str, Any]:
    """The file's content where the orchestration named every edge itself."""
    tasks = [{"task_id": str(int(task["task_id"], 16)), "scope": "manual", "args": []} for task in graph["tasks"]]
    edges = [
        {"pred": str(int(edge["from"], 16)), "succ": str(int(edge["to"], 16)), "arg": -1, "source": "explicit"}
        for edge in graph["edges"]
    ]
    return {"tasks": tasks, "tensors": [], "edges": edges}


def disagreement(told: dict[str, Any], graph: dict[str, Any], is_host_built: bool) -> str | None:
    """What the two ways of finding edges do not agree on; None if they do."""

    def is_listed(number: int) -> bool:
        return not (is_host_built and number >> 32)

    ours = {(int(edge["pred"]), int(edge["succ"])) for edge in told["edges"]}
    pairs = {(int(edge["from"], 16), int(edge["to"], 16)) for edge in graph["edges"]}
    runs = {pair for pair in pairs if is_listed(pair[0]) and is_listed(pair[1])}
    if ours == runs:
        return None
    pred, succ = sorted(ours ^ runs)[0]
    where = "the run has it, the submissions do not give it" if (pred, succ) in runs else "the run does not have it"
    return f"{len(ours ^ runs)} edges differ, first 0x{pred:016x} -> 0x{succ:016x}: {where}"
