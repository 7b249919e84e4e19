"""Windows of time that the orchestration asks for."""

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import SceneTestCase, TaskArgsBuilder, TensorArg, scene_test
from simpler_setup.tools.strace_timing import group_invocations, parse_spans

SOURCES = "../../../../scenes/vector_example/kernels"
WALL = "chip.run.runner_run.device_wall"


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestTimingSlots(SceneTestCase):
    CALLABLE = {
        "orchestration": {"source": "kernels/orchestration/slots.cpp", "function_name": "aicpu_orchestration_entry",
                          "signature": [D.IN, D.IN, D.OUT]},
        "incores": [{"func_id": 0, "name": "add", "source": f"{SOURCES}/aiv/add.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]}],
    }
    CASES = [{"name": "default", "platforms": ["a2a3sim", "a5sim"], "params": {}}]

    def generate_args(self, params):
        return TaskArgsBuilder(*(TensorArg(name, torch.ones((128, 128), dtype=torch.float32)) for name in "abf"))

    def compute_golden(self, args, params):
        args.f[:] = args.a + 3 * args.b

    def test_windows_are_told(self, st_platform, st_worker, request, capfd):
        capfd.readouterr()
        super().test_run(st_platform, st_worker, request)
        (run,) = group_invocations(parse_spans(capfd.readouterr().err))
        found = {span.name: span for span in run.spans if ".task_slot_" in span.name}
        assert set(found) == {f"{WALL}.task_slot_2", f"{WALL}.task_slot_5"}
        first, second = found[f"{WALL}.task_slot_2"], found[f"{WALL}.task_slot_5"]
        assert first.dur > 0 and second.dur > 0 and first.ts + first.dur <= second.ts


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
