"""Scene tests of the conformance suite, unchanged, through the commands that were recorded with the reference.

A fixed part of them always. With ``ARGUS_LONG`` all of them, through pytest too, and all of that once more with torch
where ``ARGUS_TORCH_PYTHON`` names an interpreter that has it.
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

SCENES = Path(__file__).resolve().parents[2] / "tests/conformance/scenes"
ALWAYS = (
    "chain_elementwise", "dump_marks", "wrong_golden", "wrong_kernel", "worker_direct", "fatal_stop", "blocks_and_sync",
    "legacy_graph",
)
LONG = bool(os.environ.get("ARGUS_LONG"))
PYTHONS = {"own": sys.executable}
if LONG and os.environ.get("ARGUS_TORCH_PYTHON"):
    PYTHONS["torch"] = os.environ["ARGUS_TORCH_PYTHON"]
#: Fields that the comparison of the suite leaves free.
FREE = {"bin_offset", "truncated", "overwritten", "numel"}
#: Inputs whose bytes depend on when the reference looked: those of a block while other blocks run, and those of a task
#: that is placed early. We capture them when they are final.
OTHER_INPUTS = ("blocks_and_sync", "ring_pressure")
#: Memory comes back while it runs, so which tensors lie at one address, and have one number, is a matter of time.
SMALL_RINGS = "ring_pressure"


class Recorded(NamedTuple):
    """A command of the suite with the directories of the cases that it ran."""

    scene: Path
    command: str
    cases: list[Path]

    @property
    def label(self) -> str:
        return f"{self.scene.relative_to(SCENES)}-{self.cases[0].parent.name}-{self.cases[0].name}"

    def outcomes(self) -> list[tuple[Path, dict[str, Any]]]:
        return [(case, json.loads((case / "outcome.json").read_text())) for case in self.cases]


def recorded() -> list[Recorded]:
    found: dict[tuple[Path, str], Recorded] = {}
    for path in sorted(SCENES.glob("**/outcome.json")):
        case = path.parent
        if LONG or case.relative_to(SCENES).parts[0] in ALWAYS:
            scene, command = case.parents[2], json.loads(path.read_text())["command"]
            found.setdefault((scene, command), Recorded(scene, command, [])).cases.append(case)
    return list(found.values())


def through_pytest() -> list[Recorded]:
    """The recorded programs as runs of pytest. A class stops there at its first failure, so those run case by case."""
    made = []
    for one in recorded() if LONG else []:
        outcomes = one.outcomes()
        if not one.command.startswith("python ") or not any(map(has_artefacts, one.cases)):
            continue
        command = one.command.replace("python ", "pytest ", 1).replace(" -p ", " --platform ")
        if all(outcome["outcome"] == "PASSED" for _, outcome in outcomes):
            made.append(one._replace(command=command))
        else:
            made += [one._replace(command=f"{command} --case {outcome['test']}", cases=[case]) for case, outcome in outcomes]
    return made


def run(scene: Path, command: str, outputs: Path, python: str = sys.executable) -> subprocess.CompletedProcess[str]:
    program, *arguments = command.split()
    environment = {**os.environ, "ARGUS_OUTPUTS": str(outputs), "ARGUS_PYTHON": python}
    environment.pop("PYTEST_CURRENT_TEST", None)
    start = [python, "-m", "argus.compat"]
    if program == "pytest":
        start += ["-m", "pytest", "-p", "no:cacheprovider"]
    elif program == "argus":
        start = [os.environ["ARGUS_PROGRAM"]]
    return subprocess.run([*start, *arguments], cwd=scene, env=environment, capture_output=True, text=True, check=False)


def has_dump(case: Path) -> bool:
    return any(path.is_dir() and path.name.endswith("_dump") for path in case.iterdir())


def has_artefacts(case: Path) -> bool:
    return has_dump(case) or (case / "deps.json").exists()


def records(directory: Path, with_inputs: bool) -> collections.Counter[tuple[str, bytes]]:
    """Records with their bytes; those of inputs where they are asked for."""
    (path,) = directory.glob("*_dump/*_dump.json")
    manifest = json.loads(path.read_text())
    payload = path.parent / (manifest["bin_file"] or "none")
    content = payload.read_bytes() if payload.exists() else b""
    found: collections.Counter[tuple[str, bytes]] = collections.Counter()
    for record in manifest["tensors" if "tensors" in manifest else "args"]:
        key = json.dumps({name: value for name, value in record.items() if name not in FREE}, sort_keys=True)
        data = content[record["bin_offset"] : record["bin_offset"] + record["bin_size"]]
        found[key, data if with_inputs or record["stage"] == "after_completion" else b""] += 1
    return found


def graph(directory: Path, with_tensors: bool) -> tuple[list[str], list[str], collections.Counter[str]]:
    """Tasks, tensors and edges of a deps.json. Tensors are numbered as they appear: their addresses are free."""
    told = json.loads((directory / "deps.json").read_text())
    numbers: dict[str, str] = {}

    def plain(row: dict[str, object]) -> str:
        row = {name: value for name, value in row.items() if name != "buffer_addr" and (with_tensors or name != "tensor_id")}
        if "args" in row:
            row["args"] = [plain(argument) for argument in row["args"]]
        if "tensor_id" in row:
            row["tensor_id"] = numbers.setdefault(str(row["tensor_id"]), f"tensor {len(numbers)}")
        return json.dumps(row, sort_keys=True)

    tasks = [plain(task) for task in told["tasks"]]
    tensors = [plain(tensor) for tensor in told["tensors"]] if with_tensors else []
    return tasks, tensors, collections.Counter(plain(edge) for edge in told["edges"])


def names(directory: Path) -> dict[str, Any]:
    """The maps from numbers to names of kernels."""
    return {path.name: json.loads(path.read_text()) for path in directory.glob("name_map_*.json")}


def compare(case: Path, outcome: dict[str, Any], outputs: Path) -> None:
    """The files that a run wrote with those that were recorded."""
    if not has_artefacts(case):
        return
    (directory,) = outputs.glob(f"{outcome['test'].replace('::', '_')}_*")
    # August's a5sim fails to write the graph of a host-built run, and leaves its names out with it; ours has both.
    without_graph = outcome["generation"] == "august" and not (case / "deps.json").exists()
    if not without_graph:
        assert names(directory) == names(case)
    if has_dump(case):
        with_inputs = case.relative_to(SCENES).parts[0] not in OTHER_INPUTS
        assert records(directory, with_inputs) == records(case, with_inputs)
    if (case / "deps.json").exists():
        with_tensors = case.relative_to(SCENES).parts[0] != SMALL_RINGS
        assert graph(directory, with_tensors) == graph(case, with_tensors)


@pytest.mark.parametrize("python", PYTHONS.values(), ids=PYTHONS)
@pytest.mark.parametrize("one", recorded(), ids=lambda one: one.label)
def test_a_recorded_command_ends_as_it_did_with_the_same_records_and_edges(one: Recorded, python: str, tmp_path: Path) -> None:
    done = run(one.scene, one.command, tmp_path, python)
    said = done.stdout + done.stderr
    for case, outcome in one.outcomes():
        assert done.returncode == outcome["exit_code"], said
        if outcome["outcome"].startswith("FAILED"):
            assert "first wrong task: 0x" in said, said
        if outcome["outcome"].startswith("FAILED: "):
            assert outcome["outcome"] in done.stdout, said
        if outcome["exit_code"] == 2:
            assert outcome["stdout_tail"][-1] in said
        compare(case, outcome, tmp_path)


@pytest.mark.parametrize("python", PYTHONS.values(), ids=PYTHONS)
@pytest.mark.parametrize("one", through_pytest(), ids=lambda one: one.label)
def test_the_same_through_the_tool_and_pytest(one: Recorded, python: str, tmp_path: Path) -> None:
    done = run(one.scene, f"argus {one.command} -p no:cacheprovider", tmp_path, python)
    said = done.stdout + done.stderr
    for case, outcome in one.outcomes():
        failed = outcome["outcome"] != "PASSED"
        assert done.returncode == int(failed), said
        assert ("first wrong task: 0x" in said) == failed, said
        assert outcome["outcome"].removeprefix("FAILED: ") in said or not failed, said
        compare(case, outcome, tmp_path)


def test_the_names_are_only_ours_when_asked_for() -> None:
    code = "import importlib.util as u; import argus; print(u.find_spec('simpler'), u.find_spec('simpler_setup'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["None", "None"]


def test_a_file_that_raises_is_told_without_our_frames(tmp_path: Path) -> None:
    (tmp_path / "test_raises.py").write_text("import simpler_setup\nraise ValueError('so it is')\n")
    done = run(tmp_path, "python test_raises.py -p a2a3sim", tmp_path)
    assert done.returncode == 1
    assert "ValueError: so it is" in done.stderr and "runpy" not in done.stderr


def test_without_a_compiler_the_message_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    done = run(SCENES / "rounds_state", "python test_rounds_state.py -p a2a3sim", tmp_path)
    assert done.returncode == 1
    assert "FAILED: " in done.stdout and "g++" in done.stdout, done.stdout + done.stderr
