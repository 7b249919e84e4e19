"""What lies between a task's dispatch and its end besides its kernel:
``python -m simpler_setup.tools.sched_overhead_analysis --l2-swimlane-records-json RECORDS.json``."""

from __future__ import annotations

import argparse
import sys

from simpler_setup.tools._files import found
from simpler_setup.tools.swimlane_converter import FILES, read_perf_data


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="sched_overhead_analysis", description="Time that is not a kernel's.")
    parser.add_argument("input", nargs="?", help="records or the directory of a run [default: the newest run]")
    for name in ("--l2-swimlane-records-json", "--chip-swimlane-records-json", "--perf-json"):
        parser.add_argument(name, dest="records", help="the same")
    options, _ = parser.parse_known_args(arguments)
    data = read_perf_data(found(options.records or options.input, FILES, "swimlane records"))
    tasks = data["tasks"]
    kernel = sum(task["duration_us"] for task in tasks)
    timed = [task for task in tasks if task["finish_time_us"]]
    held = sum(task["finish_time_us"] - task["dispatch_time_us"] for task in timed)
    sys.stdout.write(f"Total tasks: {len(tasks)}\n")
    sys.stdout.write(f"Total kernel time: {kernel:.3f} us\n")
    if timed:
        sys.stdout.write(f"Total dispatch to finish: {held:.3f} us\n")
        sys.stdout.write(f"Overhead: {held - kernel:.3f} us, {(held - kernel) / len(timed):.3f} us per task\n")
    phases: dict[str, int] = {}
    for stream in data.get("aicpu_scheduler_phases", []):
        for phase in stream:
            phases[phase["phase"]] = phases.get(phase["phase"], 0) + phase["tasks_processed"]
    for name, count in sorted(phases.items()):
        sys.stdout.write(f"Scheduler {name}: {count}\n")
    sys.stdout.write("Times are those of the simulation on this machine.\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
