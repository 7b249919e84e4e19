"""The same in August's names, over the shipped diamond."""

import json

import pytest
from simpler_setup import SceneTestCase, scene_test
from simpler_setup.scene_test import _outputs_dir, _sanitize_for_filename
from simpler_setup.tools.swimlane_converter import read_perf_data

from ..vector.test_vector_example import TestVectorExample as Vector

T0, T1, T2, T3, T4 = 0, *((1 << 32) + n for n in range(4))


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestDiagnostics(Vector):
    CALLABLE = dict(Vector.CALLABLE)
    CASES = [dict(Vector.CASES[0])]

    def test_run(self, st_platform, st_worker, request):
        assert [case["name"] for case in self._matching_cases(st_platform, request)] == ["default"]
        super().test_run(st_platform, st_worker, request)
        label = _sanitize_for_filename("TestDiagnostics_default")
        found = sorted(_outputs_dir().glob(f"{label}_*"), key=lambda path: path.stat().st_mtime)
        if not found:
            pytest.skip("no flag was given")
        self.check(found[-1], request.config)

    def check(self, directory, config):
        if config.getoption("--enable-dep-gen"):
            deps = json.loads((directory / "deps.json").read_text())
            edges = {(int(edge["pred"]), int(edge["succ"])) for edge in deps["edges"]}
            assert edges == {(T0, T1), (T0, T2), (T1, T3), (T2, T3), (T0, T4), (T3, T4)}
            assert [task["kernel_ids"] for task in deps["tasks"]] == [[-1, 0, -1], [-1, 1, -1], [-1, 1, -1], [-1, 2, -1], [-1, 0, -1]]
            assert "unique_task_edges: 6" in (directory / "deps_viewer.txt").read_text()
        if config.getoption("--enable-chip-swimlane"):
            records = directory / "chip_swimlane_records.json"
            raw, read = json.loads(records.read_text()), read_perf_data(records)
            assert len(raw["aicore_tasks"]) == len(read["tasks"]) == 5
            joined = {(row[0], row[1]): row[2:] for row in raw["aicpu_tasks"]}
            for core, _, token, start, end, setup in raw["aicore_tasks"]:
                dispatch, finish = joined[core, token]
                assert dispatch <= start - setup <= start <= end <= finish
        if config.getoption("--enable-scope-stats"):
            head = json.loads((directory / "scope_stats" / "scope_stats.jsonl").read_text().splitlines()[0])
            assert head["version"] == 6 and head["total"] == 4
        if config.getoption("--dump-args"):
            assert (directory / "args_dump" / "args_dump.json").is_file()


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
