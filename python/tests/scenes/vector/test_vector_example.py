"""A diamond of vector tasks over the shipped sources; three cases share one orchestration object."""

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import SceneTestCase, TaskArgsBuilder, TensorArg, scene_test

SOURCES = "../../../../scenes/vector_example/kernels"
SIZE = 128 * 128
PLATFORMS = ["a2a3sim", "a5sim"]


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestVectorExample(SceneTestCase):
    RTOL = 1e-5
    ATOL = 1e-5
    CALLABLE = {
        "orchestration": {
            "source": f"{SOURCES}/orchestration/diamond.cpp",
            "function_name": "aicpu_orchestration_entry",
            "signature": [D.IN, D.IN, D.OUT],
        },
        "incores": [
            {"func_id": 0, "name": "add", "source": f"{SOURCES}/aiv/add.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "name": "add_scalar", "source": f"{SOURCES}/aiv/add_scalar.cpp", "core_type": "aiv", "signature": [D.IN, D.OUT, D.SCALAR]},
            {"func_id": 2, "name": "mul", "source": f"{SOURCES}/aiv/mul.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
        ],
    }
    CASES = [
        {"name": "default", "platforms": PLATFORMS, "config": {"aicpu_thread_num": 4}, "params": {"a": 2.0, "b": 3.0}},
        {"name": "second_hit", "platforms": PLATFORMS, "params": {"a": 1.0, "b": 4.0}},
        {"name": "third_hit", "platforms": PLATFORMS, "params": {"a": 0.5, "b": 0.5}, "manual": ["a5sim"]},
    ]

    def generate_args(self, params):
        return TaskArgsBuilder(
            TensorArg("a", torch.full((SIZE,), params["a"], dtype=torch.float32)),
            TensorArg("b", torch.full((SIZE,), params["b"], dtype=torch.float32)),
            TensorArg("f", torch.zeros(SIZE, dtype=torch.float32)),
        )

    def compute_golden(self, args, params):
        c = args.a + args.b
        args.f[:] = (c + 1) * (c + 2) + c


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
