"""Callables at numbers of the test's own choice, in June's and in August's words, and what was loaded for them."""

import re
import tempfile
from pathlib import Path

import pytest
import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import SceneTestCase, TaskArgsBuilder, Tensor, TensorArg, scene_test
from simpler_setup.scene_test import _build_chip_task_args, _build_l2_ref_args, _compare_outputs

CONFORMANCE = "../../../../tests/conformance/scenes"
ADD_JUNE = f"{CONFORMANCE}/wrong_golden/kernels"
SHAPE = (4, 16)


class Prepared(SceneTestCase):
    """Runs a class's one case through numbers that the tests choose."""

    def generate_args(self, params):
        return TaskArgsBuilder(
            Tensor("x", torch.full(SHAPE, 2.0, dtype=torch.float32)),
            Tensor("y", torch.full(SHAPE, 3.0, dtype=torch.float32)),
            Tensor("out", torch.zeros(SHAPE, dtype=torch.float32)),
        )

    def compute_golden(self, args, params):
        args.out[:] = args.x + args.y


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestPreparedJune(Prepared):
    CALLABLE = {
        "orchestration": {"source": f"{ADD_JUNE}/orchestration/add_orch.cpp", "function_name": "aicpu_orchestration_entry",
                          "signature": [D.IN, D.IN, D.OUT]},
        "incores": [{"func_id": 0, "name": "add", "source": f"{ADD_JUNE}/aiv/add.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]}],
    }
    CASES = [{"name": "prepare_run_twice", "platforms": ["a2a3sim", "a5sim"], "config": {"aicpu_thread_num": 4, "block_dim": 3}, "params": {}}]

    def _run_and_validate_l2(self, worker, callable_obj, case, rounds=1, skip_golden=False, enable_l2_swimlane=False,
                             enable_dump_tensor=False, enable_pmu=0, enable_dep_gen=False, enable_scope_stats=False, output_prefix=""):
        worker.prepare_callable(0, callable_obj)
        try:
            for _ in range(2):
                self.run_at(worker, 0)
        finally:
            worker.unregister_callable(0)

    def run_at(self, worker, cid):
        args = self.generate_args({})
        chip_args, outputs = _build_chip_task_args(args, self.CALLABLE["orchestration"]["signature"])
        golden = args.clone()
        self.compute_golden(golden, {})
        worker.run(cid, chip_args, config=self._build_config(self.CASES[0]["config"]))
        _compare_outputs(args, golden, outputs, self.RTOL, self.ATOL)

    def test_first_runs_are_counted(self, st_platform, st_worker):
        made, before = self.build_callable(st_platform), st_worker.aicpu_dlopen_count
        st_worker.prepare_callable(1, made)
        assert st_worker.aicpu_dlopen_count == before
        self.run_at(st_worker, 1)
        self.run_at(st_worker, 1)
        assert st_worker.aicpu_dlopen_count - before == 1
        st_worker.prepare_callable(2, made)
        self.run_at(st_worker, 2)
        assert st_worker.aicpu_dlopen_count - before == 2
        st_worker.unregister_callable(1)
        self.run_at(st_worker, 2)
        assert st_worker.aicpu_dlopen_count - before == 2
        st_worker.unregister_callable(2)

    def test_a_live_number_is_not_prepared_again(self, st_platform, st_worker):
        made = self.build_callable(st_platform)
        st_worker.prepare_callable(3, made)
        with pytest.raises(RuntimeError, match="prepare_callable failed with code"):
            st_worker.prepare_callable(3, made)
        st_worker.unregister_callable(3)
        st_worker.prepare_callable(3, made)
        st_worker.unregister_callable(3)


def mapped():
    """Host orchestrations that this process has mapped."""
    text = Path("/proc/self/maps").read_text()
    here = re.escape(tempfile.gettempdir())
    return set(re.findall(rf"{here}/[^/\s]*orch_so_[^/\s]*", text))


@scene_test(level=2, runtime="host_build_graph")
class TestPreparedHost(SceneTestCase):
    CALLABLE = {
        "orchestration": {"source": f"{CONFORMANCE}/graph_replay/kernels/orchestration/replay_orch.cpp",
                          "function_name": "aicpu_orchestration_entry", "signature": [D.IN, D.IN, D.OUT]},
        "incores": [],
    }
    CASES = [{"name": "default", "platforms": ["a2a3sim", "a5sim"], "config": {}, "params": {}}]

    def generate_args(self, params):
        return TaskArgsBuilder(TensorArg("x", torch.zeros(4)))

    def test_run(self, st_platform, st_worker, request):
        """Nothing to run: the slots are what is tested."""

    def test_slots_have_images_of_their_own(self, st_platform, st_worker):
        chip, made = st_worker._chip_worker, self.build_callable(st_platform)
        before, counted = mapped(), st_worker.host_dlopen_count
        chip._register_callable_at_slot(3, made)
        assert len(mapped() - before) == 1 and st_worker.host_dlopen_count == counted + 1
        with pytest.raises(RuntimeError, match="register_callable failed"):
            chip._register_callable_at_slot(3, made)
        assert len(mapped() - before) == 1
        chip._register_callable_at_slot(4, made)
        assert len(mapped() - before) == 2 and st_worker.host_dlopen_count == counted + 2
        chip._unregister_slot(3)
        chip._unregister_slot(4)
        assert mapped() == before
        assert _build_l2_ref_args is _build_chip_task_args
