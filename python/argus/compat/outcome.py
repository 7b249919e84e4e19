"""How a run ended, in the reference's words: exception, log lines, spans."""

from __future__ import annotations

import os
import sys
import threading
from typing import Any

from argus.compat import engine

#: What the runtime reads where a configuration says nothing.
RING_VARIABLES = {
    "ring_task_window": ("PTO2_RING_TASK_WINDOW", 4),
    "ring_heap": ("PTO2_RING_HEAP", 1024),
    "ring_dep_pool": ("PTO2_RING_DEP_POOL", 4),
}

_HINTS = {
    1: "submit fewer tasks in one scope, or give its ring a larger task window",
    2: "give the ring a larger heap, or end scopes earlier so that memory comes back",
    3: "give the ring a larger task window, or end scopes earlier",
    4: "give the ring a larger pool of dependencies, or end scopes earlier",
    5: "look at the arguments of the call that is named above",
    6: "give the ring a larger pool of dependencies than one task needs",
    7: "use fewer blocks that must start together than the chip has cores",
    8: "a producer of the tensor did not complete in time",
    9: "the orchestration asked for this with rt_report_fatal",
    10: "submit fewer tasks in one scope",
    11: "use fewer views that are written at the same time",
    100: "a kernel does not end, or tasks wait for each other",
}
#: One task with more edges than the pool: August has one code for it and for a pool that is used up.
DEPENDENCY_OVERFLOW, DEP_POOL_OVERFLOW = 6, 4
#: Failures that the reference has no code for: a kernel that faults, a configuration that no run can have.
NO_CODE = 1000


def ring_variable(name: str) -> list[int] | None:
    """Sizes from the environment: one or four numbers. Anything else is ignored with a warning, as the reference does."""
    variable, least = RING_VARIABLES[name]
    text = os.environ.get(variable, "").strip()
    if not text:
        return None
    parts = [part.strip() for part in text.split(",")]
    numbers = [int(part) for part in parts if part.isdigit()]
    power = name != "ring_task_window" or all(number & (number - 1) == 0 for number in numbers)
    if len(numbers) != len(parts) or len(parts) not in (1, 4) or min(numbers) < least or not power:
        say("warn", f"{variable}={text} is not one or four numbers and is ignored")
        return None
    return numbers * 4 if len(numbers) == 1 else numbers


def say(level: str, text: str) -> None:
    """A line of the log."""
    if engine.LEVELS[level] >= engine.log_threshold():
        sys.stderr.write(f"[{level.upper()}] {text}\n")
        sys.stderr.flush()


def check(answer: Any, generation: str) -> None:
    """Raises if the run failed, or if what it captured is not complete."""
    __tracebackhide__ = True
    error = answer["error"]
    if error is None:
        lost = [text for is_loss, text in answer["problems"] if is_loss]
        if lost:
            raise RuntimeError("the run passed, but its capture did not: " + "; ".join(lost))
        return
    code, code_name = answer["code"] or NO_CODE, answer["code_name"]
    if code == DEPENDENCY_OVERFLOW and generation == "august":
        code, code_name = DEP_POOL_OVERFLOW, "DEP_POOL_OVERFLOW"
    what = "run" if generation == "august" else "run_prepared"
    field = "sched_error_code" if code >= 100 else "orch_error_code"
    if answer["code"] is not None:
        both = {"orch_error_code": 0, "sched_error_code": 0, field: code}
        codes = " ".join(f"{name}={value}" for name, value in both.items())
        say("error", f"runtime failed: {codes} runtime_status=-{code}")
        say("error", f"error detail: {field}={code} {code_name} - {error}")
        say("error", f"error hint: {_HINTS.get(code, 'the line above says what happened')}")
    raise RuntimeError(f"{what} failed with code -{code}: {error}")


def spans(
    times: tuple[int, int, int, int],
    answer: Any,
    number: int,
    slots: dict[int, tuple[int, int]],
    attributes: dict[str, int],
) -> None:
    """Times of a run as August's log has them; children first. ``times`` are its beginning, the end of the upload, the
    end of the device's part and its end."""
    began, bound, ended, done = times
    device = answer["device_ns"] or 0
    wall = "chip.run.runner_run.device_wall"
    say("info", "AicpuExecutor: Initializing")
    rows = [
        (1, "chip.run.bind", began, bound - began),
        *((3, f"{wall}.task_slot_{slot}", start, end - start) for slot, (start, end) in sorted(slots.items())),
        (2, wall, 0, device),
        (1, "chip.run.runner_run", bound, ended - bound),
        (1, "chip.run.validate", ended, done - ended),
        (0, "chip.run", began, done - began),
    ]
    pid, tid = os.getpid(), threading.get_native_id()
    for depth, name, start, duration in rows:
        more = " clk=dev" if wall in name else ""
        if depth == 0:
            more += "".join(f" {key}={value}" for key, value in attributes.items())
        say(
            "timing",
            f"run: [STRACE] v=1 pid={pid} tid={tid} inv={number} hid=0 depth={depth} name={name} "
            f"ts={start} dur={max(duration, 1)}{more}",
        )
