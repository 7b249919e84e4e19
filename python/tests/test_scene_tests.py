"""Scene tests of the conformance suite, unchanged, through the commands that were recorded with the reference.

A fixed part of them always; all of them with ``ARGUS_LONG``.
"""

from __future__ import annotations

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCENES = Path(__file__).resolve().parents[2] / "tests/conformance/scenes"
ALWAYS = (
    "chain_elementwise", "dump_marks", "wrong_golden", "wrong_kernel", "worker_direct", "fatal_stop", "blocks_and_sync",
    "legacy_graph",
)
#: Fields that the comparison of the suite leaves free.
FREE = {"bin_offset", "truncated", "overwritten", "numel"}
#: Inputs whose bytes depend on when the reference looked: those of a block while other blocks run, and those of a task
#: that is placed early. We capture them when they are final.
OTHER_INPUTS = ("blocks_and_sync", "ring_pressure")


#: Memory comes back while it runs, so which tensors lie at one address, and have one number, is a matter of time.
SMALL_RINGS = "ring_pressure"


def recorded() -> list[Path]:
    found = sorted(path.parent for path in SCENES.glob("**/outcome.json"))
    if os.environ.get("ARGUS_LONG"):
        return found
    return [path for path in found if path.relative_to(SCENES).parts[0] in ALWAYS]


def run(scene: Path, command: str, outputs: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = command.split()
    if program == "pytest":
        arguments = ["-m", "pytest", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "ARGUS_OUTPUTS": str(outputs)}
    environment.pop("PYTEST_CURRENT_TEST", None)
    return subprocess.run(
        [sys.executable, "-m", "argus.compat", *arguments],
        cwd=scene, env=environment, capture_output=True, text=True, check=False,
    )


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


@pytest.mark.parametrize("case", recorded(), ids=lambda path: str(path.relative_to(SCENES)))
def test_a_recorded_command_ends_as_it_did_with_the_same_records_and_edges(case: Path, tmp_path: Path) -> None:
    outcome = json.loads((case / "outcome.json").read_text())
    scene = case.parents[2]
    done = run(scene, outcome["command"], tmp_path)
    said = done.stdout + done.stderr
    assert done.returncode == outcome["exit_code"], said
    if outcome["outcome"].startswith("FAILED: "):
        assert outcome["outcome"] in done.stdout, said
        assert "first wrong task: 0x" in said, said
    if outcome["exit_code"] == 2:
        assert outcome["stdout_tail"][-1] in said
    has_dump = any(path.is_dir() and path.name.endswith("_dump") for path in case.iterdir())
    if not has_dump and not (case / "deps.json").exists():
        return
    name = f"{outcome['test'].replace('::', '_').split('--')[0]}_*"
    (directory,) = tmp_path.glob(name)
    if has_dump:
        with_inputs = case.relative_to(SCENES).parts[0] not in OTHER_INPUTS
        assert records(directory, with_inputs) == records(case, with_inputs)
    if (case / "deps.json").exists():
        with_tensors = case.relative_to(SCENES).parts[0] != SMALL_RINGS
        assert graph(directory, with_tensors) == graph(case, with_tensors)


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
