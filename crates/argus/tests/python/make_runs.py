"""Makes runs in the layouts of the reference, of every age, for check_runs.py: make_runs.py DIRECTORY.

Nothing is copied from a real run. Every run is the same small program with values of its own:

    0 allocation (only a producer)      3 dummy: waits for 2, runs nothing
    1 matrix task makes two tensors     4 mix of two blocks: adds to a tensor of 1
    2 vector task reads both            5 vector task reads what 4 wrote
"""

import json
import pathlib
import struct
import sys

HOME = pathlib.Path(sys.argv[1])
NAMES = {0: "MATMUL", 1: "SOFTMAX", 2: "ADD"}
KERNELS = {1: [0, -1, -1], 2: [-1, 1, -1], 3: [-1, -1, -1], 4: [0, 1, 2], 5: [-1, 2, -1]}
# (slot, role) of each task's tensors, and which tensor it is.
ARGS = {
    1: [("INPUT", "x"), ("OUTPUT", "a"), ("OUTPUT", "b")],
    2: [("INPUT", "a"), ("INPUT", "b"), ("OUTPUT", "c")],
    3: [],
    4: [("INPUT", "c"), ("INOUT", "a")],
    5: [("INPUT", "a"), ("OUTPUT_EXISTING", "y")],
}
ADDRESS = {"x": 0x7F0000001000, "a": 0x7F0000002000, "b": 0x7F0000002400, "c": 0x7F0000003000, "y": 0x7F0000004000}
FLOATS = 8


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))


def tensor_id(address, version=0):
    number = 0xCBF29CE484222325
    for byte in struct.pack("<QI", address, version):
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return number


class Run:
    def __init__(self, place, ring=1, wide=False, seed=1.0):
        self.home, self.seed, self.wide = HOME / place, seed, wide
        self.id = lambda number: (1 << 62 | 3 << 32 | number) if wide else (ring << 32 | number)

    def view(self, tensor, prefix=""):
        return {
            f"{prefix}dtype": "FLOAT32",
            f"{prefix}shape": [FLOATS],
            f"{prefix}start_offset": "0",
            f"{prefix}strides": [1],
        }

    def dump(self, age="august", epoch=None):
        payload, records = b"", []
        for task, args in ARGS.items():
            blocks = 2 if task == 4 else 1
            for stage in ["before_dispatch", "after_completion"]:
                for slot, (kind, tensor) in enumerate(args):
                    role = {"INPUT": "input", "INOUT": "inout"}.get(kind, "output")
                    reads, writes = role != "output", role != "input"
                    if not (reads if stage == "before_dispatch" else writes):
                        continue
                    # Inputs of a task of several blocks come once for each.
                    for _ in range(blocks if stage == "before_dispatch" else 1):
                        values = [self.seed + 16 * task + slot + 0.5 * lane for lane in range(FLOATS)]
                        record = {"task_id": f"0x{self.id(task):016x}"}
                        if epoch is not None:
                            record = {"run_epoch": epoch, **record}
                        if age != "june":
                            record["func_id"] = [number for number in KERNELS[task] if number >= 0]
                        record |= {
                            "arg_index": slot, "role": role, "stage": stage, "kind": "tensor", "dtype": "FLOAT32",
                            "is_contiguous": True, "shape": [FLOATS], "strides": [1], "start_offset": 0, "numel": FLOATS,
                            "bin_offset": len(payload), "bin_size": 4 * FLOATS, "truncated": False,
                        }
                        if epoch is None:
                            record["overwritten"] = False
                        records.append(record)
                        payload += struct.pack(f"<{FLOATS}f", *values)
        word, folder = ("tensors", "tensor_dump") if age == "june" else ("args", "args_dump")
        count = lambda **wanted: sum(all(record[key] == value for key, value in wanted.items()) for record in records)
        bin_file = f"args.e{epoch}.bin" if epoch is not None else "tensor_dump.bin" if age == "june" else "args.bin"
        head = {"run_dir": folder, "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"}}
        if age != "june":
            head["dump_args_level"] = 2
        head |= {
            f"total_{word}": len(records),
            "before_dispatch": count(stage="before_dispatch"), "after_completion": count(stage="after_completion"),
            f"input_{word}": count(role="input"), f"output_{word}": count(role="output"), f"inout_{word}": count(role="inout"),
            f"truncated_{word}": 0, "dropped_records": 0,
        }
        if epoch is None:
            head["dropped_overwrite"] = 0
        else:
            head |= {"host_discarded_args": 0, "metadata_discarded_records": 0, "counts_unknown": False,
                     "collection_verdict": "published"}
        head |= {"bin_file": bin_file, word: records}
        put(self.home / folder / f"{folder}.json", json.dumps(head, indent=2))
        put(self.home / folder / bin_file, payload)
        return self

    def deps(self, age="august", runtime=None):
        tasks = []
        for number, args in ARGS.items():
            task = {"task_id": str(self.id(number)), "scope": "manual" if number == 3 else "auto"}
            if age != "june":
                task |= {"early_dispatch": number == 5, "kernel_ids": KERNELS[number], "block_num": 2 if number == 4 else 1}
            task["args"] = [
                {"idx": slot, "type": kind}
                | ({} if kind == "OUTPUT" else {"tensor_id": str(tensor_id(ADDRESS[tensor]))} | self.view(tensor))
                for slot, (kind, tensor) in enumerate(args)
            ]
            tasks.append(task)
        flags = lambda *words: {"flags": list(words)} if age != "june" and runtime != "host_build_graph" else {}

        def edge(pred, succ, arg, source, *words):
            row = {"pred": str(self.id(pred)), "succ": str(self.id(succ)), "arg": arg, "source": source} | flags(*words)
            if source == "explicit":
                return row
            row |= {"overlap": "covered"} if source == "tensormap" else {}
            tensor = ARGS[succ][arg][1]
            row |= {"tensor_id": str(tensor_id(ADDRESS[tensor]))} | self.view(tensor, "consumer_")
            if source == "tensormap":
                region = self.view(tensor, "producer_")
                region.pop("producer_dtype")
                row |= region
            return row

        both = ["wait", "retain"]
        edges = [
            edge(0, 2, 0, "creator", *both), edge(1, 2, 1, "creator", *both),
            edge(2, 3, -1, "explicit", *both), edge(3, 4, -1, "explicit", *both),
            edge(2, 4, 0, "creator", *both), edge(1, 4, 1, "creator", *both),
            edge(1, 5, 0, "creator", *both), edge(4, 5, 0, "tensormap", "wait"),
        ]
        file = {"runtime": runtime} if runtime and age == "september" else {}
        tensors = [
            {"tensor_id": str(tensor_id(address)), "buffer_addr": str(address), "version": 0, "dtype": "FLOAT32",
             "buffer_numel": str(FLOATS)}
            for address in ADDRESS.values()
        ]
        put(self.home / "deps.json", json.dumps(file | {"tasks": tasks, "tensors": tensors, "edges": edges}, separators=(",", ":")))
        return self

    def parts(self):
        """Rows of cores: core, task, token, start, end, receive to start."""
        base = 9_000_000_000
        return [
            [0, self.id(1), 1, base + 100, base + 350, 7], [2, self.id(2), 1, base + 400, base + 500, 5],
            [0, self.id(4), 2, base + 600, base + 700, 6], [1, self.id(4), 1, base + 610, base + 705, 6],
            [2, self.id(4), 2, base + 602, base + 690, 0], [3, self.id(4), 1, base + 603, base + 691, 1],
            [4, self.id(4), 1, base + 604, base + 692, 2], [5, self.id(4), 1, base + 605, base + 693, 3],
            [2, self.id(5), 3, base + 800, base + 1000, 4], [3, self.id(2), 9, 0, 0, 0],
        ]

    def times(self, name="chip_swimlane_records.json", level=4, columns=6, host=False, epoch=None, runtime=None, hz=50_000_000):
        base = 9_000_000_000
        rows = sorted(self.parts(), key=lambda row: (row[0], row[3]))
        seen = [[row[0], row[2], row[3] - row[5] - 10, row[4] + 20] for row in rows if row[3]]
        metadata = {"runtime": runtime} if epoch is not None else {}
        metadata |= {"clock_freq_hz": hz, "num_cores": 6, "core_types": ["aic"] * 2 + ["aiv"] * 4}
        key = "chip_swimlane_level" if name.startswith("chip") else "l2_swimlane_level"
        file = {key: level, "metadata": metadata, "aicore_tasks": [row[:columns] + ([epoch] if epoch is not None else []) for row in rows]}
        phase = lambda kind, start, end, tasks, **more: {
            "kind": kind, "start_cycles": base + start, "end_cycles": base + end, "loop_iter": start, "tasks_processed": tasks} | more
        ready = {"shared_at_start": [2, 1, 0], "shared_at_end": [1, 0, 0]}
        streams = [
            [phase("dispatch", 80, 95, 1, pop_hit=1, pop_miss=2, **ready), phase("complete", 360, 380, 1), phase("resolve", 362, 370, 1)],
            [],
            [phase("dummy_task", 510, 510, 0, task_id=self.id(3)), phase("drain", 580, 598, 1)],
        ]
        if epoch is None:
            file["aicpu_tasks"] = seen if level > 1 else []
            if level > 2:
                file["aicpu_scheduler_phases"] = streams
        else:
            file["scheduler_tasks"] = {"producer": "aicpu", "records": [row + [epoch] for row in seen]}
            recorded = []
            for number, phases in enumerate(streams):
                inner = [{key: one[key] for key in ["start_cycles", "end_cycles", "loop_iter", "kind", "tasks_processed"]}
                         | {"run_epoch": epoch, "task_id": one.get("task_id")} for one in phases]
                metrics = [{"record_index": at, "pop_hit": one["pop_hit"], "pop_miss": one["pop_miss"]} | ready
                           for at, one in enumerate(phases) if "pop_hit" in one]
                if inner:
                    recorded.append({
                        "platform": "a2a3", "producer": "aicpu", "scheduler_id": number, "worker_id": number, "core_type": "aicpu",
                        "physical_core_id": None, "capture": {"committed": len(inner), "dropped": 0, "truncated": False},
                        "records": inner, "metrics": metrics})
            file["scheduler_records"] = {"streams": recorded}
        if level > 2:
            metadata["core_to_thread"] = [0, 0, 2, 2, -1, 2]
        if host:
            sample = lambda position, ns, cycles: {
                "position": position, "sample_idx": 0, "host_before_ns": ns, "raw_device_timestamp": cycles, "device_cycles": cycles,
                "host_after_ns": ns + 100, "rtt_ns": 100, "uncertainty_ns": 50, "error": None}
            metadata |= {
                "orchestrator_source": "host", "orchestrator_clock_domain": "host_monotonic_ns",
                "host_capture": {"status": "complete", "expected_records": 5, "recorded_records": 5, "pool_records": 5,
                                 "dropped_records": 0, "error": None},
                "clock_anchors": {"schema_version": 1, "provider": "sim_syscnt", "raw_device_timestamp_unit": "syscnt_cycles",
                                  "samples": [sample("pre_host_orchestration", 5_000, base - 9000),
                                              sample("post_device_execution", 905_000, base + 36000)]}}
            file["host_orchestrator_phases"] = [[
                {"submit_idx": at, "task_id": self.id(number), "start_host_ns": 6000 + 10 * at, "end_host_ns": 6005 + 10 * at}
                for at, number in enumerate(ARGS)]]
            file["host_device_uploads"] = [{"phase": "graph_upload", "start_host_ns": 7000, "end_host_ns": 7100, "detail": 4112}]
        elif level > 3:
            more = {"run_epoch": epoch} if epoch is not None else {}
            file["aicpu_orchestrator_phases"] = [[
                {"submit_idx": at, "task_id": self.id(at), "start_cycles": base + 10 * at, "end_cycles": base + 10 * at + 6} | more
                for at in range(6)]]
        put(self.home / name, json.dumps(file, indent=1))
        return self

    def objects(self, name, head):
        """Times in microseconds, as they were until June."""
        tasks = []
        for core, task, _, start, end, _ in self.parts():
            if start == 0:
                continue
            micro = lambda tick: round((tick - 9_000_000_000) / 50, 3)
            number = next(number for number in ARGS if self.id(number) == task)
            kernels = KERNELS[number]
            func = kernels[0] if core < 2 else next(kernel for kernel in kernels[1:] if kernel >= 0)
            tasks.append({
                "task_id": task, "func_id": func, "core_id": core, "core_type": "aic" if core < 2 else "aiv", "ring_id": task >> 32,
                "start_time_us": micro(start), "end_time_us": micro(end), "duration_us": micro(end) - micro(start),
                "dispatch_time_us": micro(start - 20), "finish_time_us": micro(end + 20),
                "fanout": [self.id(number + 1)] if number in (1, 4) else [], "fanout_count": int(number in (1, 4))})
        phases = [[{"start_time_us": 0.1, "end_time_us": 0.4, "phase": "scan", "loop_iter": 1, "tasks_processed": 0}], []]
        put(self.home / name, head | {"tasks": tasks, "aicpu_scheduler_phases": phases, "core_to_thread": [0, 0, 1, 1, 1, 1]})
        return self

    def names(self, name="name_map_TestMade_small.json", level=2):
        kernels = {str(key): value for key, value in NAMES.items()}
        put(self.home / name, json.dumps({"level": level, "orchestrator_name": "made", "callable_id_to_name": kernels}, indent=2))
        return self

    def scopes(self, version=6, epoch=None):
        four = lambda number: [number] * 4
        head = {"version": version} if version else {}
        head |= {"fatal": False, "dropped": 0, "total": 4, "task_window_max": four(16), "heap_max": four(4096)}
        pool = version != 4
        head |= {"dep_pool_max": four(64)} if pool else {}
        lines = [head | {"tensormap_max": 128}]
        for site, phase, depth, ring, tasks, heap in [
            ("(unknown):0", "begin", 0, 0, [0, 0], [0, 0]), ("made.cpp:7", "begin", 1, 1, [0, 0], [0, 0]),
            ("made.cpp:7", "end", 1, 1, [2, 6], [1024, 5120]), ("(unknown):0", "end", 0, 0, [0, 0], [0, 0]),
        ]:
            line = {"site": site, "phase": phase, "depth": depth, "ring": ring, "task_window_start": tasks[0],
                    "task_window_end": tasks[1], "heap_start": heap[0], "heap_end": heap[1]}
            line |= {"dep_pool_start": 1, "dep_pool_end": 5} if pool else {}
            lines.append(line | {"tensormap": 3} | ({"run_epoch": epoch, "buf_seq": 1} if epoch is not None else {}))
        put(self.home / "scope_stats/scope_stats.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
        return self

    def counters(self, columns="vec_busy_cycles,cube_busy_cycles", epoch=None):
        tail = ",run_epoch" if epoch is not None else ""
        text = f"thread_id,core_id,task_id,func_id,core_type,pmu_total_cycles,{columns},event_type{tail}\n"
        for core, task, _, start, end, _ in self.parts():
            if start:
                number = next(number for number in ARGS if self.id(number) == task)
                kernels = KERNELS[number]
                func = kernels[0] if core < 2 else next(kernel for kernel in kernels[1:] if kernel >= 0)
                cells = ",".join(str(7 * core + at) for at in range(columns.count(",") + 1))
                tail = f",{epoch}" if epoch is not None else ""
                text += f"{core % 2},{core},0x{task:016x},{func},{int(core > 1)},{end - start},{cells},2{tail}\n"
        put(self.home / "pmu.csv", text)
        return self

    def log(self, prefix="[mono_ns=5][T0x1][TIMING]", name="run.log"):
        spans = "".join(
            f"{prefix} run: [STRACE] v=1 pid=77 tid=77 inv=1 hid=0 depth={depth} name={span} ts={start} dur={length}{more}\n"
            for depth, span, start, length, more in [
                (2, "chip.run.runner_run.device_wall", 0, 20_000, " clk=dev"), (1, "chip.run.runner_run", 1_100, 25_000, ""),
                (0, "chip.run", 1_000, 30_000, " run_id=4")])
        put(self.home / name, f"started\n{spans}{prefix} anchor: [CLOCK_ANCHOR] v=1 pid=77 mono_ns=5 wall_ns=1700000000000000000\n")
        return self

    def host_phases(self):
        records = [{"phase": phase, "start_ns": 6000 + at, "end_ns": 6050 + at, "detail": at, "tid": 77}
                   for at, phase in enumerate(["args", "host_orch", "submit_task", "graph_upload"])]
        put(self.home / "host_phase_records.jsonl",
            json.dumps({"pid": 77, "inv": 1, "clock": "host_monotonic_ns", "dropped": 0, "records": records}) + "\n")
        return self


def identity(rank, capture, size):
    return {"schema_version": 1, "run_id": 4, "task_slot": 2, "group_index": rank, "group_size": size, "host_pid": 77,
            "chip_rank": rank, "local_capture_index": capture, "endpoint_dispatch_id": 9, "pipeline_slot": 0,
            "pipeline_generation": 1, "callable_digest": "5e" * 32}


def main():
    Run("april").dump("june").deps("june").objects("perf_swimlane_20260415_101112.json", {"version": 2})
    Run("may").dump("june").objects("l2_perf_records.json", {"l2_perf_level": 3}).names()
    Run("june").dump("june").deps("june").objects("l2_swimlane_records.json", {"l2_swimlane_level": 4}).names().scopes(4)
    Run("july").dump().deps("july").times("l2_swimlane_records.json", columns=5).names().scopes(5).log("[2026-07-01 10:11:12.13][T0x1][INFO_V0]")
    Run("august", ring=2).dump().deps().times().names().scopes().counters().log()
    Run("august-level-1").dump().times(level=1)
    Run("august-a5").dump().deps().times(hz=10**9).names().counters("pmu_idc_aic_vec_busy_o,cube_instr_busy")
    Run("august-host", ring=0).dump().deps(runtime="host_build_graph").times(host=True).names().host_phases().log()
    Run("august-one_prefix").dump().deps().names("name_map_TestL3Group_default.json", level=3)
    Run("made-september-hbg-graph", wide=True).dump(epoch=1).deps("september", "host_build_graph").times(
        host=True, epoch=1, runtime="host_build_graph").names()
    for rank in range(2):
        one = Run(f"made-september-two_ranks/rank{rank}/d0", ring=2, seed=3.0).dump(epoch=7).deps("september", "tensormap_and_ringbuffer")
        one.times(epoch=7, runtime="tensormap_and_ringbuffer").names("name_map.json").scopes(None, 7).counters(epoch=7)
        put(one.home / "dispatch_identity.json", identity(rank, 0, 2))
    for rank, dispatch in [(0, 0), (1, 0), (1, 1)]:
        one = Run(f"made-pypto-two_ranks/dfx_outputs/rank{rank}/d{dispatch}").dump().deps().times().names("name_map.json")
        put(one.home / "dispatch_program.json", {"program": ["attention", "gather"][dispatch]})
    hang = Run("august-a2a3sim-trb-hang")
    put(hang.home / "args_dump/args.bin", bytes(512))
    put(hang.home / "run.log",
        "x: PTO2 runtime failed: orch_error_code=0 sched_error_code=100 runtime_status=-100\n"
        "[STALL thread=0 idle_iterations=38] TIMEOUT_EXIT after_idle_iterations=38 sub_class=S3:ready-but-all-idle completed=3/5 "
        "running=0 ready=1 waiting=1 orch_done=1 stuck_task_id=4294967298 stuck_core=8\n")


main()
