"""Limits of the rings by configuration: code, text of the exception, lines of the log."""

import re
from pathlib import Path

import pytest
from simpler.task_interface import CallConfig, ChipCallable
from simpler.worker import Worker
from simpler_setup.kernel_compiler import KernelCompiler

RUNTIME = "tensormap_and_ringbuffer"
SOURCE = Path(__file__).resolve().parent / "kernels/fatal_orch.cpp"


@pytest.mark.platforms(["a2a3sim", "a5sim"])
@pytest.mark.runtime(RUNTIME)
@pytest.mark.parametrize(
    ("code", "name", "entry", "ring", "size"),
    [
        (2, "HEAP_RING_DEADLOCK", "heap_entry", "ring_heap", 1024),
        (3, "FLOW_CONTROL_DEADLOCK", "window_entry", "ring_task_window", 4),
        (4, "DEP_POOL_OVERFLOW", "edges_entry", "ring_dep_pool", 4),
    ],
)
def test_a_limit_has_its_code(st_platform, st_device_ids, capfd, code, name, entry, ring, size):
    binary = KernelCompiler(platform=st_platform).compile_orchestration(RUNTIME, str(SOURCE))
    made = ChipCallable.build(signature=[], func_name=entry, binary=binary, children=[])
    worker = Worker(level=2, platform=st_platform, runtime=RUNTIME, device_id=int(st_device_ids[0]))
    handle = worker.register(made)
    worker.init()
    config = CallConfig()
    config.aicpu_thread_num = 2
    setattr(config.runtime_env, ring, size)
    try:
        with pytest.raises(RuntimeError, match=rf"run failed with code -{code}\b"):
            worker.run(handle, None, config)
    finally:
        worker.close()
    said = "".join(capfd.readouterr())
    assert f"orch_error_code={code}" in said
    assert re.search(rf"error detail:.*\b{name}\b", said) and "error hint:" in said


@pytest.mark.parametrize(
    ("ring", "value"), [("ring_task_window", 6), ("ring_task_window", 2), ("ring_heap", 1000), ("ring_dep_pool", 3), ("ring_heap", [1024, 1024])]
)
def test_sizes_that_make_no_sense_are_refused(ring, value):
    with pytest.raises(ValueError):
        setattr(CallConfig().runtime_env, ring, value)
