"""What a scene test costs besides its compiler, its inputs and its golden.

    python python/benches/scene_test.py [REPETITIONS]

One case of a shipped scene runs again and again in one process; the time of its own methods is taken off. With and
without a dump. Processor time of this process and of the child that each run is isolated in, and wall time; the smallest and
the middle of all runs.
"""

from __future__ import annotations

import importlib.util
import os
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable

from argus.compat import activate

activate()
FILE = Path(__file__).resolve().parents[1] / "tests/scenes/vector/test_vector_example.py"


def test_class() -> Any:
    spec = importlib.util.spec_from_file_location("vector_example_benchmark", FILE)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module.TestVectorExample


def processor_time() -> float:
    """Of this process and of those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


class Clock:
    """Adds up the time that is the test's own."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def around(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*arguments: Any, **named: Any) -> Any:
            cpu, wall = processor_time(), time.perf_counter()
            try:
                return work(*arguments, **named)
            finally:
                self.cpu += processor_time() - cpu
                self.wall += time.perf_counter() - wall

        return timed


def measure(repetitions: int, dump: int) -> tuple[list[float], list[float]]:
    from simpler.worker import Worker
    from simpler_setup._flags import Flags

    cls = test_class()
    clock = Clock()
    for name in ("generate_args", "compute_golden"):
        setattr(cls, name, clock.around(getattr(cls, name)))
    worker = Worker(level=2, device_id=0, platform="a2a3sim", runtime=cls._st_runtime)
    worker.init()
    case, flags = cls.CASES[0], Flags(dump=dump)
    cls()._st_run_case(worker, "a2a3sim", case, flags)
    cpu_times, wall_times = [], []
    for _ in range(repetitions):
        clock.cpu = clock.wall = 0.0
        cpu, wall = processor_time(), time.perf_counter()
        cls()._st_run_case(worker, "a2a3sim", case, flags)
        cpu_times.append(processor_time() - cpu - clock.cpu)
        wall_times.append(time.perf_counter() - wall - clock.wall)
    worker.close()
    return cpu_times, wall_times


def main() -> None:
    from argus.compat import engine

    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 50
    engine.set_log_threshold("error")
    with tempfile.TemporaryDirectory() as outputs:
        os.environ["ARGUS_OUTPUTS"] = outputs
        for words, dump in (("without files", 0), ("with a full dump", 2)):
            cpu, wall = measure(repetitions, dump)
            told = [f"{1000 * value:.1f}" for value in (min(cpu), statistics.median(cpu), min(wall), statistics.median(wall))]
            print(f"  {words}: CPU {told[0]} ms least, {told[1]} ms median; wall {told[2]} ms least, {told[3]} ms median")


if __name__ == "__main__":
    main()
