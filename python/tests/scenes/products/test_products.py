"""Sums of matrix products: random inputs, counts in a tensor and in a scalar, a golden through views of flat tensors."""

import ctypes

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, Tensor, scene_test

SIDE = 64


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestProducts(SceneTestCase):
    RTOL = 1e-3
    ATOL = 1e-3
    CALLABLE = {
        "orchestration": {"source": "kernels/orchestration/products_orch.cpp", "function_name": "aicpu_orchestration_entry",
                          "signature": [D.IN, D.IN, D.INOUT, D.IN]},
        "incores": [
            {"func_id": 0, "source": "kernels/aic/product.cpp", "core_type": "aic", "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "source": "kernels/aiv/accumulate.cpp", "core_type": "aiv", "signature": [D.IN, D.INOUT]},
        ],
    }
    CASES = [
        {"name": "Few", "platforms": ["a2a3sim", "a5sim"], "config": {"aicpu_thread_num": 4, "block_dim": 3},
         "params": {"groups": 4, "steps": 2}},
        {"name": "Many", "platforms": ["a2a3sim", "a5sim"], "config": {"aicpu_thread_num": 4, "block_dim": 24}, "manual": True,
         "params": {"groups": 32, "steps": 4}},
    ]

    def generate_args(self, params):
        torch.manual_seed(42)
        groups, steps = params["groups"], params["steps"]
        return TaskArgsBuilder(
            Tensor("A", (torch.randn(groups, steps, SIDE, SIDE, dtype=torch.float32) * 0.01).flatten()),
            Tensor("B", (torch.randn(groups, steps, SIDE, SIDE, dtype=torch.float32) * 0.01).flatten()),
            Tensor("C", torch.zeros(groups * SIDE * SIDE, dtype=torch.float32)),
            Tensor("counts", torch.tensor([groups, SIDE], dtype=torch.int64)),
            Scalar("steps", ctypes.c_int64(steps)),
        )

    def compute_golden(self, args, params):
        groups, steps = (int(args.counts[0]), args.steps.value)
        A = args.A.reshape(groups, steps, SIDE, SIDE)
        B = args.B.reshape(groups, steps, SIDE, SIDE)
        C = args.C.reshape(groups, SIDE, SIDE)
        C[:] = 0.0
        for group in range(groups):
            for step in range(steps):
                C[group, :, :] += torch.matmul(A[group, step], B[group, step])


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
