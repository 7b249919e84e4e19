"""Tests that must fail, each for its own reason: the golden, a kernel's result, a kernel's memory, a crash.
The last one passes."""

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import SceneTestCase, TaskArgsBuilder, TensorArg, scene_test

SOURCES = "../../../scenes/vector_example/kernels"


def callable_with(add):
    return {
        "orchestration": {"source": f"{SOURCES}/orchestration/diamond.cpp", "function_name": "aicpu_orchestration_entry",
                          "signature": [D.IN, D.IN, D.OUT]},
        "incores": [
            {"func_id": 0, "name": "add", "source": add, "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "name": "add_scalar", "source": f"{SOURCES}/aiv/add_scalar.cpp", "core_type": "aiv", "signature": [D.IN, D.OUT, D.SCALAR]},
            {"func_id": 2, "name": "mul", "source": f"{SOURCES}/aiv/mul.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
        ],
    }


class Diamond(SceneTestCase):
    CASES = [{"name": "default", "platforms": ["a2a3sim", "a5sim"], "params": {"bias": 0.0}}]

    def generate_args(self, params):
        return TaskArgsBuilder(
            TensorArg("a", torch.full((128, 128), 2.0, dtype=torch.float32)),
            TensorArg("b", torch.full((128, 128), 3.0, dtype=torch.float32)),
            TensorArg("f", torch.zeros((128, 128), dtype=torch.float32)),
        )

    def compute_golden(self, args, params):
        c = args.a + args.b
        args.f[:] = (c + 1) * (c + 2) + c
        args.f[7, 9] = args.f[7, 9] + params["bias"]


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestWrongGolden(Diamond):
    CALLABLE = callable_with(f"{SOURCES}/aiv/add.cpp")
    CASES = [{"name": "default", "platforms": ["a2a3sim", "a5sim"], "params": {"bias": 0.5}}]


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestWrongKernel(Diamond):
    CALLABLE = callable_with("kernels/add_last_row_missing.cpp")


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestWrongKernelByKernel(Diamond):
    """The same mistake; what each kernel should compute is said too."""

    CALLABLE = callable_with("kernels/add_last_row_missing.cpp")

    def golden_add(self, task):
        first, second = task.inputs
        return first + second

    def golden_mul(self, task):
        first, second = task.inputs
        return first * second


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestFaultingKernel(Diamond):
    CALLABLE = callable_with("kernels/add_beyond.cpp")


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestCrashingKernel(Diamond):
    CALLABLE = callable_with("kernels/add_crash.cpp")


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestRightAfterAll(Diamond):
    """What crashed before does not end what comes after."""

    CALLABLE = callable_with(f"{SOURCES}/aiv/add.cpp")


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
