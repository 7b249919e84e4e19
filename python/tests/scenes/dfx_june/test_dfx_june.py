"""Files of a run that are asked for by a flag, each checked by the test itself. Imports its neighbour by its place."""

import csv
import ctypes
import json
import subprocess
import sys

import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import Scalar, SceneTestCase, TaskArgsBuilder, Tensor, scene_test
from simpler_setup.scene_test import _outputs_dir, _sanitize_for_filename

from ._validate import validate_swimlane

SOURCES = "../../../../tests/conformance/scenes/chain_elementwise/kernels"
MARKED = "../../../../tests/conformance/scenes/dump_marks/june/kernels"
T0, T1, T2 = 0, 1 << 32, (1 << 32) + 1


def newest(test, case):
    label = _sanitize_for_filename(f"{type(test).__name__}_{case}")
    return sorted(_outputs_dir().glob(f"{label}_*"), key=lambda path: path.stat().st_mtime)[-1]


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestDepGen(SceneTestCase):
    CALLABLE = {
        "orchestration": {"source": f"{SOURCES}/orchestration/chain_orch.cpp", "function_name": "aicpu_orchestration_entry",
                          "signature": [D.IN, D.IN, D.OUT]},
        "incores": [
            {"func_id": 0, "name": "add", "source": f"{SOURCES}/aiv/add.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "name": "scale", "source": f"{SOURCES}/aiv/scale.cpp", "core_type": "aiv", "signature": [D.IN, D.OUT]},
            {"func_id": 2, "name": "sub", "source": f"{SOURCES}/aiv/sub.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
        ],
    }
    CASES = [{"name": "default", "platforms": ["a2a3sim"], "config": {"aicpu_thread_num": 4, "block_dim": 3}, "params": {}}]

    def generate_args(self, params):
        return TaskArgsBuilder(
            Tensor("a", torch.full((16, 32), 2.0, dtype=torch.float32)),
            Tensor("b", torch.full((16, 32), 3.0, dtype=torch.float32)),
            Tensor("out", torch.zeros(16, 32, dtype=torch.float32)),
            Scalar("k", ctypes.c_float(2.0)),
        )

    def compute_golden(self, args, params):
        args.out[:] = 2.0 * (args.a + args.b) - args.a

    def test_run(self, st_platform, st_worker, request):
        super().test_run(st_platform, st_worker, request)
        if self._effective_enable_dep_gen(request):
            self.check(newest(self, "default"))

    def check(self, directory):
        deps = json.loads((directory / "deps.json").read_text())
        assert {(int(edge["pred"]), int(edge["succ"])) for edge in deps["edges"]} == {(T0, T1), (T1, T2)}
        assert [int(task["task_id"]) for task in deps["tasks"]] == [T0, T1, T2]
        known = {tensor["tensor_id"] for tensor in deps["tensors"]}
        for edge in deps["edges"]:
            assert edge["source"] == "creator" and edge["tensor_id"] in known
            assert edge["consumer_shape"] == [16, 32] and edge["consumer_strides"] == [32, 1]
            assert edge["consumer_start_offset"] == "0"


class TestFlag(TestDepGen):
    """The others run the same and look at other files."""

    OPTION = ""

    def test_run(self, st_platform, st_worker, request):
        SceneTestCase.test_run(self, st_platform, st_worker, request)
        if self.OPTION and request.config.getoption(self.OPTION):
            self.check(newest(self, "default"))


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestTensorDump(TestFlag):
    CALLABLE = dict(TestDepGen.CALLABLE)
    OPTION = "--dump-tensor"

    def check(self, directory):
        path = directory / "tensor_dump" / "tensor_dump.json"
        manifest = json.loads(path.read_text())
        assert manifest["tensors"] and all("kind" in record for record in manifest["tensors"])
        scalars = [record for record in manifest["tensors"] if record["kind"] == "scalar"]
        assert scalars
        for record in scalars:
            assert record["stage"] == "before_dispatch" and record["bin_size"] == 0 and "value" in record
        assert (path.parent / manifest["bin_file"]).stat().st_size > 0
        assert not list(directory.glob("**/args_dump.json"))
        command = [sys.executable, "-m", "simpler_setup.tools.dump_viewer", str(path.parent)]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestTensorDumpPartial(TestFlag):
    OPTION = "--dump-tensor"
    CALLABLE = {
        "orchestration": {"source": f"{MARKED}/orchestration/marks_orch.cpp", "function_name": "aicpu_orchestration_entry",
                          "signature": [D.IN, D.IN, D.OUT]},
        "incores": [
            {"func_id": 0, "name": "add", "source": f"{MARKED}/aiv/add.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]},
            {"func_id": 1, "name": "scale", "source": f"{MARKED}/aiv/scale.cpp", "core_type": "aiv", "signature": [D.IN, D.OUT]},
        ],
    }

    def generate_args(self, params):
        return TaskArgsBuilder(
            Tensor("a", torch.full((4, 16), 2.0, dtype=torch.float32)),
            Tensor("b", torch.full((4, 16), 3.0, dtype=torch.float32)),
            Tensor("out", torch.zeros(4, 16, dtype=torch.float32)),
        )

    def compute_golden(self, args, params):
        args.out[:] = 4 * (args.a + args.b) + args.a

    def check(self, directory):
        records = json.loads((directory / "tensor_dump" / "tensor_dump.json").read_text())["tensors"]
        assert sorted((record["stage"], record["role"]) for record in records) == [
            ("after_completion", "output"), ("after_completion", "output"), ("before_dispatch", "input"),
        ]


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestL2Swimlane(TestFlag):
    CALLABLE = dict(TestDepGen.CALLABLE)
    OPTION = "--enable-l2-swimlane"

    def check(self, directory):
        validate_swimlane(directory, 3)


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestPmu(TestFlag):
    CALLABLE = dict(TestDepGen.CALLABLE)
    OPTION = "--enable-pmu"

    def check(self, directory):
        with open(directory / "pmu.csv") as file:
            rows = list(csv.DictReader(file))
        assert len(rows) == 3
        assert {"thread_id", "core_id", "task_id", "func_id", "core_type", "pmu_total_cycles", "event_type", "vec_busy_cycles"} <= set(rows[0])
        assert {int(row["task_id"], 16) for row in rows} == {T0, T1, T2}


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestScopeStats(TestFlag):
    CALLABLE = dict(TestDepGen.CALLABLE)
    OPTION = "--enable-scope-stats"

    def check(self, directory):
        head, *rows = [json.loads(line) for line in (directory / "scope_stats" / "scope_stats.jsonl").read_text().splitlines()]
        assert head["version"] == 4 and head["fatal"] is False and head["dropped"] == 0
        assert len(rows) >= 4
        keys = {"site", "phase", "depth", "ring", "task_window_start", "task_window_end", "heap_start", "heap_end", "tensormap"}
        assert all(keys <= set(row) for row in rows)
        assert [(row["site"].split(":")[0], row["phase"], row["task_window_end"]) for row in rows] == [
            ("(unknown)", "begin", 0), ("chain_orch.cpp", "begin", 0), ("chain_orch.cpp", "end", 2), ("(unknown)", "end", 1),
        ]


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
