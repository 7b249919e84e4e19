"""Swimlane records to a trace that chrome://tracing and ui.perfetto.dev open:
``python -m simpler_setup.tools.swimlane_converter RECORDS.json``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from simpler_setup.tools._files import found, load, names, task_name

FILES = ("chip_swimlane_records.json", "l2_swimlane_records.json", "l2_perf_records.json")
MERGED = "merged_swimlane.json"
#: Numbers and names of the two views: what cores did, and what the scheduler saw of it.
AUGUST_VIEWS = ((4, "Worker View"), (3, "Scheduler View"))
JUNE_VIEWS = ((1, "AICore View"), (2, "AICPU View"))


def read_perf_data(path: str | Path) -> dict[str, Any]:
    """The records of either form with ``tasks`` and phases in microseconds, as the older form has them."""
    told = load(Path(path))
    if "tasks" in told:
        return dict(told)
    metadata = told["metadata"]
    clock = metadata["clock_freq_hz"] / 1e6
    calls, scheduled = told["aicore_tasks"], {(row[0], row[1]): row[2:4] for row in told.get("aicpu_tasks", [])}
    phases = told.get("aicpu_scheduler_phases", [])
    starts = [row[3] for row in calls] + [row[0] for row in scheduled.values()]
    starts += [phase["start_cycles"] for stream in phases for phase in stream]
    origin = min(starts, default=0)

    def us(cycles: int) -> float:
        return round((cycles - origin) / clock, 3)

    kernels = _kernels(Path(path).with_name("deps.json"))
    tasks = []
    for row in calls:
        core, task, token, start, end = row[:5]
        kind = metadata["core_types"][core]
        dispatch, finish = scheduled.get((core, token), (None, None))
        ids = kernels.get(task, [-1, -1, -1])
        tasks.append({
            "task_id": task, "func_id": ids[0] if kind == "aic" else max(ids[1], ids[2]), "core_id": core,
            "core_type": kind, "ring_id": task >> 32 & 0xFF, "start_time_us": us(start), "end_time_us": us(end),
            "duration_us": round((end - start) / clock, 3),
            "dispatch_time_us": us(dispatch) if dispatch is not None else 0.0,
            "finish_time_us": us(finish) if finish is not None else 0.0,
        })
    made = {**told, "tasks": tasks}
    if "core_to_thread" in metadata:
        made["core_to_thread"] = metadata["core_to_thread"]
    made["aicpu_scheduler_phases"] = [
        [{**phase, "phase": phase["kind"], "start_time_us": us(phase["start_cycles"]), "end_time_us": us(phase["end_cycles"])}
         for phase in stream]
        for stream in phases
    ]
    return made


def _kernels(deps: Path) -> dict[int, list[int]]:
    if not deps.is_file():
        return {}
    return {int(task["task_id"]): task["kernel_ids"] for task in load(deps)["tasks"] if "kernel_ids" in task}


def events(data: dict[str, Any], kernels: dict[int, str], edges: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """Bars of cores, what the scheduler saw of them, and arrows along the graph."""
    made: list[dict[str, Any]] = []
    is_august = "chip_swimlane_level" in data
    (cores, cores_view), (control, control_view) = AUGUST_VIEWS if is_august else JUNE_VIEWS
    for pid, name in ((control, control_view), (cores, cores_view)):
        made.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}})
    lanes: set[tuple[int, int, str]] = set()
    first: dict[int, dict[str, Any]] = {}
    for task in data["tasks"]:
        tid = 10000 + 10 * task["core_id"]
        lane = f"{task['core_type'].upper()}_{task['core_id']}"
        label = kernels.get(task["func_id"]) or (f"func_{task['func_id']}" if task["func_id"] >= 0 else "task")
        facts = {"taskId": task["task_id"], "event-hint": f"Task:{task_name(task['task_id'])}, FuncId:{task['func_id']}, CoreId:{task['core_id']}",
                 "duration-us": task["duration_us"]}
        bars = [(cores, task["start_time_us"], task["end_time_us"])]
        if task["finish_time_us"]:
            bars.append((control, task["dispatch_time_us"], task["finish_time_us"]))
        for pid, start, end in bars:
            lanes.add((pid, tid, lane))
            made.append({"ph": "X", "name": f"{label}({task_name(task['task_id'])})", "cat": "event", "pid": pid, "tid": tid,
                         "ts": start, "dur": round(end - start, 3), "args": facts})
        first.setdefault(task["task_id"], task)
    made += [{"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": lane}} for pid, tid, lane in sorted(lanes)]
    for number, (pred, succ) in enumerate(edges):
        if pred in first and succ in first:
            name = "dependency" if first[pred]["end_time_us"] <= first[succ]["start_time_us"] else "hb_violation"
            for phase, task in (("s", first[pred]), ("f", first[succ])):
                made.append({"ph": phase, "name": name, "cat": "flow", "id": number, "pid": cores,
                             "tid": 10000 + 10 * task["core_id"], "ts": task["start_time_us"]} | ({"bp": "e"} if phase == "f" else {}))
    return made


def convert(path: Path, output: Path | None = None, func_names: str | None = None) -> tuple[Path, dict[str, Any]]:
    data = read_perf_data(path)
    deps = path.with_name("deps.json")
    edges = [(int(edge["pred"]), int(edge["succ"])) for edge in load(deps)["edges"]] if deps.is_file() else []
    target = output or path.with_name(MERGED)
    trace = {"traceEvents": events(data, names(path.parent, func_names), list(dict.fromkeys(edges)))}
    target.write_text(json.dumps(trace) + "\n")
    return target, data


def statistics(data: dict[str, Any], kernels: dict[int, str]) -> str:
    """Calls and time by kernel."""
    rows: dict[int, list[float]] = {}
    for task in data["tasks"]:
        rows.setdefault(task["func_id"], []).append(task["duration_us"])
    lines = ["=== Task Statistics by Function ===", f"{'Func_ID':>7} {'Func_Name':<24} {'Count':>6} {'Total(us)':>12} {'Avg(us)':>10}"]
    for func, durations in sorted(rows.items()):
        name = kernels.get(func, f"func_{func}")
        lines.append(f"{func:>7} {name:<24} {len(durations):>6} {sum(durations):>12.3f} {sum(durations) / len(durations):>10.3f}")
    total = [task["duration_us"] for task in data["tasks"]]
    lines.append(f"{'TOTAL':>7} {'':<24} {len(total):>6} {sum(total):>12.3f}")
    lines.append(f"Total tasks: {len(total)}")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="swimlane_converter", description="Swimlane records to a Chrome trace.")
    parser.add_argument("input", nargs="?", help="records or the directory of a run [default: the newest run]")
    parser.add_argument("-o", "--output", help=f"the trace [default: {MERGED} beside the records]")
    parser.add_argument("--func-names", help="a name map")
    parser.add_argument("-v", "--verbose", action="store_true")
    options, _ = parser.parse_known_args(arguments)
    path = found(options.input, FILES, "swimlane records")
    target, data = convert(path, Path(options.output) if options.output else None, options.func_names)
    sys.stdout.write(statistics(data, names(path.parent, options.func_names)))
    sys.stdout.write(f"trace: {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
