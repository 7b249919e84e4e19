"""Devices by range, and jobs that share them."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from dataclasses import dataclass, field
from typing import Any, Callable, Iterable, Sequence


def device_range_to_list(text: str | None) -> list[int]:
    """``"0,2-4,7"`` as sorted numbers without repetition."""
    found: set[int] = set()
    for part in (text or "").split(","):
        part = part.strip()
        if not part:
            continue
        first, mark, last = part.partition("-")
        if not first.isdigit() or (mark and not last.isdigit()):
            raise ValueError(f"'{part}' is no device and no range of devices such as 4-7")
        found.update(range(int(first), int(last or first) + 1))
    return sorted(found)


def format_device_range(ids: Iterable[int]) -> str:
    """The shortest text that means these devices."""
    numbers = sorted(set(ids))
    parts: list[str] = []
    start = 0
    while start < len(numbers):
        end = start
        while end + 1 < len(numbers) and numbers[end + 1] == numbers[end] + 1:
            end += 1
        parts.append(str(numbers[start]) if start == end else f"{numbers[start]}-{numbers[end]}")
        start = end + 1
    return ",".join(parts)


def default_max_parallel(platform: str, ids: Sequence[int]) -> int:
    limit = min(os.cpu_count() or 1, len(ids)) if platform.endswith("sim") else len(ids)
    return max(1, limit)


@dataclass
class Job:
    """A command that needs a number of devices."""

    label: str
    device_count: int
    build_cmd: Callable[[list[int]], Sequence[str]]
    cwd: str | None = None
    env: dict[str, str] | None = None
    nodeid: str | None = None


@dataclass
class JobResult:
    """How a job ended."""

    label: str
    returncode: int
    device_ids: list[int]
    output: str
    duration_s: float
    nodeid: str | None = None


@dataclass
class _State:
    """The processes that are running."""

    processes: list[Any] = field(default_factory=list)
    stopped: bool = False


_active_state: _State | None = None


def _terminate_all(state: _State | None) -> None:
    if state is None:
        return
    state.stopped = True
    for process in list(state.processes):
        if process.poll() is None:
            process.terminate()


def run_jobs(
    jobs: Sequence[Job],
    ids: Sequence[int],
    max_parallel: int | None = None,
    fail_fast: bool = False,
    on_job_done: Callable[[JobResult], None] | None = None,
) -> list[JobResult]:
    """Runs jobs, each with devices of its own, and returns their results in the order of the jobs."""
    global _active_state
    state = _active_state = _State()
    free, waiting = list(ids), list(enumerate(jobs))
    results: list[JobResult | None] = [None] * len(jobs)
    limit = max_parallel or max(1, len(free))
    change = threading.Condition()
    running = 0

    def work(index: int, job: Job, devices: list[int]) -> None:
        nonlocal running
        began = time.monotonic()
        try:
            process = subprocess.Popen(
                list(job.build_cmd(devices)), cwd=job.cwd, env=job.env, text=True, errors="replace",
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )
            state.processes.append(process)
            output, code = process.communicate()[0], process.returncode
            state.processes.remove(process)
        except OSError as error:
            output, code = str(error), 127
        result = JobResult(job.label, code, devices, output, time.monotonic() - began, job.nodeid)
        with change:
            results[index] = result
            free.extend(devices)
            free.sort()
            running -= 1
            if code and fail_fast:
                _terminate_all(state)
            if on_job_done is not None:
                on_job_done(result)
            change.notify_all()

    try:
        with change:
            while waiting and not state.stopped:
                place = next((n for n, (_, job) in enumerate(waiting) if job.device_count <= len(free)), None)
                if place is None or running >= limit:
                    if not running:
                        _, job = waiting[0]
                        raise ValueError(f"{job.label} needs {job.device_count} devices, and there are {len(free)}")
                    change.wait()
                    continue
                index, job = waiting.pop(place)
                devices, free[:] = free[: job.device_count], free[job.device_count :]
                running += 1
                threading.Thread(target=work, args=(index, job, devices), daemon=True).start()
            while running:
                change.wait()
    finally:
        _active_state = None
    return [result for result in results if result is not None]
