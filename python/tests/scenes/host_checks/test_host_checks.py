"""Mistakes in a graph that is built ahead: one code, named in the log."""

import re
from pathlib import Path

import pytest
from simpler.task_interface import CallConfig, ChipCallable, CoreCallable
from simpler.worker import Worker
from simpler_setup.kernel_compiler import KernelCompiler

RUNTIME = "host_build_graph"
HERE = Path(__file__).resolve().parent / "kernels"


def build(platform, entry):
    compiler = KernelCompiler(platform=platform)
    include = compiler.get_orchestration_include_dirs(RUNTIME)
    children = [
        (number, CoreCallable.build(signature=[], binary=compiler.compile_incore(str(HERE / "nothing.cpp"), core_type=core, extra_include_dirs=include)))
        for number, core in enumerate(("aic", "aiv"))
    ]
    orchestration = compiler.compile_orchestration(RUNTIME, str(HERE / "mistakes.cpp"))
    return ChipCallable.build(signature=[], func_name=entry, binary=orchestration, children=children)


@pytest.mark.platforms(["a2a3sim", "a5sim"])
@pytest.mark.runtime(RUNTIME)
@pytest.mark.device_count(1)
@pytest.mark.parametrize("entry", ["no_blocks", "too_many_blocks", "read_of_nobody", "write_of_nobody"])
def test_a_mistake_is_refused(st_platform, st_device_ids, capfd, entry):
    worker = Worker(level=2, platform=st_platform, runtime=RUNTIME, device_id=int(st_device_ids[0]))
    handle = worker.register(build(st_platform, entry))
    worker.init()
    config = CallConfig()
    config.aicpu_thread_num = 2
    try:
        with pytest.raises(RuntimeError, match=r"run failed with code -5\b"):
            worker.run(handle, None, config)
    finally:
        worker.close()
    said = "".join(capfd.readouterr())
    assert "orch_error_code=5" in said and re.search(r"error detail:.*\bINVALID_ARGS\b", said) and "error hint:" in said
