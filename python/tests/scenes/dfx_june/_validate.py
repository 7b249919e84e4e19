"""What must hold of the swimlane records of a run."""

import json
import subprocess
import sys


def validate_swimlane(directory, tasks):
    path = directory / "l2_swimlane_records.json"
    told = json.loads(path.read_text())
    assert 1 <= told["l2_swimlane_level"] <= 4
    assert len(told["tasks"]) == tasks
    for task in told["tasks"]:
        assert {"task_id", "func_id", "core_id", "core_type"} <= set(task)
        assert 0 <= task["start_time_us"] <= task["end_time_us"]
    totals = []
    for tool in ("swimlane_converter", "sched_overhead_analysis"):
        command = [sys.executable, "-m", f"simpler_setup.tools.{tool}", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        totals += [line for line in done.stdout.splitlines() if line.startswith("Total tasks:")]
    assert totals == [f"Total tasks: {tasks}"] * 2
    merged = json.loads((directory / "merged_swimlane.json").read_text())["traceEvents"]
    assert {event["args"]["name"] for event in merged if event["name"] == "process_name"} == {"AICore View", "AICPU View"}
    assert sum(event["ph"] == "X" and event["pid"] == 1 for event in merged) == tasks
