"""The files that a run writes when it is asked to, in the reference's layouts."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from argus import _native
from argus.compat import deps, journal, layout, pmu, scopes, swimlane

#: Our own dump of a run, beside the files in the reference's layouts.
DUMP = "argus"


class Plan:
    """What a run is to write, and where."""

    def __init__(self, callable_: Any, config: Any, platform: str, has_slots: bool = False) -> None:
        self.callable = callable_
        self.config = config
        self.platform = platform
        self.prefix = Path(config.output_prefix) if config.diagnostics else None
        self.dump = self.prefix / DUMP if self.prefix else None
        self.has_slots = has_slots
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        if has_slots and self.dump is None:
            # The times of single tasks are only known of a run that is recorded.
            self._scratch = tempfile.TemporaryDirectory(prefix="argus_slots_")
            self.dump = Path(self._scratch.name)

    def close(self) -> None:
        if self._scratch is not None:
            self._scratch.cleanup()
            self.dump = None

    @property
    def is_august(self) -> bool:
        return bool(self.callable.generation == "august")

    @property
    def level(self) -> str:
        """What is captured: what the dump was asked for, else as little as the other files need."""
        asked = int(self.config.enable_dump_tensor)
        if asked and not self.is_august:
            return "full"
        return {0: "off", 1: "partial", 2: "full", 3: "hybrid"}[asked]

    def capture(self) -> dict[str, Any] | None:
        if self.dump is None:
            return None
        self.dump.mkdir(parents=True, exist_ok=True)
        for old in self.dump.iterdir():
            # June's rounds all write to one directory; the last one stays.
            shutil.rmtree(old) if old.is_dir() else old.unlink()
        scene = self.callable.scene
        name = getattr(scene, "name", None) or self.callable.func_name
        return {
            "directory": self.dump,
            "level": self.level,
            "scene": name,
            "case": getattr(scene, "case", None) or "",
        }

    def journal(self) -> Path | None:
        wanted = self.config.enable_dep_gen or self.config.enable_scope_stats or self.has_slots
        return self.dump / journal.FILE if self.dump is not None and wanted else None

    def write(self, answer: Any) -> None:
        """Writes the files that were asked for out of our own dump."""
        if self.prefix is None or self.dump is None:
            return
        config, failed = self.config, answer["error"] is not None
        if config.enable_scope_stats:
            self._write_scopes(answer)
        if failed or answer["records"] is None:
            # As the reference: a failed run has no graph and no times. Our own dump has what was captured.
            return
        # A second run of the same configuration writes to the same place.
        shutil.rmtree(self.prefix / ("args_dump" if self.is_august else "tensor_dump"), ignore_errors=True)
        if config.enable_dump_tensor and answer["records"]:
            _native.convert_dump(self.dump, "august" if self.is_august else "june", self.prefix)
            tasks = self._read("graph.json")["tasks"]
            blocks = {task["task_id"]: task["blocks"] for task in tasks if task["blocks"] > 1}
            layout.adapt(self.prefix, blocks, self._is_host_built and not self.is_august)
        if config.enable_dep_gen:
            self._write_deps()
        if config.enable_l2_swimlane or config.enable_pmu:
            self._write_times()

    def slot_windows(self) -> dict[int, tuple[int, int]]:
        """For each slot that tasks were given: when the first of them was dispatched and when the last had finished."""
        if not self.has_slots or self.dump is None or not (self.dump / "graph.json").is_file():
            return {}
        times = {int(task["task_id"], 16): task for task in self._read("graph.json")["tasks"]}
        windows: dict[int, tuple[int, int]] = {}
        for submit in journal.read(self.dump / journal.FILE).submits:
            task = times.get(submit["task"])
            if submit["slot"] is None or task is None or task["finished_ns"] is None:
                continue
            start, end = windows.get(submit["slot"], (task["dispatched_ns"], 0))
            windows[submit["slot"]] = (min(start, task["dispatched_ns"]), max(end, task["finished_ns"]))
        return windows

    def _read(self, name: str) -> Any:
        assert self.dump is not None
        return json.loads((self.dump / name).read_text())

    @property
    def _is_host_built(self) -> bool:
        return bool(self.callable.binary.runtime == "host_build_graph")

    def _write_deps(self) -> None:
        assert self.prefix is not None and self.dump is not None
        graph, calls = self._read("graph.json"), journal.read(self.dump / journal.FILE)
        if not self.is_august and self.callable.binary.runtime != "tensormap_and_ringbuffer":
            # Every edge was declared.
            told = deps.of_graph(graph)
        elif not calls.is_complete:
            return warn("deps.json is not written: the orchestration's calls were not recorded to their end")
        else:
            told = deps.of_run(calls.submits, self.callable.generation, self._is_host_built)
            differs = deps.disagreement(told, graph, self._is_host_built)
            # A run with edges for every hazard has more of them.
            if differs and not complete_hazards():
                return warn(f"deps.json is not written: {differs}")
        (self.prefix / "deps.json").write_text(json.dumps(told, separators=(",", ":")))

    def _write_scopes(self, answer: Any) -> None:
        assert self.prefix is not None and self.dump is not None
        if self._is_host_built and not self.is_august:
            return
        calls = journal.read(self.dump / journal.FILE)
        rings = answer["rings"]
        rows = [] if self._is_host_built else calls.scopes
        directory = self.prefix / "scope_stats"
        directory.mkdir(exist_ok=True)
        if self._is_host_built:
            rings = [dict.fromkeys(ring, 0) for ring in rings]
        text = scopes.text(rows, rings, self.callable.generation, answer["error"] is not None)
        (directory / "scope_stats.jsonl").write_text(text)

    def _write_times(self) -> None:
        assert self.prefix is not None
        clusters = self._read("run.json")["configuration"]["clusters"]
        graph = self._read("graph.json")
        found = swimlane.lanes(self._read("timeline.json"), graph, clusters)
        arch = self.platform.removesuffix("sim")
        level = int(self.config.enable_l2_swimlane)
        if level and found.parts:
            name = "chip_swimlane_records.json" if self.is_august else "l2_swimlane_records.json"
            told = swimlane.august(found, level, arch) if self.is_august else swimlane.june(found, level)
            (self.prefix / name).write_text(json.dumps(told, indent=1) + "\n")
        if self.config.enable_pmu and found.parts:
            event = os.environ.get("SIMPLER_PMU_EVENT_TYPE", "")
            pmu.write(self.prefix, found, int(event) if event.isdigit() else int(self.config.enable_pmu), arch)


def complete_hazards() -> bool:
    """Whether runs have edges for every hazard, not only for those that the reference tracks."""
    return os.environ.get("ARGUS_DEPS", "reference") == "complete"


def warn(text: str) -> None:
    sys.stderr.write(f"[WARN] {text}\n")
