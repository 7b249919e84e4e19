"""Everything a class or a case can set besides its sources, and methods that a class may replace."""

import os
import sys
from pathlib import Path

import pytest
import torch
from simpler.task_interface import ArgDirection as D
from simpler.task_interface import CallConfig
from simpler.worker import Worker
from simpler_setup import SceneTestCase, SceneTestLevel, TaskArgsBuilder, TensorArg, scene_level, scene_test

sys.path.insert(0, str(Path(__file__).resolve().parent / "kernels"))
from sizes import SIDE  # noqa: E402

os.environ["SCENE_HEADERS"] = str(Path(__file__).resolve().parent / "include")
RUNTIME = "tensormap_and_ringbuffer"
_PLATFORMS = ["a2a3sim", "a5sim"]
_COMMON_CONFIG = {"aicpu_thread_num": 3}


@scene_test(level=SceneTestLevel.CHIP, runtime=RUNTIME)
class TestSettings(SceneTestCase):
    RTOL = 0
    ATOL = 0
    RUNTIME_ENV = {"SCENE_TABLE_DIR": "kernels", "PTO2_RING_TASK_WINDOW": "128"}
    CALLABLE = {
        "orchestration": {"name": "one_task", "source": "kernels/orchestration/scale_orch.cpp",
                          "function_name": "aicpu_orchestration_entry", "signature": [D.IN, D.OUT]},
        "incores": [{"func_id": 0, "source": "kernels/aiv/scale.cpp", "core_type": "aiv", "signature": [D.IN, D.OUT],
                     "extra_include_dirs": ["not_there", "$SCENE_HEADERS"]}],
    }
    CASES = [
        {"name": "rings", "platforms": _PLATFORMS, "params": {"x": 2.0},
         "config": {**_COMMON_CONFIG, "runtime_env": {"ring_heap": [1 << 22] * 4, "ring_task_window": 64, "ring_dep_pool": 256}}},
        {"name": "no config", "platforms": _PLATFORMS, "params": {"x": -1.5}},
        {"name": "no_golden", "platforms": _PLATFORMS, "params": {"x": 0.0}, "skip_golden": True},
        {"name": "by_hand", "platforms": _PLATFORMS, "manual": "a5sim"},
    ]

    def generate_args(self, params):
        return TaskArgsBuilder(
            TensorArg("x", torch.full((SIDE, SIDE), params.get("x", 1.0), dtype=torch.float32)),
            TensorArg("out", torch.zeros(SIDE, SIDE, dtype=torch.float32)),
        )

    def compute_golden(self, args, params):
        assert params.get("x") != 0.0, "this case has no golden"
        args.out[:] = 3 * args.x

    def _build_config(self, config_dict, **kwargs):
        config = super()._build_config(config_dict, **kwargs)
        assert config.aicpu_thread_num == config_dict.get("aicpu_thread_num", 0)
        config.aicpu_thread_num = 2
        return config

    def compare_outputs(self, test_args, golden_args, output_names, params):
        assert list(output_names) == ["out"] and torch.equal(test_args.out, golden_args.out)
        super().compare_outputs(test_args, golden_args, output_names, params)


@scene_test(level=2, runtime=RUNTIME)
class TestWithoutGolden(TestSettings):
    SKIP_GOLDEN = True
    CALLABLE = {"orchestration": TestSettings.CALLABLE["orchestration"], "incores": TestSettings.CALLABLE["incores"]}
    CASES = TestSettings.CASES[:1]

    def compute_golden(self, args, params):
        raise AssertionError("this class has no golden")


@scene_level(SceneTestLevel.CHIP)
@pytest.mark.platforms(_PLATFORMS)
@pytest.mark.runtime(RUNTIME)
@pytest.mark.device_count(1)
@pytest.mark.parametrize("window", [16, [16, 32, 16, 16]], ids=["one", "four"])
def test_rings_are_set_for_a_worker_and_for_each_run(st_platform, st_device_ids, window):
    prewarm = CallConfig()
    prewarm.runtime_env.ring_task_window = window
    prewarm.validate()
    worker = Worker(level=2, platform=st_platform, runtime=RUNTIME, device_id=int(st_device_ids[0]))
    handle = worker.register(TestSettings.compile_chip_callable(st_platform))
    worker.init(prewarm_config=prewarm)
    x, out = torch.arange(256, dtype=torch.float32).reshape(16, 16), torch.zeros(16, 16)
    try:
        for heap in (1 << 20, [1 << 21] * 4):
            config = CallConfig()
            config.runtime_env.ring_heap = heap
            out.zero_()
            args, _ = _arguments(x, out)
            assert worker.run(handle, args, config) is None
            assert torch.equal(out, 3 * x)
    finally:
        worker.close()


def _arguments(x, out):
    from simpler_setup.scene_test import _build_l2_ref_args

    return _build_l2_ref_args(TaskArgsBuilder(TensorArg("x", x), TensorArg("out", out)), [D.IN, D.OUT])


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
