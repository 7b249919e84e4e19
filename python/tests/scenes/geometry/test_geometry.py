"""Outputs whose layout the orchestration decides: the comparison is rebuilt from what it wrote down."""

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import SceneTestCase, TaskArgsBuilder, TensorArg, scene_test

MARK = "../../../../tests/conformance/scenes/blocks_and_sync/kernels/mix/mark.cpp"
MOST = {"a2a3sim": 24, "a5sim": 36}


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestGeometry(SceneTestCase):
    CALLABLE = {
        "orchestration": {"source": "kernels/orchestration/geometry_orch.cpp", "function_name": "aicpu_orchestration_entry",
                          "signature": [D.INOUT, D.OUT]},
        "incores": [{"func_id": 0, "source": MARK, "core_type": "aiv", "signature": [D.INOUT]}],
    }
    CASES = [{"name": f"Default_{platform}", "platforms": [platform], "params": {"most": most}} for platform, most in MOST.items()]

    def generate_args(self, params):
        return TaskArgsBuilder(
            TensorArg("out", torch.zeros(40 * 16, dtype=torch.float32)),
            TensorArg("layout", torch.full((16,), -1, dtype=torch.int32)),
        )

    def compute_golden(self, args, params):
        """What must come out follows from what the orchestration found."""

    def compare_outputs(self, test_args, golden_args, output_names, params):
        clusters, vector_cores = (int(value) for value in test_args.layout[:2])
        assert 1 <= clusters <= params["most"] and vector_cores == 2 * clusters
        lines = test_args.out.view(-1, 16)
        expected = torch.zeros(lines.shape[0])
        expected[:clusters] = torch.arange(1, clusters + 1, dtype=torch.float32)
        if not torch.equal(lines[:, 0], expected):
            at = int(torch.nonzero(lines[:, 0] != expected)[0].item())
            raise AssertionError(f"line {at}: {float(lines[at, 0])} instead of {float(expected[at])}")
        assert int(torch.count_nonzero(lines[:, 1])) == clusters


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
