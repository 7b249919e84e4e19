"""Swimlane records: when what ran on which core, in June's form (objects) and in August's (rows of cycles).

Times are those of the simulation on this machine: they show order and overlap, not how fast a chip is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Ticks in a second of the clock that each architecture's files count in.
CLOCK_HZ = {"a2a3": 50_000_000, "a5": 1_000_000_000}


@dataclass(frozen=True)
class Part:
    """One kernel call."""

    core: int
    task: int
    func: int
    kind: str
    thread: int
    posted: int
    started: int
    ended: int
    finished: int


@dataclass
class Lanes:
    """All kernel calls of a run, and the machine they ran on."""

    parts: list[Part]
    core_types: list[str]
    core_threads: list[int]
    threads: int


def lanes(timeline: dict[str, Any], graph: dict[str, Any], clusters: int) -> Lanes:
    """Cores are numbered as the reference does: matrix cores first, then the two vector cores of each cluster."""
    finished = {task["task_id"]: task["finished_ns"] for task in graph["tasks"]}
    threads = max(len(timeline["control_threads"]), 1)
    parts = []
    for core in timeline["cores"]:
        cluster, place = core["cluster"], core["place"]
        number = cluster if place == 0 else clusters + 2 * cluster + place - 1
        for task, func, _block, posted, started, ended in core["parts"]:
            # A task of several calls is finished when the last of them is.
            end = max(finished.get(task) or ended, ended)
            kind = "aic" if place == 0 else "aiv"
            parts.append(Part(number, int(task, 16), func, kind, cluster % threads, min(posted, started), started, ended, end))
    parts.sort(key=lambda part: (part.core, part.started))
    core_threads = [cluster % threads for cluster in range(clusters)]
    core_threads += [cluster % threads for cluster in range(clusters) for _ in range(2)]
    return Lanes(parts, ["aic"] * clusters + ["aiv"] * (2 * clusters), core_threads, threads)


def _phases(found: Lanes, level: int) -> list[list[tuple[str, int]]]:
    """When each control thread gave a call to a core and when it saw it end. How long that took is not measured."""
    streams: list[list[tuple[str, int]]] = [[] for _ in range(found.threads)]
    for part in found.parts if level >= 3 else ():
        streams[part.thread] += [("dispatch", part.posted), ("complete", part.finished)]
    for stream in streams:
        stream.sort(key=lambda phase: phase[1])
    return streams


def june(found: Lanes, level: int) -> dict[str, Any]:
    """Objects in microseconds."""
    origin = min((part.posted for part in found.parts), default=0)

    def us(ns: int) -> float:
        return round((ns - origin) / 1000, 3)

    tasks = [
        {
            "task_id": part.task, "func_id": part.func, "core_id": part.core, "core_type": part.kind,
            "ring_id": part.task >> 32 & 0xFF, "start_time_us": us(part.started), "end_time_us": us(part.ended),
            "duration_us": round((part.ended - part.started) / 1000, 3),
            "dispatch_time_us": us(part.posted) if level >= 2 else 0.0,
            "finish_time_us": us(part.finished) if level >= 2 else 0.0,
        }
        for part in sorted(found.parts, key=lambda part: (part.task, part.core))
    ]
    told: dict[str, Any] = {"l2_swimlane_level": level, "tasks": tasks}
    if level >= 3:
        told["aicpu_scheduler_phases"] = [
            [
                {"start_time_us": us(at), "end_time_us": us(at), "phase": kind, "loop_iter": number, "tasks_processed": 1}
                | ({"pop_hit": 1, "pop_miss": 0} if kind == "dispatch" else {})
                for number, (kind, at) in enumerate(stream)
            ]
            for stream in _phases(found, level)
        ]
        told["core_to_thread"] = found.core_threads
    return told


def august(found: Lanes, level: int, arch: str) -> dict[str, Any]:
    """Rows of cycles."""
    clock = CLOCK_HZ.get(arch, 1_000_000_000)

    def cycles(ns: int) -> int:
        return ns * clock // 1_000_000_000 + 1  # A start of 0 would mean that the call never began.

    metadata: dict[str, Any] = {
        "clock_freq_hz": clock, "num_cores": len(found.core_types), "core_types": found.core_types,
    }
    if level >= 3:
        metadata["core_to_thread"] = found.core_threads
    tokens: dict[int, int] = {}
    calls, scheduled = [], []
    for part in found.parts:
        token = tokens[part.core] = tokens.get(part.core, 0) + 1
        calls.append([part.core, part.task, token, cycles(part.started), cycles(part.ended), 0])
        scheduled.append([part.core, token, cycles(part.posted), cycles(part.finished)])
    told: dict[str, Any] = {
        "chip_swimlane_level": level, "metadata": metadata, "aicore_tasks": calls,
        "aicpu_tasks": scheduled if level >= 2 else [],
    }
    if level >= 3:
        told["aicpu_scheduler_phases"] = [
            [
                {"kind": kind, "start_cycles": cycles(at), "end_cycles": cycles(at), "loop_iter": number, "tasks_processed": 1}
                | ({"pop_hit": 1, "pop_miss": 0} if kind == "dispatch" else {})
                | {"shared_at_start": [0, 0, 0], "shared_at_end": [0, 0, 0]}
                for number, (kind, at) in enumerate(stream)
            ]
            for stream in _phases(found, level)
        ]
    return told
