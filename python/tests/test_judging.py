"""Runs, searches, goldens, replays and traces."""

import json
import subprocess
import sys
import textwrap
import threading
import time
import types
from pathlib import Path

import argus
import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    return argus.run("vector_example", dump=tmp_path_factory.mktemp("dumps") / "good")


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    place = tmp_path_factory.mktemp("dumps") / "bad"
    return argus.run("vector_example", dump=place, inject=["add_scalar:1:scale"])


def by_hand(task):
    """The kernels of the scene, in NumPy."""
    if task.kernel == "add":
        return task.inputs[0] + task.inputs[1]
    if task.kernel == "mul":
        return task.inputs[0] * task.inputs[1]
    if task.kernel == "add_scalar":
        return task.inputs[0] + numpy.float32(task.scalars[0])
    raise AssertionError(task.kernel)


def test_a_run_tells_how_it_went(good, bad):
    assert good.passed and good.compared and good.rounds[0].tasks == 5
    tensors = good.tensors
    a, b = tensors["a"].astype("f4"), tensors["b"].astype("f4")
    expected = (a + b + 1) * (a + b + 2) + (a + b)
    numpy.testing.assert_allclose(tensors["f"], expected, rtol=1e-6)
    assert not bad.passed and bad.rounds[0].outputs[0].mismatches == 16384
    assert bad.injected == ("every element was doubled",)


def test_rounds_have_a_dump_each(tmp_path):
    run = argus.run("vector_example", dump=tmp_path / "run", rounds=2)
    assert len(run.rounds) == len(run.dumps) == 2
    assert [len(argus.open(place)) for place in run.dumps] == [18, 18]


def test_selectors_choose_what_is_captured(tmp_path):
    run = argus.run("vector_example", dump=tmp_path / "run", select=["task=3"])
    assert {record.kernel for record in run.dump} == {"mul"}
    with pytest.raises(argus.UsageError, match="the run has no task 77; it has 5 tasks"):
        argus.run("vector_example", dump=tmp_path / "other", select=["task=77"])
    assert not (tmp_path / "other").exists()


def test_a_run_may_choose_its_own_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = argus.run("vector_example", dump=True)
    [place] = run.dumps
    assert place.parts[0] == "outputs" and "vector_example_default" in place.parts[1]
    with pytest.raises(argus.RunError, match="outputs"):
        argus.run("vector_example", dump=place.parent)


def test_a_scene_in_cpp_is_run_by_its_path(tmp_path):
    """Compiled here; its dump carries the sources, so that its tasks can be replayed and traced wherever it is."""
    run = argus.run(ROOT / "scenes/bugs", case="wrong-stride", dump=tmp_path / "run")
    assert not run.passed
    first = argus.find(run.dump).first_wrong[0]
    assert (first.kernel, first.verdict) == ("SF", "introduced")
    assert argus.replay(run.dump, "QK:0").word == "reproduced"
    sources = {each.source.split(":")[0] for each in argus.trace(first).slices}
    assert any(name.endswith("softmax.cpp") for name in sources), sources


def test_a_run_that_fails_keeps_what_was_captured(tmp_path):
    with pytest.raises(argus.RunError) as raised:
        argus.run("failures", case="crashing_kernel", dump=tmp_path / "run")
    assert "argus.find(" in raised.value.hint
    dump = argus.open(tmp_path / "run")
    assert dump.ending == "failed" and dump.why in str(raised.value)
    assert argus.find(dump, golden=lambda task: None).word == "failed"


def test_the_scene_says_which_task_is_wrong_first(good, bad):
    assert argus.find(good.dump).word == "agree"
    verdict = argus.find(bad.dump)
    assert not verdict and verdict.word == "differ" and verdict.exit_code == 1
    [first] = verdict.first_wrong
    assert (first.kernel, first.verdict, first.downstream) == ("add_scalar", "introduced", 2)
    words = {task.task_id: task.verdict for task in verdict.tasks}
    assert words[first.task_id] == "introduced"
    assert sorted(words.values()) == ["clean", "clean", "inherited", "inherited", "introduced"]
    assert first.kernel in str(verdict)
    assert json.loads(verdict.json())["first_wrong"][0]["task_id"] == first.task_id
    assert json.loads((bad.dumps[0].parent / "verdict.json").read_text())["task_id"] == first.task_id


def test_another_dump_says_it_too(good, bad):
    verdict = argus.find(bad.dump, against=good.dumps[0])
    assert [first.kernel for first in verdict.first_wrong] == ["add_scalar"]


def test_a_function_in_python_says_it_too(good, bad):
    assert argus.find(good.dump, golden=by_hand).word == "agree"
    verdict = argus.find(bad.dump, golden=by_hand)
    assert [first.task_id for first in verdict.first_wrong] == [argus.find(bad.dump).first_wrong[0].task_id]


def module():
    made = types.ModuleType("goldens")
    made.golden = by_hand
    return made


class Whole:
    """A scene test that knows its kernels."""

    def golden(self, task):
        return by_hand(task)


class Single:
    """One function for each kernel that it knows."""

    @staticmethod
    def golden_add_scalar(task):
        return {1: task.inputs[0] + numpy.float32(task.scalars[0])}

    def golden_MUL(self, task):
        return [task.inputs[0] * task.inputs[1]]


@pytest.mark.parametrize(
    "golden", [by_hand, module(), Whole, Whole(), {"add": by_hand, "mul": by_hand, "add_scalar": by_hand}], ids=str
)
def test_goldens_come_from_functions_modules_and_classes(bad, golden):
    verdict = argus.find(bad.dump, golden=golden)
    assert [first.kernel for first in verdict.first_wrong] == ["add_scalar"]
    assert verdict.judged == 5


def test_kernels_that_a_golden_does_not_know_stay_unknown(good, bad):
    verdict = argus.find(bad.dump, golden=Single)
    assert [first.kernel for first in verdict.first_wrong] == ["add_scalar"]
    assert verdict.judged == 3
    assert {task.kernel for task in verdict.tasks if task.verdict == "unknown"} == {"add"}
    assert argus.find(good.dump, golden=Single).word == "unjudged"


def test_a_golden_sees_views_of_the_dump(good):
    seen = []

    def golden(task):
        seen.extend(task.inputs)
        return by_hand(task)

    argus.find(good.dump, golden=golden)
    assert seen and not any(array.flags.writeable or array.flags.owndata for array in seen)
    maps = Path("/proc/self/maps").read_text().splitlines()
    ranges = [line.split()[0].split("-") for line in maps if "good/tensor_dump/tensor_dump.bin" in line]
    for array in seen:
        address = array.__array_interface__["data"][0]
        assert any(int(start, 16) <= address < int(end, 16) for start, end in ranges)


@pytest.mark.parametrize(
    ("golden", "says"),
    [
        (lambda task: 1 / 0, "raised ZeroDivisionError: division by zero"),
        (lambda task: numpy.zeros(3, "f4"), "3 elements of shape"),
        (lambda task: [1, 2, 3], "returned 3 outputs; the task has 1: "),
        (lambda task: {9: numpy.zeros(16384)}, "returned argument 9, which is no output"),
    ],
)
def test_a_golden_that_fails_is_named_with_its_task(good, golden, says):
    with pytest.raises(argus.GoldenError) as raised:
        argus.find(good.dump, golden=golden)
    assert says in str(raised.value) and "task 0x" in str(raised.value)


def test_what_is_no_golden_is_said(good):
    with pytest.raises(argus.UsageError, match=r"golden_NAME\(task\)"):
        argus.find(good.dump, golden=types.ModuleType("empty"))


def test_a_directory_of_arrays_is_a_golden(good, bad, tmp_path):
    for record in good.dump.filter(role="output"):
        numpy.save(tmp_path / f"task_{record.task_id}_after_out{record.arg}.npy", record.numpy())
    verdict = argus.find(bad.dump, golden=tmp_path)
    assert [first.kernel for first in verdict.first_wrong] == ["add_scalar"]


def test_a_task_runs_alone(good, bad):
    for task in good.dump.tasks():
        replay = argus.replay(task)
        assert replay and replay.word == "reproduced"
        for output in task.outputs:
            numpy.testing.assert_array_equal(replay.arrays[output.arg], output.numpy())
    again = argus.replay(argus.find(bad.dump).first_wrong[0], times=3)
    assert again.word == "not_reproduced" and not again.flaky
    changed = argus.replay(good.dump.task("add_scalar:0"), set={2: 5.0})
    assert set((changed.arrays[1] - good.dump.task("add_scalar:0").inputs[0].numpy()).tolist()) == {5.0}


def test_a_capsule_holds_a_task(good, tmp_path):
    argus.replay(good.dump, "mul:0", capsule=tmp_path / "mul.capsule")
    assert argus.replay(tmp_path / "mul.capsule").word == "reproduced"


def test_a_scene_can_be_replayed_without_a_dump():
    assert argus.replay("vector_example", kernel="mul").word == "reproduced"


def test_a_trace_has_every_instruction(good, tmp_path):
    timeline = argus.trace(good.dump.filter(kernel="mul")[0])
    assert timeline.replay == "bit-equal" and not timeline.hazards
    assert timeline.instructions == len(timeline.slices)
    assert max(each.end for each in timeline.slices) == timeline.cycles
    assert list(timeline.to_pandas().columns) == ["core", "track", "instruction", "start", "end", "source"]
    place = timeline.write(tmp_path / "trace")
    assert place.is_dir() and list(place.iterdir())


def test_long_calls_let_other_threads_work(tmp_path):
    counted = [0]
    done = threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    before = counted[0]
    argus.run("paged_attention", case="CaseSmall1", dump=tmp_path / "run")
    during = counted[0] - before
    done.set()
    other.join()
    assert during > 0


ENDLESS = """
import argus, os, signal, threading, time
def press():
    time.sleep(1.0)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
started = time.monotonic()
try:
    {call}
except KeyboardInterrupt:
    print("interrupted", time.monotonic() - started < 20)
"""


@pytest.mark.parametrize(
    "call",
    [
        "argus.run('failures', case='stuck_kernel', timeout=60.0)",
        "argus.find('DUMP', golden=lambda task: time.sleep(2))",
    ],
)
def test_ctrl_c_ends_a_long_call(call, good, tmp_path):
    code = textwrap.dedent(ENDLESS).format(call=call.replace("DUMP", str(good.dumps[0])))
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert answer.stdout == "interrupted True\n", answer.stdout + answer.stderr


def test_progress_is_shown_on_a_terminal_and_nowhere_else(good):
    import os
    import pty

    code = "import argus, sys, time; argus.find(sys.argv[1], golden=lambda task: time.sleep(0.5))"
    command = [sys.executable, "-c", code, str(good.dumps[0])]
    ours, theirs = pty.openpty()
    subprocess.run(command, stderr=theirs, check=True, timeout=60)
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert "comparing: " in shown and " of 5 tasks" in shown
    assert shown.endswith("\r")
    answer = subprocess.run(command, capture_output=True, check=True, timeout=60)
    assert answer.stdout == answer.stderr == b""


def test_a_crash_of_a_kernel_is_an_error_and_python_lives(tmp_path):
    """The run is a process of its own; a replay is not, and says all the same where its kernel crashed."""
    code = f"""
    import argus
    scene = {str(ROOT / "crates/argus/tests/crashes")!r}
    try:
        argus.run(scene, case="null", dump="run")
    except argus.RunError as error:
        print("SIGSEGV" in error.message, "task 0x" in error.message)
    replay = argus.replay("run", "1", scene=scene, case="null")
    print(replay.word, "SIGSEGV" in replay.error)
    # The crash was told: it is not the next one's, and it does not end the process later.
    print(argus.replay("run", "0", scene=scene, case="null").word)
    import os, time
    time.sleep(12 if os.environ.get("ARGUS_LONG") else 0)
    print("lives")
    """
    command = [sys.executable, "-c", textwrap.dedent(code)]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert answer.stdout == "True True\nfailed True\nreproduced\nlives\n", answer.stdout + answer.stderr
