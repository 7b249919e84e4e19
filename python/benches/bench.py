"""How long the package takes, beside the command line where there is something to compare with.

    cargo build --release -p argus -p argus-python
    python python/benches/bench.py target/release

Each figure is the least of several runs, as processor time and as time on the clock; those of the package and of the tool are
taken in turn. What a scene test costs is measured by ``scene_test.py`` beside this file.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 7


def package(built: Path, place: Path) -> Path:
    """The package as it lies in the sources, with the module that was built."""
    inside = place / "package" / "argus"
    inside.mkdir(parents=True)
    for source in (ROOT / "python/argus").iterdir():
        if source.name != "__pycache__":
            (inside / source.name).symlink_to(source)
    (inside / "_native.abi3.so").symlink_to(built / "lib_native.so")
    return inside.parent


def python(code: str, packages: Path, *arguments: str) -> str:
    """Runs code in a fresh interpreter."""
    environment = {**os.environ, "PYTHONPATH": str(packages)}
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout


class Spent(NamedTuple):
    """Processor time of a program and its threads, and time on the clock, in seconds."""

    cpu: float
    wall: float


def least(times: list[Spent]) -> Spent:
    return Spent(min(one.cpu for one in times), min(one.wall for one in times))


def spent(command: list[str], **options: object) -> Spent:
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    after, ended = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    return Spent(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, ended - began)


def told(code: str, packages: Path, *arguments: str) -> tuple[Spent, str]:
    """The least of what code in a fresh interpreter says that it spent, and whatever else it says."""
    answers = [python(code, packages, *arguments).split() for _ in range(ROUNDS)]
    return least([Spent(float(cpu), float(wall)) for cpu, wall, *_ in answers]), answers[0][-1]


IMPORT = """
import time
cpu, wall = time.process_time(), time.perf_counter()
import argus
print(time.process_time() - cpu, time.perf_counter() - wall)
"""

OPEN = """
import sys, time, argus, numpy, argus._arrays
cpu, wall = time.process_time(), time.perf_counter()
dump = argus.open(sys.argv[1])
array = dump[0].numpy()
print(time.process_time() - cpu, time.perf_counter() - wall, len(dump))
"""

MEMORY = """
import resource, sys, argus
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
dump = argus.open(sys.argv[1])
array = dump[0].numpy()
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024, array.nbytes)
"""

STATISTICS = """
import sys, argus
total = 0
dump = argus.open(sys.argv[1])
for record, statistics in zip(dump, dump.statistics()):
    if statistics is not None:
        total += statistics.count
"""

FIND = """
import sys, argus
argus.find(sys.argv[1])
"""


def sparse_dump(place: Path, size: int) -> None:
    """A dump in the reference's layout with a payload of this size, of which the file system stores nothing."""
    rows = size // 4096
    entry = {
        "task_id": "0x0000000000000001",
        "role": "output",
        "stage": "after_completion",
        "arg_index": 0,
        "kind": "tensor",
        "dtype": "float32",
        "is_contiguous": True,
        "shape": [rows, 1024],
        "start_offset": 0,
        "strides": [1024, 1],
        "overwritten": False,
        "truncated": False,
        "bin_offset": 0,
        "bin_size": size,
    }
    head = {"run_dir": "run", "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"}}
    head |= {"total_tensors": 1, "before_dispatch": 0, "after_completion": 1, "input_tensors": 0, "output_tensors": 1}
    head |= {"inout_tensors": 0, "truncated_tensors": 0, "dropped_records": 0, "dropped_overwrite": 0}
    head |= {"bin_file": "tensor_dump.bin", "tensors": [entry]}
    place.mkdir()
    (place / "tensor_dump.json").write_text(json.dumps(head))
    with (place / "tensor_dump.bin").open("wb") as payload:
        payload.truncate(size)


def main() -> None:
    built = Path(sys.argv[1]).resolve()
    tool = str(built / "argus")
    place = Path(tempfile.mkdtemp(prefix="argus-bench-"))
    try:
        packages = package(built, place)
        large = place / "large"
        subprocess.run([tool, "run", "paged_attention", "--case", "large", "--dump-tensor", "-o", large], check=True, stdout=subprocess.DEVNULL)
        (cpu, wall), _ = told(IMPORT, packages)
        print(f"import argus: CPU {cpu * 1e3:.1f} ms, wall {wall * 1e3:.1f} ms (limit 50)")
        (cpu, wall), records = told(OPEN, packages, str(large))
        print(f"open {records} records and one array: CPU {cpu * 1e3:.1f} ms, wall {wall * 1e3:.1f} ms (limit 30)")
        sparse_dump(place / "sparse", 4 << 30)
        megabytes, size = python(MEMORY, packages, str(place / "sparse")).split()
        print(f"open a dump of {int(size) >> 20} MiB: {float(megabytes):.1f} MB more memory (limit 100)")
        pairs = [
            ("statistics of all records", STATISTICS, [tool, "stats", str(large), "--by-kernel"]),
            ("find (limit 1.05)", FIND, [tool, "find", str(large)]),
        ]
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        idle = least([spent([sys.executable, "-c", "import argus"], env=environment) for _ in range(ROUNDS)])
        for name, code, command in pairs:
            ours, theirs = [], []
            for _ in range(ROUNDS):
                ours.append(spent([sys.executable, "-c", code, str(large)], env=environment))
                theirs.append(spent(command))
            for kind in Spent._fields:
                mine, tools = getattr(least(ours), kind) - getattr(idle, kind), getattr(least(theirs), kind)
                print(f"{name}, {kind}: {mine:.3f} s in Python, {tools:.3f} s by the tool, ratio {mine / tools:.2f}")
        print("a scene test besides its compiler, inputs and golden (limit 50 ms)", flush=True)
        subprocess.run([sys.executable, str(Path(__file__).with_name("scene_test.py"))], check=True, env=environment)
    finally:
        shutil.rmtree(place)


main()
