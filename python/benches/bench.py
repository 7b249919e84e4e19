"""How long the package takes, beside the command line where there is something to compare with.

    cargo build --release -p argus -p argus-python
    python python/benches/bench.py target/release

Each figure is processor time, the least of several runs; those of the package and of the tool are taken in turn.
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
from pathlib import Path

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


def cpu_seconds(command: list[str], **options: object) -> float:
    """Processor time of a program and its threads."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)  # type: ignore[call-overload]
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


IMPORT = """
import time
started = time.process_time()
import argus
print(time.process_time() - started)
"""

OPEN = """
import sys, time, argus, numpy, argus._arrays
started = time.process_time()
dump = argus.open(sys.argv[1])
array = dump[0].numpy()
print(time.process_time() - started, len(dump))
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
        seconds = min(float(python(IMPORT, packages)) for _ in range(ROUNDS))
        print(f"import argus: {seconds * 1e3:.1f} ms (limit 50)")
        answers = [python(OPEN, packages, str(large)).split() for _ in range(ROUNDS)]
        print(f"open {answers[0][1]} records and one array: {min(float(a) for a, _ in answers) * 1e3:.1f} ms (limit 30)")
        sparse_dump(place / "sparse", 4 << 30)
        megabytes, size = python(MEMORY, packages, str(place / "sparse")).split()
        print(f"open a dump of {int(size) >> 20} MiB: {float(megabytes):.1f} MB more memory (limit 100)")
        pairs = [
            ("statistics of all records", STATISTICS, [tool, "stats", str(large), "--by-kernel"]),
            ("find", FIND, [tool, "find", str(large)]),
        ]
        environment = {**os.environ, "PYTHONPATH": str(packages)}
        idle = min(cpu_seconds([sys.executable, "-c", "import argus"], env=environment) for _ in range(ROUNDS))
        for name, code, command in pairs:
            ours, theirs = [], []
            for _ in range(ROUNDS):
                ours.append(cpu_seconds([sys.executable, "-c", code, str(large)], env=environment) - idle)
                theirs.append(cpu_seconds(command))
            mine, tools = min(ours), min(theirs)
            print(f"{name}: {mine:.3f} s in Python, {tools:.3f} s by the tool, ratio {mine / tools:.2f}")
    finally:
        shutil.rmtree(place)


main()
