"""Writes the first inputs of each fuzz target into corpus/<target>/seed-*.

Manifests come from the test data of argus-dump; journal entries are put together here, without checksums,
because the targets put those right.
"""

import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent / "crates/argus-dump/tests/it/data"
MAKE_RUNS = HERE.parent / "crates/argus/tests/python/make_runs.py"
KERNEL, TASK, EDGES, ARGUMENT, SKIP, LOSS, END = range(1, 8)


def entry(kind, body):
    return struct.pack("<IB3xQ", 0, kind, 0) + body.ljust(176, b"\0")


def kernel(func_id, name):
    return entry(KERNEL, struct.pack("<IBBBB52s116s", func_id, 1, 0, 3, len(name), b"\1\2\0", name))


def argument(task, arg, stage, role, kind, dtype, shape, offset, size, scalar=0, flags=1):
    dims = list(shape) + [0] * (5 - len(shape))
    strides = [1] * len(shape) + [0] * (5 - len(shape))
    head = struct.pack("<8Q16s", task, 100 + stage, 4096, 0, scalar, offset, size, size, b"")
    tail = struct.pack("<5I5IH6B", *dims, *strides, arg, stage, role, kind, dtype, len(shape), flags)
    return entry(ARGUMENT, head + tail + bytes(48))


def task(task_id, funcs, tensors, scalars, state=0):
    return entry(
        TASK,
        struct.pack("<Q3iIQQQQQIHHB", task_id, *funcs, 1, task_id, 10, 20, 1, 0, 1, tensors, scalars, state),
    )


def edges(consumer, producers):
    reasons = bytes([1] * len(producers)).ljust(16, b"\0")
    words = list(producers) + [0] * (10 - len(producers))
    return entry(EDGES, struct.pack("<QB7x16s10Q", consumer, len(producers), reasons, *words))


def journal():
    return b"".join(
        [
            kernel(0, b"QK"),
            kernel(1, b"SF"),
            argument(1, 0, 0, 0, 0, 0, [4, 2], 0, 32),
            argument(1, 1, 1, 1, 0, 6, [8], 32, 16, flags=0x31),
            argument(1, 2, 0, 0, 1, 0, [], 0, 0, scalar=0x3F800000),
            task(1, [0, 1, -1], 2, 1),
            task(2, [1, -1, -1], 0, 0, state=2),
            edges(2, [1]),
            entry(SKIP, struct.pack("<QiHBB", 2, 0, 0xFFFF, 0, 0)),
            entry(LOSS, struct.pack("<IIQQQQ", 0, 0, 0, 0, 1, 2)),
            entry(END, struct.pack("<7QBB6x112s", 3, 2, 1, 1, 0, 0, 64, 0, 0, b"")),
        ]
    )


def directory(files):
    mask = sum(1 << place for place, content in enumerate(files) if content is not None)
    present = [content for content in files if content is not None]
    return bytes([mask]) + b"".join(struct.pack("<H", len(content)) + content for content in present)


def write(target, name, content):
    path = HERE / "corpus" / target / f"seed-{name}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def main():
    manifests = {path.stem[:12]: path.read_bytes() for path in sorted(DATA.rglob("*dump*.json"))}
    for name, content in manifests.items():
        write("manifest", name, content)
    ours = (
        b'{"schema": "argus-1", "status": "failed", "error": "x", "skipped": [{"task_id": "0x5", "func_id": 3, '
        b'"arg_index": null, "stage": "before_dispatch", "reason": "none"}], "tensors": [{"task_id": "0x1", '
        b'"arg_index": 0, "role": "input", "stage": "before_dispatch", "kind": "tensor", "dtype": "UINT64", '
        b'"is_contiguous": true, "shape": [2], "strides": [1], "start_offset": 0, "numel": 2, "bin_offset": 0, '
        b'"bin_size": 16, "func_id": [0, 1], "kernel": "QK+SF", "time_ns": 5, "address": "0x10", "partial": true, '
        b'"payload": "left_out", "checksum": "xxh3_128:000102030405060708090a0b0c0d0e0f", "statistics": '
        b'{"min": 0, "max": "18446744073709551615", "mean": 1.5, "nan": 0, "inf": 0, "zero": 1}}, {"task_id": '
        b'"0x1", "arg_index": 1, "role": "input", "stage": "before_dispatch", "kind": "scalar", "dtype": '
        b'"FLOAT32", "shape": [], "strides": [], "value": "NaN", "bin_offset": 0, "bin_size": 0, "value_bits": '
        b'"0x7fc00000"}]}'
    )
    write("manifest", "ours", ours)
    write("journal", "all-kinds", journal())
    graph = (
        b'{"kernels": [{"func_id": 0, "name": "QK", "core_type": "aiv", "abi": "tensor", "signature": ["in", "out"]}], '
        b'"tasks": [{"task_id": "0x1", "func_id": [0], "kernel": "QK", "blocks": 1, "cores": [0, 64], '
        b'"dispatch_order": 0, "dispatched_ns": 1, "finished_ns": 2, "scope_depth": 1, "tensors": 2, "scalars": 1, '
        b'"state": "completed"}], "edges": [{"from": "0x1", "to": "0x2", "reason": "creator"}]}'
    )
    run = b'{"level": "full", "status": "complete", "run_id": "00", "configuration": {"selectors": []}, "dump": {}}'
    write("payload", "journal", directory([journal(), None, bytes(64), None, run]))
    write("payload", "ours", directory([None, ours, bytes(range(64)), graph, run]))
    write("payload", "both", directory([journal(), ours, bytes(64), graph, run]))
    write("payload", "june", directory([None, manifests["tensor_dump"], bytes(56), None, None]))
    runs()


def runs():
    """Files beside dumps, of every age, as the tests make them."""
    with tempfile.TemporaryDirectory() as home:
        subprocess.run([sys.executable, MAKE_RUNS, home], check=True)
        for target, pattern in [("deps_json", "deps.json"), ("swimlane", "*swimlane*.json"), ("swimlane", "l2_perf*.json"), ("run_log", "*.log")]:
            for path in sorted(pathlib.Path(home).rglob(pattern)):
                write(target, "-".join(path.relative_to(home).parts), path.read_bytes())
    write("arg_spec", "both-kinds", b'{"args": [{"name": "a", "index": 0, "kind": "tensor", "dtype": "FLOAT32", "shape": [4, 4], '
          b'"fill": "zeros"}, {"index": 1, "kind": "scalar", "dtype": "FLOAT32", "value": 1.5}]}')
    write("timeline", "one-core", b'{"cores": [{"core": 4, "cluster": 1, "member": "aiv1", "parts": []}], "control_threads": [[]]}')


if __name__ == "__main__":
    main()
