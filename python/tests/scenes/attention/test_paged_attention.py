"""Paged attention in bfloat16 over the shipped sources, with the golden that several tests share."""

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.goldens.paged_attention import compute_golden, generate_inputs

SOURCES = "../../../../scenes/paged_attention/kernels"
PLATFORMS = ["a2a3sim", "a5sim"]
COMMON = {"kv_head_num": 1, "max_model_len": 256, "dtype": "bfloat16", "num_heads": 16, "head_dim": 16, "block_size": 16}


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestPagedAttention(SceneTestCase):
    RTOL = 1e-3
    ATOL = 1e-3
    CALLABLE = {
        "orchestration": {
            "source": f"{SOURCES}/orchestration/attention.cpp",
            "function_name": "aicpu_orchestration_entry",
            "signature": [D.IN, D.IN, D.IN, D.IN, D.IN, D.OUT],
        },
        "incores": [
            {"func_id": 0, "name": "QK", "source": f"{SOURCES}/aic/qk.cpp", "core_type": "aic", "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "name": "SF", "source": f"{SOURCES}/aiv/softmax.cpp", "core_type": "aiv",
             "signature": [D.IN, D.OUT, D.OUT, D.OUT, D.SCALAR]},
            {"func_id": 2, "name": "PV", "source": f"{SOURCES}/aic/pv.cpp", "core_type": "aic", "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 3, "name": "UP", "source": f"{SOURCES}/aiv/update.cpp", "core_type": "aiv",
             "signature": [D.IN, D.IN, D.IN, D.INOUT, D.INOUT, D.INOUT, D.INOUT, D.SCALAR, D.SCALAR]},
        ],
    }
    CASES = [
        {"name": "CaseSmall1", "platforms": PLATFORMS, "params": {**COMMON, "batch": 1, "context_len": 33}},
        {"name": "CaseVarSeq2", "platforms": PLATFORMS, "manual": True,
         "params": {**COMMON, "batch": 2, "context_len": 33, "context_lens_list": [33, 17]}},
    ]

    def generate_args(self, params):
        specs = []
        for name, value in generate_inputs(params):
            specs.append(TensorArg(name, value) if isinstance(value, torch.Tensor) else Scalar(name, value))
        return TaskArgsBuilder(*specs)

    def compute_golden(self, args, params):
        tensors = {spec.name: spec.value for spec in args.specs if isinstance(spec, TensorArg)}
        compute_golden(tensors, params)


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
