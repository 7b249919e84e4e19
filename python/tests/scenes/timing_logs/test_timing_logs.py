"""What a run of August says of its times, and at which level of the log."""

import re

import pytest
import torch
from simpler._log import get_current_config
from simpler.task_interface import CallConfig
from simpler.worker import Worker
from simpler_setup import TaskArgsBuilder, TensorArg
from simpler_setup.log_config import configure_logging
from simpler_setup.scene_test import _build_l2_ref_args
from simpler_setup.tools.strace_timing import group_invocations, parse_spans

from ..vector.test_vector_example import TestVectorExample as Vector


def run(platform, times):
    worker = Worker(level=2, platform=platform, runtime="tensormap_and_ringbuffer", device_id=0)
    handle = worker.register(Vector.compile_chip_callable(platform))
    worker.init()
    args, _ = _build_l2_ref_args(Vector().generate_args({"a": 1.0, "b": 2.0}), Vector.CALLABLE["orchestration"]["signature"])
    try:
        for _ in range(times):
            worker.run(handle, args, CallConfig())
    finally:
        worker.close()


@pytest.fixture
def level():
    before = get_current_config()
    yield configure_logging
    configure_logging(before)


@pytest.mark.platforms(["a2a3sim", "a5sim"])
def test_spans_of_each_run_are_told_at_the_default_level(st_platform, capfd):
    run(st_platform, 2)
    said = capfd.readouterr().err
    assert len(re.findall(r"\[STRACE\] .*name=chip\.run ", said)) == 2 and "AicpuExecutor: Initializing" not in said
    line = next(line for line in said.splitlines() if "[STRACE]" in line)
    keys = [part.split("=")[0] for part in line.split("[STRACE] ")[1].split()]
    assert keys[:9] == ["v", "pid", "tid", "inv", "hid", "depth", "name", "ts", "dur"]
    runs = group_invocations(parse_spans(said.splitlines()))
    assert len(runs) == 2 and len({spans.spans[0].inv for spans in runs}) == 2
    for spans in runs:
        by_name = spans.by_name()
        depths = {name: by_name[name].depth for name in by_name}
        assert depths == {"chip.run": 0, "chip.run.bind": 1, "chip.run.runner_run": 1, "chip.run.validate": 1,
                          "chip.run.runner_run.device_wall": 2}
        assert all(span.dur > 0 for span in spans.spans) and len({span.hid for span in spans.spans}) == 1
        assert by_name["chip.run"].dur >= by_name["chip.run.runner_run"].dur


@pytest.mark.platforms(["a2a3sim", "a5sim"])
@pytest.mark.parametrize(("name", "told"), [("info", True), (20, True), ("timing", False), ("error", False)])
def test_the_level_decides_what_is_told(st_platform, capfd, level, name, told):
    level(name)
    run(st_platform, 1)
    said = "".join(capfd.readouterr())
    assert ("AicpuExecutor: Initializing" in said) == told
    assert ("[STRACE]" in said) == (name != "error")


def test_a_name_that_is_no_level_means_the_default(level):
    level("nothing")
    assert get_current_config() == 25
    made = TaskArgsBuilder(TensorArg("x", torch.zeros(1)))
    assert made.tensor_names() == ["x"]
