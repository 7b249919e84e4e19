"""Holds what the tool says of runs against the files themselves, read here with nothing but the standard library.

check_runs.py ARGUS SAMPLES: every sample, every file, value by value.
"""

import csv
import json
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

ARGUS, SAMPLES = sys.argv[1], pathlib.Path(sys.argv[2])
SEEN = {}


def seen(what, count=1):
    SEEN[what] = SEEN.get(what, 0) + count


def argus(*words, code=0):
    ended = subprocess.run([ARGUS, *map(str, words)], capture_output=True, text=True)
    assert ended.returncode == code, (words, ended.returncode, ended.stdout[-2000:], ended.stderr[-2000:])
    return json.loads(ended.stdout) if "--json" in words else ended.stdout + ended.stderr


def hexid(number):
    return f"0x{int(number):016x}"


def only(directory, *patterns):
    found = [path for pattern in patterns for path in sorted(directory.glob(pattern))]
    return found[0] if found else None


def times_of(run):
    """The swimlane records, under whichever of their names."""
    return only(run, "chip_swimlane_records.json", "l2_swimlane_records.json", "l2_perf_records.json", "perf_swimlane_*.json")


def captures():
    for dump in sorted([*SAMPLES.rglob("args_dump.json"), *SAMPLES.rglob("tensor_dump.json")]):
        yield dump.parent.parent, json.loads(dump.read_text())


def view(edge, side):
    """The region of an edge or an argument, as the tool spells it."""
    if f"{side}shape" not in edge:
        return None
    return {
        "tensor_id": edge["tensor_id"] if side != "producer_" else None,
        "dtype": edge.get(f"{side}dtype"),
        "shape": edge[f"{side}shape"],
        "start_offset": int(edge[f"{side}start_offset"]),
        "strides": edge[f"{side}strides"],
    }


def check_graph(run, said, deps):
    listed = {task["task_id"]: task for task in said["tasks"]}
    for task in deps["tasks"]:
        ours = listed[hexid(task["task_id"])]
        assert ours["kernel_ids"] == task.get("kernel_ids"), (run, task["task_id"], ours)
        assert ours["scope"] == task["scope"] and ours["early_dispatch"] == task.get("early_dispatch")
        if any(number >= 0 for number in task.get("kernel_ids", [-1])):
            assert ours["blocks"] == task.get("block_num", 1)
        args = [{"arg_index": arg["idx"], "type": arg["type"], "view": view(arg, "")} for arg in task["args"]]
        assert ours["args"] == args, (run, task["task_id"], ours["args"], args)
        seen("graph tasks")
    edges = [
        {
            "from": hexid(edge["pred"]),
            "to": hexid(edge["succ"]),
            "source": edge["source"],
            "arg_index": None if edge["arg"] < 0 else edge["arg"],
            "flags": edge.get("flags"),
            "overlap": edge.get("overlap"),
            "consumer": view(edge, "consumer_"),
            "producer": view(edge, "producer_"),
        }
        for edge in deps["edges"]
    ]
    assert said["edges"] == edges, (run, said["edges"][:2], edges[:2])
    seen("edges", len(edges))
    tensors = [
        {
            "tensor_id": tensor["tensor_id"],
            "address": hex(int(tensor["buffer_addr"])),
            "version": tensor["version"],
            "dtype": tensor["dtype"],
            "elements": int(tensor["buffer_numel"]),
        }
        for tensor in deps["tensors"]
    ]
    assert said["tensors"] == tensors
    seen("tensors", len(tensors))


def rows_of_times(times):
    """Parts by task: core, token, dispatch, receive, start, end, finish, epoch."""
    parts = {}
    if "tasks" in times:
        for task in times["tasks"]:
            nano = lambda key: round(task[key] * 1000)
            row = [task["core_id"], None, nano("dispatch_time_us"), None, nano("start_time_us"), nano("end_time_us"),
                   nano("finish_time_us"), None]
            parts.setdefault(hexid(task["task_id"]), []).append(row)
        return parts
    scheduled = times.get("scheduler_tasks", {}).get("records", times.get("aicpu_tasks", []))
    by_token = {}
    for core, token, dispatch, finish, *epoch in scheduled:
        by_token[(core, token, *epoch)] = (dispatch, finish)
    for core, task, token, start, end, *rest in times["aicore_tasks"]:
        if start == 0:
            continue
        epoch = rest[1] if len(rest) > 1 else None
        key = (core, token) if epoch is None else (core, token, epoch)
        dispatch, finish = by_token.get(key, (None, None))
        receive = start - rest[0] if rest else None
        parts.setdefault(hexid(task), []).append([core, token, dispatch, receive, start, end, finish, epoch])
    return parts


def check_pages(run):
    said = argus("view", run, "--show", "--json")
    times_file = times_of(run)
    pages = {page["task_id"]: page for page in said["task_pages"]}
    order = lambda rows: sorted(rows, key=lambda row: (row[0], row[4]))
    if times_file:
        parts = rows_of_times(json.loads(times_file.read_text()))
        for task, page in pages.items():
            keys = ["core", "token", "dispatch", "receive", "start", "end", "finish", "run_epoch"]
            ours = order([part[key] for key in keys] for part in page["times"])
            assert ours == order(parts.get(task, [])), (run, task, ours, parts.get(task))
            seen("kernel calls", len(ours))
    table = run / "pmu.csv"
    if table.exists():
        rows = list(csv.DictReader(table.open()))
        known = ["thread_id", "core_id", "task_id", "func_id", "core_type", "pmu_total_cycles", "event_type", "run_epoch"]
        for task, page in pages.items():
            theirs = [
                {
                    "thread": int(row["thread_id"]),
                    "core": int(row["core_id"]),
                    "core_type": ["aic", "aiv"][int(row["core_type"])],
                    "func_id": int(row["func_id"]),
                    "total_cycles": int(row["pmu_total_cycles"]),
                    "event": int(row["event_type"]),
                    "counters": {key: int(value) for key, value in row.items() if key not in known},
                    "run_epoch": int(row["run_epoch"]) if "run_epoch" in row else None,
                }
                for row in rows
                if hexid(int(row["task_id"], 16)) == task
            ]
            assert page["counters"] == theirs, (run, task, page["counters"], theirs)
            seen("counter rows", len(theirs))
    stats = run / "scope_stats/scope_stats.jsonl"
    if stats.exists():
        lines = [json.loads(line) for line in stats.read_text().splitlines() if line.strip()][1:]
        for task, page in pages.items():
            number = int(task, 16)
            ring, local = number >> 32 & 0xFF, number & 0xFFFFFFFF
            best, open_scopes, entered = None, [], 0
            for line in lines:
                if line["phase"] == "begin":
                    open_scopes.append((entered, line))
                    entered += 1
                else:
                    at, begin = open_scopes.pop()
                    inside = begin["task_window_end"] <= local < line["task_window_end"]
                    if begin["ring"] == ring and inside and (best is None or at > best[0]):
                        best = (at, begin, line)
            if best is None:
                assert "scope" not in page
                continue
            at, begin, end = best
            ours = page["scope"]
            assert (ours["number"], ours["site"], ours["depth"]) == (at, begin["site"], begin["depth"]), (run, task)
            for name, key in [("tasks", "task_window"), ("heap", "heap")]:
                theirs = {
                    "high_water": end[f"{key}_end"] - begin[f"{key}_start"],
                    "alive_at_exit": end[f"{key}_end"] - end[f"{key}_start"],
                    "allocated": end[f"{key}_end"] - begin[f"{key}_end"],
                }
                assert ours[name] == theirs, (run, task, name, ours[name], theirs)
            seen("tasks in scopes")


def names_of(run):
    found = {}
    for path in run.glob("name_map*.json"):
        file = json.loads(path.read_text())
        if file["level"] == 2:
            found.update({int(key): name for key, name in file.get("callable_id_to_name", {}).items()})
    return found


def check_names(run, manifest):
    said = argus("view", run, "--json")
    names = names_of(run)
    by_task = {}
    times_file = times_of(run)
    if times_file:
        for task in json.loads(times_file.read_text()).get("tasks", []):
            if task["func_id"] not in by_task.setdefault(hexid(task["task_id"]), []):
                by_task[hexid(task["task_id"])].append(task["func_id"])
    records = manifest.get("args", manifest.get("tensors"))
    assert len(records) == said["total"]
    for record in said["records"]:
        theirs = records[record["index"]]
        assert record["task_id"] == theirs["task_id"]
        ids = theirs.get("func_id", by_task.get(theirs["task_id"], []))
        ids = ids if isinstance(ids, list) else [ids]
        shown = list(dict.fromkeys(names.get(number, str(number)) for number in ids if number >= 0))
        assert record["kernel"] == "+".join(shown), (run, record["kernel"], shown)
        seen("named records")


def kernel_of(core_type, kernel_ids, names, func):
    if func is None and kernel_ids:
        ids = [kernel_ids[0]] if core_type == "aic" else [number for number in kernel_ids[1:] if number >= 0]
        func = ids[0] if ids and ids[0] >= 0 else None
    return None if func is None else names.get(func, f"func_{func}")


def check_times(run, manifest, deps):
    path = times_of(run)
    if not path:
        return
    times = json.loads(path.read_text())
    said = argus("stats", run, "--times", "--json")
    names = names_of(run)
    meta = times.get("metadata", {})
    hz = meta.get("clock_freq_hz", 10**9)
    nano = lambda ticks: ticks * 10**9 // hz
    kernel_ids = {hexid(task["task_id"]): task.get("kernel_ids") for task in (deps or {"tasks": []})["tasks"]}
    func_ids = {}
    for record in manifest.get("args", manifest.get("tensors")):
        if isinstance(record.get("func_id"), list) and len(record["func_id"]) == 1:
            func_ids[record["task_id"]] = record["func_id"][0]
    if "tasks" in times:
        rows = [
            (task["core_id"], task["core_type"], hexid(task["task_id"]), round(task["start_time_us"] * 1000),
             round(task["end_time_us"] * 1000), task["func_id"])
            for task in times["tasks"]
        ]
    else:
        rows = [
            (row[0], meta["core_types"][row[0]], hexid(row[1]), row[3], row[4], None)
            for row in times["aicore_tasks"]
            if row[3]
        ]
    kernels = {}
    for core, core_type, task, start, end, func in rows:
        if kernel_ids.get(task) is None and func is None:
            func = func_ids.get(task) if task not in kernel_ids and deps is not None else None
        name = kernel_of(core_type, kernel_ids.get(task), names, func)
        if name is None:
            continue
        entry = kernels.setdefault((name, core_type), [0, 0])
        entry[0] += 1
        entry[1] += nano(end - start)
    ours = {(kernel["kernel"], kernel["core_type"]): [kernel["calls"], kernel["total_ns"]] for kernel in said["kernels"]}
    if kernels:
        assert {key: value for key, value in ours.items() if key in kernels} == kernels, (run, ours, kernels)
        seen("kernel sums", len(kernels))
    assert sum(kernel["calls"] for kernel in said["kernels"]) == len(rows)
    busy = {}
    for core, core_type, task, start, end, func in rows:
        entry = busy.setdefault(core, [0, 0])
        entry[0] += 1
        entry[1] += nano(end - start)
    assert {core["core"]: [core["calls"], core["busy_ns"]] for core in said["cores"]} == busy
    # The longest chain of dependencies, computed again.
    spans = {}
    for core, core_type, task, start, end, func in rows:
        first, last = spans.get(task, (start, end))
        spans[task] = (min(first, start), max(last, end))
    inner = [task for task in spans if deps and task not in kernel_ids]
    if deps and not inner:
        before = {}
        for edge in deps["edges"]:
            before.setdefault(hexid(edge["succ"]), set()).add(hexid(edge["pred"]))
        done = {}

        def longest(task):
            if task not in done:
                first, last = spans.get(task, (0, 0))
                done[task] = (last - first) + max((longest(other) for other in before.get(task, ())), default=0)
            return done[task]

        sys.setrecursionlimit(10000)
        best = max(longest(task) for task in {*kernel_ids, *spans})
        chain = said["critical_path"]["static"]
        ticks = sum(spans[step["task_id"]][1] - spans[step["task_id"]][0] for step in chain)
        assert ticks == best, (run, ticks, best)
        for one, two in zip(chain, chain[1:]):
            reach, open_tasks = set(), [two["task_id"]]
            while open_tasks:
                for other in before.get(open_tasks.pop(), ()):
                    if other not in reach:
                        reach.add(other)
                        open_tasks.append(other)
            assert one["task_id"] in reach
        seen("critical paths")
    observed = said["critical_path"]["observed"]
    last = max(span[1] for span in spans.values())
    assert spans[observed[-1]["task_id"]][1] == last
    for one, two in zip(observed, observed[1:]):
        assert spans[one["task_id"]][1] <= spans[two["task_id"]][0]
    total = sum(part["total_ns"] for part in said["shorten"])
    assert total == sum(step["duration_ns"] + step["gap_ns"] for step in observed)
    phases = {}
    for thread, stream in enumerate(times.get("aicpu_scheduler_phases", [])):
        for phase in stream:
            if "kind" in phase:
                key, ticks = phase["kind"], nano(phase["end_cycles"] - phase["start_cycles"])
            else:
                key = phase["phase"]
                ticks = round(phase["end_time_us"] * 1000) - round(phase["start_time_us"] * 1000)
            entry = phases.setdefault((thread, key), [0, 0])
            entry[0] += 1
            entry[1] += ticks
    for stream in times.get("scheduler_records", {}).get("streams", []):
        for phase in stream["records"]:
            entry = phases.setdefault((stream["scheduler_id"], phase["kind"]), [0, 0])
            entry[0] += 1
            entry[1] += nano(phase["end_cycles"] - phase["start_cycles"])
    ours = {(phase["thread"], phase["phase"]): [phase["count"], phase["total_ns"]] for phase in said["phases"]}
    assert ours == phases, (run, ours, phases)
    seen("phases", len(phases))
    passes = run / "host_phase_records.jsonl"
    if passes.exists():
        theirs = [json.loads(line) for line in passes.read_text().splitlines() if line.strip()]
        ours = said["host"]["passes"]
        assert len(ours) == len(theirs)
        keys = ["phase", "start_ns", "end_ns", "detail"]
        for one, two in zip(ours, theirs):
            assert (one["pid"], one["inv"], one["dropped"]) == (two["pid"], two["inv"], two["dropped"])
            ours_here = [[phase[key] for key in keys] for phase in one["phases"]]
            assert ours_here == [[phase[key] for key in keys] for phase in two["records"]]
            seen("host phases", len(ours_here))
    log = only(run, "run.log")
    if log:
        text = log.read_text()
        assert len(said["host"]["spans"]) == text.count("[STRACE] "), run
        for span in said["host"]["spans"]:
            assert f"ts={span['start_ns']} dur={span['duration_ns']}" in text
        seen("spans", len(said["host"]["spans"]))
    work = pathlib.Path(tempfile.mkdtemp())
    drawn = argus("trace", run, "-o", work / "run.json", "--json")
    assert drawn["kernel_calls"] == len(rows)
    events = json.loads((work / "run.json").read_text())["traceEvents"]
    bars = [event for event in events if event.get("ph") == "X" and "task" in event.get("args", {})]
    assert sorted(event["args"]["task"] for event in bars) == sorted(row[2] for row in rows), run
    for task in spans:
        ours = sorted(round(event["dur"] * 1000) for event in bars if event["args"]["task"] == task)
        theirs = sorted(nano(row[4] - row[3]) for row in rows if row[2] == task)
        close = all(abs(a - b) <= max(50, b // 1000) for a, b in zip(ours, theirs))
        assert len(ours) == len(theirs) and close, (run, task, ours, theirs)
    seen("drawn kernel calls", len(bars))
    shutil.rmtree(work)


def damage(run, manifest, deps):
    """A fault planted in one task, and in everything behind it: verdicts by the edges of deps.json."""
    records = manifest["args"]
    tasks = list(dict.fromkeys(record["task_id"] for record in records))
    if not deps or any(task not in {hexid(known["task_id"]) for known in deps["tasks"]} for task in tasks):
        return
    before, behind = {}, {}
    for edge in deps["edges"]:
        before.setdefault(hexid(edge["succ"]), set()).add(hexid(edge["pred"]))
        behind.setdefault(hexid(edge["pred"]), set()).add(hexid(edge["succ"]))
    outputs = {record["task_id"] for record in records if record["stage"] == "after_completion" and record["bin_size"]}
    for culprit in [task for task in tasks if task in outputs]:
        wrong, open_tasks = {culprit}, [culprit]
        while open_tasks:
            for task in behind.get(open_tasks.pop(), ()):
                if task not in wrong:
                    wrong.add(task)
                    open_tasks.append(task)
        work = pathlib.Path(tempfile.mkdtemp())
        for name in ["bad", "good"]:
            shutil.copytree(run, work / name)
            for path in (work / name).rglob("*"):
                path.chmod(0o755 if path.is_dir() else 0o644)
        payload = work / "bad/args_dump" / manifest["bin_file"]
        payload.chmod(0o644)
        data = bytearray(payload.read_bytes())
        for record in records:
            if record["task_id"] in wrong & outputs and record["stage"] == "after_completion" and record["bin_size"]:
                wide = record["dtype"] == "FLOAT32"
                value = struct.pack("<f", 1e20) if wide else b"\x70\x7b"
                data[record["bin_offset"] : record["bin_offset"] + len(value)] = value
        payload.write_bytes(data)
        changed = wrong & outputs
        expected = {}
        for task in tasks:
            # Through tasks that run nothing as well.
            reach, open_tasks = set(), [task]
            while open_tasks:
                for other in before.get(open_tasks.pop(), ()):
                    if other not in reach:
                        reach.add(other)
                        if other not in tasks:
                            open_tasks.append(other)
            expected[task] = "clean" if task not in changed else "inherited" if reach & changed else "introduced"
        argus("export", work / "good", "--format", "npy", "-o", work / "golden")
        for path in (work / "golden").rglob("*.npy"):
            if "before" in path.name:
                path.unlink()
        said = argus("find", work / "bad", "--golden", work / "golden", "--json", code=1)
        ours = {task["task_id"]: task["verdict"] for task in said["tasks"]}
        for task in tasks:
            if task in outputs:
                assert ours[task] == expected[task], (run, culprit, task, ours[task], expected[task])
                seen("verdicts")
        assert said["first_wrong"][0]["task_id"] == culprit, (run, said["first_wrong"][0], culprit)
        shutil.rmtree(work)


def main():
    for run, manifest in captures():
        sample = run.relative_to(SAMPLES).parts[0]
        if "one_prefix" in sample:
            ended = subprocess.run([ARGUS, "view", run], capture_output=True, text=True)
            assert ended.returncode == 2 and "the last one won" in ended.stderr, ended
            seen("refused")
            continue
        deps = json.loads((run / "deps.json").read_text()) if (run / "deps.json").exists() else None
        if deps:
            check_graph(run, argus("view", run, "--graph", "--json"), deps)
        check_names(run, manifest)
        check_pages(run)
        check_times(run, manifest, deps)
        if "args" in manifest:
            damage(run, manifest, deps)
        seen("captures")
    hang = SAMPLES / "august-a2a3sim-trb-hang"
    said = argus("view", hang, "--json", code=1)
    line = next(line for line in (hang / "run.log").read_text().splitlines() if "sub_class=" in line)
    fields = dict(word.split("=", 1) for word in line[line.index("sub_class="):].split() if "=" in word)
    stall = said["stall"]
    assert stall["class"] == fields["sub_class"]
    assert f"{stall['completed']}/{stall['submitted']}" == fields["completed"]
    for name in ["running", "ready", "waiting"]:
        assert stall[name] == int(fields[name])
    assert stall["stuck_task_id"] == hexid(fields["stuck_task_id"]) and stall["stuck_core"] == int(fields["stuck_core"])
    assert said["payload_bytes"] == (hang / "args_dump/args.bin").stat().st_size
    for sample in ["made-pypto-two_ranks", "made-september-two_ranks"]:
        said = argus("view", SAMPLES / sample, "--json")
        theirs = sorted(str(path.parent.parent) for path in (SAMPLES / sample).rglob("args_dump.json"))
        assert sorted(capture["directory"] for capture in said["captures"]) == theirs
        for capture in said["captures"]:
            manifest = json.loads((pathlib.Path(capture["directory"]) / "args_dump/args_dump.json").read_text())
            assert capture["records"] == len(manifest["args"]) == manifest["total_args"]
        seen("trees")
    graph = argus("view", SAMPLES / "made-september-hbg-graph", "--graph", "--json")
    assert any(int(task["task_id"], 16) > 2**53 for task in graph["tasks"])
    needed = ["graph tasks", "edges", "tensors", "kernel calls", "counter rows", "tasks in scopes", "named records",
              "kernel sums", "critical paths", "phases", "host phases", "spans", "drawn kernel calls", "verdicts",
              "refused", "trees"]
    assert all(SEEN.get(name) for name in needed), SEEN
    print(SEEN)


main()
