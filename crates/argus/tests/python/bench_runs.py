"""Makes a run of many ranks and a large swimlane file, and measures commands on them.

bench_runs.py ARGUS DIRECTORY [RANKS] [RECORDS] [SLICES]: the directory is made and kept; one that exists is used again.
"""

import json
import os
import pathlib
import resource
import struct
import subprocess
import sys
import time

ARGUS, HOME = sys.argv[1], pathlib.Path(sys.argv[2])
GIVEN = [int(word) for word in sys.argv[3:6]]
RANKS, RECORDS, SLICES = GIVEN + [64, 98304, 1000000][len(GIVEN) :]
FLOATS = 64


def make_tree(run):
    tasks = RECORDS // 2
    head = {
        "run_dir": "args_dump",
        "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"},
        "dump_args_level": 2,
        "total_args": tasks * 2,
        "before_dispatch": tasks,
        "after_completion": tasks,
        "input_args": tasks,
        "output_args": tasks,
        "inout_args": 0,
        "truncated_args": 0,
        "dropped_records": 0,
        "dropped_overwrite": 0,
        "bin_file": "args.bin",
    }
    lines, size = [], FLOATS * 4
    for task in range(tasks):
        for arg, (stage, role) in enumerate([("before_dispatch", "input"), ("after_completion", "output")]):
            lines.append(
                f'    {{"task_id": "0x{(2 << 32) + task:016x}", "func_id": [{task % 4}], "arg_index": {arg}, "role": "{role}", '
                f'"stage": "{stage}", "kind": "tensor", "dtype": "FLOAT32", "is_contiguous": true, "shape": [{FLOATS}], '
                f'"strides": [1], "start_offset": 0, "numel": {FLOATS}, "bin_offset": {(task * 2 + arg) * size}, '
                f'"bin_size": {size}, "truncated": false, "overwritten": false}}'
            )
    manifest = json.dumps(head, indent=2)[:-2] + ',\n  "args": [\n' + ",\n".join(lines) + "\n  ]\n}\n"
    payload = bytearray(b"".join(struct.pack(f"<{FLOATS}f", *[float(number + lane) for lane in range(FLOATS)])
                                 for number in range(tasks * 2)))
    for rank in range(RANKS):
        capture = run / f"rank{rank}/d0"
        (capture / "args_dump").mkdir(parents=True)
        (capture / "args_dump/args_dump.json").write_text(manifest)
        data = payload
        if rank == RANKS * 2 // 3:
            data = bytearray(payload)
            data[(tasks - 10) * 2 * size + size] ^= 1
        (capture / "args_dump/args.bin").write_bytes(data)
        identity = {"schema_version": 1, "run_id": 1, "task_slot": 0, "group_index": rank, "group_size": RANKS, "host_pid": 1,
                    "chip_rank": rank, "local_capture_index": 0, "endpoint_dispatch_id": 1, "pipeline_slot": 0,
                    "pipeline_generation": 1, "callable_digest": "ab" * 32}
        (capture / "dispatch_identity.json").write_text(json.dumps(identity))


def make_swimlane(run):
    (run / "args_dump").mkdir(parents=True)
    (run / "args_dump/args_dump.json").write_text('{"run_dir": "args_dump", "bin_format": {"type": "logical_contiguous", '
        '"byte_order": "little_endian"}, "dump_args_level": 2, "total_args": 0, "before_dispatch": 0, "after_completion": 0, '
        '"input_args": 0, "output_args": 0, "inout_args": 0, "truncated_args": 0, "dropped_records": 0, '
        '"dropped_overwrite": 0, "bin_file": null, "args": []}')
    cores = 24
    rows, seen = [], []
    per_core = SLICES // cores
    for core in range(cores):
        for token in range(1, per_core + 1):
            start = 1000 + token * 100
            rows.append(f"[{core},{(2 << 32) + core * per_core + token},{token},{start},{start + 80},5]")
            seen.append(f"[{core},{token},{start - 10},{start + 90}]")
    types = ",".join(['"aic"'] * 8 + ['"aiv"'] * 16)
    (run / "chip_swimlane_records.json").write_text(
        f'{{"chip_swimlane_level": 2, "metadata": {{"clock_freq_hz": 50000000, "num_cores": {cores}, "core_types": [{types}]}}, '
        f'"aicore_tasks": [{",".join(rows)}], "aicpu_tasks": [{",".join(seen)}], "aicpu_scheduler_phases": []}}')


def measured(what, *words, code=0):
    started, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen([ARGUS, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    out, error = process.communicate()
    elapsed, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    assert process.returncode == code, (words, process.returncode, out[-500:], error[-500:])
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{what:32} {elapsed:8.2f} s  {cpu:8.2f} s of CPU  peak of children so far {after.ru_maxrss // 1024} MB", flush=True)
    return out


def reading(run):
    """Plain reading of the same files, as the measure of the disk and the page cache."""
    started, total = time.monotonic(), 0
    cpu = time.process_time()
    for path in sorted(run.rglob("*")):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                while piece := file.read(1 << 20):
                    total += len(piece)
    print(f"{'read all files':32} {time.monotonic() - started:8.2f} s  {time.process_time() - cpu:8.2f} s of CPU  {total} bytes")


def main():
    run, swimlane = HOME / "run", HOME / "swimlane"
    if not run.exists():
        make_tree(run)
    if not swimlane.exists():
        make_swimlane(swimlane)
    print(f"{RANKS} ranks of {RECORDS} records, {SLICES} slices, {os.cpu_count()} processors")
    measured("table of ranks", "view", run)
    reading(run)
    out = measured("find --across", "find", run, "--across", code=1)
    assert f"rank{RANKS * 2 // 3}/d0 leaves the pack first" in out, out[-500:]
    measured("verify", "verify", run)
    for path in HOME.glob("*.pftrace"):
        path.unlink()
    measured("swimlane to .pftrace", "trace", swimlane, "-o", HOME / "run.pftrace")


main()
