"""Scene-test files of our own: every way to start them, every flag, and what a failure says.

Files that must pass are in ``scenes``, those that must fail in ``scenes_failing``.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
JUNE = "--dump-tensor --enable-dep-gen --enable-l2-swimlane --enable-pmu --enable-scope-stats"
AUGUST = "--dump-args 2 --enable-dep-gen --enable-chip-swimlane --enable-pmu --enable-scope-stats"
#: How many tests of ``scenes`` there are for a platform.
TESTS = {"a2a3sim": 51, "a5sim": 43}


def compat(arguments: str, outputs: Path, cwd: Path = HERE, python: str = sys.executable, **more: str) -> subprocess.CompletedProcess[str]:
    """``python -m argus.compat`` with its output files in a directory."""
    environment = {**os.environ, "ARGUS_OUTPUTS": str(outputs), **more}
    for name in ("PYTEST_CURRENT_TEST", "PYTEST_XDIST_WORKER", "PYTEST_ADDOPTS"):
        environment.pop(name, None)
    command = [python, "-m", "argus.compat", *arguments.split()]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def counted(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Numbers of tests by how they ended."""
    last = done.stdout.strip().splitlines()[-1]
    return {word: int(number) for number, word in re.findall(r"(\d+) (passed|failed|skipped|deselected|error)", last)}


@pytest.mark.parametrize("flags", ["", JUNE, AUGUST], ids=["plain", "june", "august"])
def test_all_files_pass_through_pytest(flags: str, tmp_path: Path) -> None:
    done = compat(f"-m pytest -q -p no:cacheprovider scenes --platform a2a3sim --manual include {flags}", tmp_path)
    # Without flags the class that only looks at files has nothing to look at.
    expected = {"passed": TESTS["a2a3sim"]} if flags else {"passed": TESTS["a2a3sim"] - 1, "skipped": 1}
    assert counted(done) == expected, done.stdout + done.stderr


def test_four_workers_of_xdist_do_not_share_a_directory(tmp_path: Path) -> None:
    done = compat(f"-m pytest -q -p no:cacheprovider scenes -n 4 --platform a5sim --manual include {AUGUST}", tmp_path)
    assert counted(done) == {"passed": TESTS["a5sim"]}, done.stdout + done.stderr
    dumps = sorted(path.parent.parent.name for path in tmp_path.glob("*/argus/run.json"))
    # Prepared callables are run by their test, which captures nothing.
    assert len(dumps) == len(set(dumps)) == 17
    for dump in dumps:
        run = json.loads((tmp_path / dump / "argus/run.json").read_text())
        assert dump.startswith(f"{run['scene']}_{run['case']}_".replace(" ", "_")), dump


@pytest.mark.parametrize(
    ("path", "arguments", "cases"),
    [
        ("vector/test_vector_example.py", "-p a2a3sim", ["default", "second_hit", "third_hit"]),
        ("vector/test_vector_example.py", "-p a5sim", ["default", "second_hit"]),
        ("vector/test_vector_example.py", "-p a5sim --manual only", ["third_hit"]),
        ("vector/test_vector_example.py", "-p a5sim --manual include --case third_hit --case TestVectorExample::default", ["default", "third_hit"]),
        ("attention/test_paged_attention.py", "-p a2a3sim --manual include", ["CaseSmall1", "CaseVarSeq2"]),
        ("timing_slots/test_timing_slots.py", "-p a5sim --rounds 3", ["default"]),
        ("dfx_june/test_dfx_june.py", "-p a2a3sim -d 0-3 --skip-golden", ["default"] * 7),
        ("settings/test_settings.py", "-p a5sim -x --max-parallel auto --sanitizer none --log-level error", ["rings", "no_config", "no_golden", "rings"]),
        ("geometry/test_geometry.py", "-p a5sim --rounds 2", ["Default_a5sim"]),
        ("products/test_products.py", "-p a2a3sim -c main --clone-protocol ssh --manual include", ["Few", "Many"]),
        ("two_runtimes/test_two_runtimes.py", "-p a2a3sim", ["twice", "quarter", "default"]),
        ("two_runtimes/test_two_runtimes.py", "-p a2a3sim --runtime host_build_graph --level 2", ["default"]),
    ],
)
def test_files_run_as_programs(path: str, arguments: str, cases: list[str], tmp_path: Path) -> None:
    done = compat(f"{Path(path).name} {arguments}", tmp_path, HERE / "scenes" / Path(path).parent)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [name.replace(" ", "_") for name in re.findall(r"::([\w ]+?) (?:\.\.\. )?PASSED", done.stdout)] == cases
    assert not list(tmp_path.iterdir()), "nothing is written without a flag"


def test_a_golden_and_a_kernel_config_of_april_run(tmp_path: Path) -> None:
    run = "examples/scripts/run_example.py -k kernels -g golden.py -p a2a3sim"
    done = compat(f"{run} --all --dump-tensor --enable-dep-gen", tmp_path, HERE / "example_april")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.findall(r"::(\w+) \.\.\. PASSED", done.stdout) == ["small", "large"]
    (one,) = tmp_path.glob("example_april_large_*")
    assert len(json.loads((one / "tensor_dump/tensor_dump.json").read_text())["tensors"]) == 6
    assert [edge["source"] for edge in json.loads((one / "deps.json").read_text())["edges"]] == ["explicit"]
    assert re.findall(r"::(\w+) ", compat(run, tmp_path, HERE / "example_april").stdout) == ["small"]
    for arguments, says in (("-g golden.py --case x", "case 'x' not found"), ("-g none.py", "there is no file none.py")):
        refused = compat(f"run_example.py -k kernels -p a2a3sim {arguments}", tmp_path, HERE / "example_april")
        assert refused.returncode == 2 and says in refused.stderr and "Traceback" not in refused.stderr


def test_the_dump_of_several_rounds_is_that_of_the_last(tmp_path: Path) -> None:
    scene = HERE.parents[1] / "tests/conformance/scenes/rounds_state"
    done = compat("test_rounds_state.py -p a2a3sim --rounds 3 --dump-tensor", tmp_path, scene)
    assert done.returncode == 0, done.stdout + done.stderr
    (manifest,) = tmp_path.glob("*/tensor_dump/tensor_dump.json")
    assert json.loads(manifest.read_text())["tensors"]


@pytest.mark.parametrize("through", ["program", "pytest"])
@pytest.mark.parametrize(
    ("name", "first", "says"),
    [
        ("TestWrongGolden", "0x0000000100000003 add (here or upstream)", "1 elements wrong, by up to 0.5"),
        ("TestWrongKernel", "0x0000000100000003 add (here or upstream)", "looks like: tail rows"),
        ("TestWrongKernelByKernel", "0x0000000000000000 add (introduced)", "looks like: tail rows"),
        ("TestFaultingKernel", "0x0000000000000000 add (running)", "add_beyond.cpp:8"),
        ("TestCrashingKernel", "0x0000000000000000 add", "add_crash.cpp"),
    ],
)
def test_a_failure_names_the_first_wrong_task(name: str, first: str, says: str, through: str, tmp_path: Path) -> None:
    if through == "program":
        done = compat(f"test_failing.py -p a2a3sim --case {name}::", tmp_path, HERE / "scenes_failing")
    else:
        done = compat(f"-m pytest -q -p no:cacheprovider scenes_failing/test_failing.py::{name} --platform a2a3sim", tmp_path)
        assert counted(done)["failed"] == 1
    said = done.stdout + done.stderr
    assert done.returncode == 1 and f"first wrong task: {first}" in said and says in said, said
    page, dump = re.search(r"page: (\S+)", said), re.search(r"dump: (\S+)", said)
    assert page and dump
    assert first.split()[0] in Path(page.group(1)).read_text()
    assert json.loads((Path(dump.group(1)) / "tensor_dump.json").read_text())["tensors"]
    assert f"next: argus trace {dump.group(1)} --task {first.split()[0]}" in said


def test_the_verdict_is_in_reports_for_machines(tmp_path: Path) -> None:
    report = tmp_path / "report.xml"
    compat(f"-m pytest -q -p no:cacheprovider scenes_failing -n 2 --platform a2a3sim --junitxml {report}", tmp_path)
    found = re.findall(r'name="argus_first_wrong" value="(\w+)"', report.read_text())
    assert sorted(found) == ["0x0000000000000000"] * 3 + ["0x0000000100000003"] * 2


@pytest.mark.parametrize(
    ("path", "arguments", "code", "says"),
    [
        ("vector/test_vector_example.py", "-p a2a3sim --case nothing", 2, "ERROR: --case: case 'nothing' not found in any class"),
        ("vector/test_vector_example.py", "-p a2a3sim --case TestOther::", 2, "ERROR: --case: class 'TestOther' not found"),
        ("vector/test_vector_example.py", "-p a5sim --case third_hit", 2,
         "ERROR: --case: no cases matched [*::third_hit] for platform=a5sim (matches are manual; pass --manual include or only)"),
        ("vector/test_vector_example.py", "-p a2a3", 2, "ERROR: a2a3 is hardware; Argus simulates it as a2a3sim"),
        ("vector/test_vector_example.py", "-p a9sim", 2, "invalid choice: 'a9sim'"),
        ("vector/test_vector_example.py", "-p a2a3sim -d x", 2, "ERROR: 'x' is no device and no range of devices such as 4-7"),
        ("vector/test_vector_example.py", "-p a2a3sim --enable-swimlane-overhead", 2,
         "ERROR: --enable-swimlane-overhead needs --enable-chip-swimlane"),
        ("dfx_june/test_dfx_june.py", "-p a5sim", 2, "ERROR: No cases matched platform=a5sim (manual=exclude)"),
        ("vector/nothing.py", "-p a2a3sim", 2, "error: there is no file nothing.py"),
    ],
)
def test_what_cannot_run_says_why(path: str, arguments: str, code: int, says: str, tmp_path: Path) -> None:
    done = compat(f"{Path(path).name} {arguments}", tmp_path, HERE / "scenes" / Path(path).parent)
    assert done.returncode == code and says in done.stderr, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


RAISING = """
import torch
from simpler.task_interface import ArgDirection as D
from simpler_setup import SceneTestCase, TaskArgsBuilder, Tensor, scene_test

ADD = "{scenes}/wrong_golden/kernels"


class Base(SceneTestCase):
    CALLABLE = {{
        "orchestration": {{"source": f"{{ADD}}/orchestration/add_orch.cpp", "function_name": "aicpu_orchestration_entry",
                          "signature": [D.IN, D.IN, D.OUT]}},
        "incores": [{{"func_id": 0, "source": f"{{ADD}}/aiv/add.cpp", "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]}}],
    }}
    CASES = [{{"name": "default", "platforms": ["a2a3sim"], "params": {{}}}}]

    def generate_args(self, params):
        return TaskArgsBuilder(*(Tensor(name, torch.ones(4, 16)) for name in ("x", "y", "out")))


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestGolden(Base):
    def compute_golden(self, args, params):
        args.out[:] = params["factor"]


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestArguments(Base):
    def generate_args(self, params):
        return None


@scene_test(level=2, runtime="tensormap_and_ringbuffer")
class TestNothing(Base):
    CALLABLE = {{}}


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestTwoChips(Base):
    pass


SceneTestCase.run_module(__name__)
"""


def test_a_test_that_raises_is_told_with_its_line(tmp_path: Path) -> None:
    scenes = HERE.parents[1] / "tests/conformance/scenes"
    path = tmp_path / "test_raising.py"
    path.write_text(RAISING.format(scenes=scenes))
    done = compat("test_raising.py -p a2a3sim", tmp_path / "out", tmp_path)
    assert done.returncode == 1 and "Traceback" not in done.stderr, done.stderr
    assert re.findall(r"::default \.\.\. FAILED: (.*)", done.stdout) == [
        "'factor'",
        "generate_args of TestArguments returned NoneType; it must return a TaskArgsBuilder",
        "TestNothing must name its orchestration: CALLABLE['orchestration']['source']",
        "TestTwoChips is of level 3: it needs several chips, and Argus simulates one",
    ]
    line = path.read_text().splitlines().index('        args.out[:] = params["factor"]') + 1
    assert done.stderr == f'    KeyError at test_raising.py:{line}, in compute_golden: args.out[:] = params["factor"]\n'
    path.write_text("def f(:\n")
    unreadable = compat("test_raising.py -p a2a3sim", tmp_path / "out", tmp_path)
    assert unreadable.returncode == 1 and unreadable.stderr.startswith('  File "test_raising.py", line 1')


def test_what_argus_has_not_can_be_imported_and_is_skipped_when_used(tmp_path: Path) -> None:
    (tmp_path / "test_two_chips.py").write_text(
        "import pytest\n"
        "from simpler.orchestrator import Orchestrator\n"
        "from simpler.task_interface import ChipBootstrapConfig, ArgDirection\n"
        "from simpler.worker import Worker\n"
        "from simpler_setup.goldens.qwen3_14b_decode import compute_golden\n\n\n"
        "def run(platform):\n    worker = Worker(level=3, platform=platform, device_ids=[0, 1])\n"
        "    worker.register(lambda args: None)\n    worker.init()\n\n\n"
        "def test_uses_it(st_platform):\n    run(st_platform)\n\n\n"
        "def test_uses_a_name():\n    ChipBootstrapConfig(1)\n\n\n"
        "def test_does_not():\n    assert ArgDirection.IN == 1 and Orchestrator is not None\n\n\n"
        "if __name__ == '__main__':\n    run('a2a3sim')\n"
    )
    done = compat("-m pytest -q -rs -p no:cacheprovider . --platform a2a3sim", tmp_path, tmp_path)
    assert counted(done) == {"passed": 1, "skipped": 2}, done.stdout + done.stderr
    assert "simpler.task_interface.ChipBootstrapConfig is not part of Argus" in done.stdout
    program = compat("test_two_chips.py", tmp_path, tmp_path)
    says = "a Worker of level 3 drives several chips; Argus simulates one, which is level 2"
    assert program.returncode == 2 and program.stderr == f"error: test_two_chips.py cannot run here: {says}\n"


JUNE_OF_SEVERAL_CHIPS = """\
from simpler import task_interface, worker
from simpler.task_interface import ArgDirection, TaskArgs, TensorArgType
from simpler_setup import SceneTestCase, goldens, log_config, scene_test


@scene_test(level=3, runtime="tensormap_and_ringbuffer")
class TestChain(SceneTestCase):
    CALLABLE = {"callables": [{"name": "chip", "orchestration": {"source": "orch.cpp"}}]}
    CASES = [{"name": "default", "platforms": ["a2a3sim"], "config": {"device_count": 2, "block_dim": 3}, "params": {}}]


def test_modules_are_names_of_their_package():
    assert worker.Worker.__name__ == "Worker" and task_interface.ArgDirection is ArgDirection
    assert callable(log_config.configure_logging) and goldens.__name__ == "simpler_setup.goldens"
"""


def test_a_class_of_june_for_several_chips_is_skipped_and_its_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "test_chain.py").write_text(JUNE_OF_SEVERAL_CHIPS)
    done = compat("-m pytest -q -p no:cacheprovider . --platform a2a3sim", tmp_path, tmp_path)
    assert counted(done) == {"passed": 1, "skipped": 1}, done.stdout + done.stderr


def test_functions_are_chosen_by_their_marks_and_levels(tmp_path: Path) -> None:
    (tmp_path / "test_marked.py").write_text(
        "import pytest\n"
        "from simpler._log import get_current_config\n"
        "from simpler_setup import SceneTestLevel, scene_level\n\n\n"
        "@scene_level(SceneTestLevel.CHIP)\ndef test_chip():\n    assert scene_level(test_chip) == 2\n\n\n"
        "@scene_level(3)\ndef test_node():\n    pass\n\n\n"
        "@pytest.mark.manual\ndef test_manual():\n    pass\n\n\n"
        "@pytest.mark.manual('a5sim', 'a2a3sim')\ndef test_manual_there():\n    pass\n\n\n"
        "@pytest.mark.manual(platforms=['a5sim'])\ndef test_manual_elsewhere():\n    pass\n\n\n"
        "def test_plain():\n    assert get_current_config() == 25\n"
    )
    for options, passed in (("", 4), ("--level 2", 3), ("--exclude-level 3", 3), ("--manual only", 2), ("--manual include --level 2", 5)):
        done = compat(f"-m pytest -q -p no:cacheprovider . --platform a2a3sim {options}", tmp_path, tmp_path)
        assert counted(done)["passed"] == passed, done.stdout
    for option, says in (("--platform a2a3", "a2a3 is hardware; Argus simulates it as a2a3sim"), ("--device x", "'x' is no device"),
                         ("--enable-swimlane-overhead", "--enable-swimlane-overhead needs")):
        refused = compat(f"-m pytest -q {option}", tmp_path, tmp_path)
        assert refused.returncode == 4 and f"ERROR: {says}" in refused.stderr, refused.stderr


def test_without_numpy_and_torch_the_message_says_what_to_install(tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "numpy.py").write_text("raise ModuleNotFoundError(\"No module named 'numpy'\", name='numpy')\n")
    paths = os.pathsep.join([str(hidden), os.environ.get("PYTHONPATH", "")])
    done = compat("test_vector_example.py -p a2a3sim", tmp_path, HERE / "scenes/vector", PYTHONPATH=paths)
    assert done.returncode == 1
    assert "`pip install numpy` is enough" in done.stderr, done.stderr


def own_records(directory: Path) -> list[tuple[str, bytes]]:
    """Records of our own dump with their bytes, without what differs from run to run."""
    manifest = json.loads((directory / "tensor_dump.json").read_text())
    payload = (directory / manifest["bin_file"]).read_bytes()
    kept = ("task_id", "arg_index", "role", "stage", "kind", "dtype", "shape", "strides", "start_offset", "value", "func_id", "kernel")
    found = []
    for record in manifest["tensors"]:
        data = payload[record["bin_offset"] : record["bin_offset"] + record["bin_size"]]
        found.append((json.dumps({key: record.get(key) for key in kept}, sort_keys=True), data))
    return sorted(found)


@pytest.fixture
def program() -> str:
    """The command line."""
    built = os.environ.get("ARGUS_PROGRAM")
    if not built or not Path(built).is_file():
        pytest.skip("the command line is not built: `cargo build -p argus` does it")
    return built


def test_argus_pytest_is_pytest_with_our_names(program: str, tmp_path: Path) -> None:
    def run(python: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "ARGUS_PYTHON": python, "ARGUS_OUTPUTS": str(tmp_path)}
        command = [program, "pytest", *arguments, "-p", "no:cacheprovider"]
        return subprocess.run(command, cwd=HERE, env=environment, capture_output=True, text=True, check=False)

    done = run(sys.executable, "-q", "scenes/vector", "--platform", "a5sim", "--manual", "only", "--dump-args", "2", "-n", "2")
    assert done.returncode == 0 and counted(done) == {"passed": 1}, done.stdout + done.stderr
    assert len(list(tmp_path.glob("TestVectorExample_third_hit_*/args_dump/args_dump.json"))) == 1
    # Options in front of the first file are pytest's too, also those that the tool itself has.
    assert "test session starts" not in done.stdout
    told = run(sys.executable, "-v", "--color", "yes", "scenes/vector", "--platform", "a5sim")
    assert "test_vector_example.py::TestVectorExample::test_run \x1b[32mPASSED" in told.stdout, told.stdout + told.stderr
    # The exit code is pytest's own: 5 if nothing was collected.
    assert run(sys.executable, "scenes/vector", "--platform", "a5sim", "-k", "nothing").returncode == 5
    missing = run(str(tmp_path / "nowhere"), "scenes")
    assert missing.returncode == 2 and "the variable ARGUS_PYTHON names another interpreter" in missing.stderr


def test_the_dump_equals_that_of_the_same_scene_run_by_the_command_line(program: str, tmp_path: Path) -> None:
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    done = compat("test_vector_example.py -p a2a3sim --case default --dump-args 2", ours, HERE / "scenes/vector")
    assert done.returncode == 0, done.stdout + done.stderr
    scene = HERE.parents[1] / "scenes/vector_example"
    command = [program, "run", str(scene), "--platform", "a2a3sim", "--deps", "reference", "--dump-tensor", "-o", str(theirs)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (mine,), (other,) = ours.glob("*/argus"), [path.parent for path in theirs.rglob("tensor_dump.json")]
    assert own_records(mine) == own_records(other)


#: Adds the arguments and the settings of a case to the scene file that its dump carries.
COMPLETE_SCENE = """
import ctypes, importlib.util, sys
from argus.compat import activate
activate()
import numpy
from simpler_setup import Scalar
file, name, case, scene = sys.argv[1:]
spec = importlib.util.spec_from_file_location("scene", file)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
cls = getattr(module, name)
case = next(each for each in cls.CASES if each["name"] == case)
lines, directions = [], iter(cls.CALLABLE["orchestration"]["signature"])
for each in cls().generate_args(case.get("params") or {}).specs:
    lines.append("[[scalar]]" if isinstance(each, Scalar) else "[[tensor]]")
    lines.append(f'name = "{each.name}"')
    if isinstance(each, Scalar):
        value = getattr(each.value, "value", each.value)
        is_float = isinstance(value, float)
        lines += [f'dtype = "{"f32" if is_float else "i64"}"', f"value = {value}"]
        continue
    array = each.value.numpy()
    numpy.save(f"{scene}/{each.name}.npy", array)
    lines += [f'direction = "{next(directions).name.lower()}"', f'dtype = "{array.dtype.kind}{8 * array.dtype.itemsize}"']
    lines += [f"shape = {list(array.shape)}", f'input = {{ file = "{each.name}.npy" }}']
config = case.get("config") or {}
lines += ["[[case]]", f'name = "{case["name"]}"', f'control_threads = {config.get("aicpu_thread_num") or 4}']
lines += [f'block_dim = {config["block_dim"]}'] if config.get("block_dim") else []
with open(f"{scene}/scene.toml", "a") as told:
    told.write("\\n".join(["", *lines, ""]))
"""


@pytest.mark.parametrize(
    ("scene", "platform", "case"),
    [
        ("chain_elementwise", "a2a3sim", "twice"), ("legacy_graph", "a2a3sim", "default"), ("gate_predicate", "a5sim", "half_open"),
        *([
            ("panels_matmul", "a5sim", "default"), ("manual_scope_deps", "a2a3sim", "default"), ("mixed_lanes", "a2a3sim", "default"),
            ("alloc_readback", "a2a3sim", "default"), ("fanin_barrier", "a2a3sim", "n_65"), ("rounds_state", "a5sim", "default"),
            ("nested_scopes", "a5sim", "default"), ("inplace_war", "a2a3sim", "default"), ("host_graph", "a2a3sim", "three"),
            ("graph_replay", "a5sim", "default"), ("lane_pipe", "a5sim", "default"),
        ] if os.environ.get("ARGUS_LONG") else []),
    ],
)
def test_the_dump_of_a_test_is_that_of_its_scene_run_by_the_command_line(
    scene: str, platform: str, case: str, program: str, tmp_path: Path
) -> None:
    directory = HERE.parents[1] / "tests/conformance/scenes" / scene
    (file,) = directory.glob("test_*.py")
    level = "--dump-args 2" if "TensorArg" in file.read_text() else "--dump-tensor"
    done = compat(f"{file.name} -p {platform} --manual include --case {case} {level}", tmp_path / "ours", directory)
    assert done.returncode == 0, done.stdout + done.stderr
    (ours,) = (tmp_path / "ours").glob("*/argus")
    shutil.copytree(ours / "scene", tmp_path / "scene")
    name = ours.parent.name.split("_")[0]
    subprocess.run([sys.executable, "-c", COMPLETE_SCENE, file, name, case, tmp_path / "scene"], check=True)
    command = [program, "run", tmp_path / "scene", "--platform", platform, "--deps", "reference", "--dump-tensor", "-o", tmp_path / "theirs"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (theirs,) = [path.parent for path in (tmp_path / "theirs").rglob("tensor_dump.json")]
    assert own_records(ours) == own_records(theirs)


@pytest.mark.skipif(not os.environ.get("ARGUS_LONG"), reason="takes a Python with torch")
@pytest.mark.parametrize("more", ["", "-n 4"], ids=["one_process", "xdist"])
@pytest.mark.parametrize("hidden", [False, True], ids=["torch", "stand_in"])
def test_under_the_python_with_torch_the_same_tests_pass(hidden: bool, more: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its torch, and without, over its own NumPy and pytest."""
    python = os.environ.get("ARGUS_TORCH_PYTHON")
    if not python:
        pytest.skip("ARGUS_TORCH_PYTHON names no interpreter with torch: `cargo xtask long` does")
    if hidden:
        stand_in = str(HERE.parent / "argus/compat/stand_in")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([stand_in, os.environ.get("PYTHONPATH", "")]))
    for platform, flags in (("a2a3sim", JUNE), ("a5sim", AUGUST)):
        arguments = f"scenes {more} --platform {platform} --manual include {flags}"
        done = compat(f"-m pytest -q -p no:cacheprovider {arguments}", tmp_path / platform, python=python)
        ended = {word: number for word, number in counted(done).items() if word != "deselected"}
        assert ended == {"passed": TESTS[platform]}, done.stdout + done.stderr
    failed = compat(f"-m pytest -q -p no:cacheprovider scenes_failing {more} --platform a2a3sim", tmp_path / "f", python=python)
    assert counted(failed) == {"failed": 5, "passed": 1} and failed.stdout.count("first wrong task: 0x") >= 5, failed.stdout


@pytest.mark.parametrize("scene", ["chain_elementwise", "bf16_row_softmax", "dump_marks/august", "alloc_readback", "gate_predicate"])
def test_the_viewer_of_dumps_writes_the_text_that_the_tool_writes(scene: str, program: str, tmp_path: Path) -> None:
    recorded = next((HERE.parents[1] / "tests/conformance/scenes" / scene).glob("expected/a2a3sim/*/*_dump"))
    dump, texts = tmp_path / recorded.name, tmp_path / "texts"
    shutil.copytree(recorded, dump)
    done = compat(f"-m simpler_setup.tools.dump_viewer {dump} --export", tmp_path)
    subprocess.run([program, "export", dump, "--format", "txt", "-o", texts], check=True, capture_output=True)
    written = {path.name: path.read_text() for path in (dump / "txt").iterdir()}
    assert written == {path.name: path.read_text() for path in texts.iterdir()} and len(written) > 2
    assert done.returncode == 0 and re.search(r"^Exported \d+ (arg|tensor)\(s\) to ", done.stdout, re.M), done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ("", 0, "     9  0x0000000100000001    after    out    2   FLOAT32  [16, 32]                    2048\n"),
        ("-s before -r input", 0, "Filtered: 7/10 tensors\nAdd --export to save these tensors to "),
        ("--task 0x0000000100000000 --arg 1", 0, "Filtered: 1/10 tensors\n"),
        ("-i 2", 0, "task_0x0000000000000000_after_out2.txt\n\nExported 1 tensor(s) to "),
        ("-t 0x7", 1, "error: there is no task 0x7; there are 0x0000000000000000, 0x0000000100000000, 0x0000000100000001\n"),
        ("-a 9", 1, "error: there is no argument 9; there are 0, 1, 2, 3\n"),
        ("-s never", 1, "error: a stage is before or after, not never\n"),
        ("-s after -r input", 1, "No tensors match the given filters.\n"),
    ],
)
def test_the_viewer_of_dumps_filters(arguments: str, code: int, says: str, tmp_path: Path) -> None:
    recorded = HERE.parents[1] / "tests/conformance/scenes/chain_elementwise/expected/a2a3sim/twice/tensor_dump"
    shutil.copytree(recorded, tmp_path / "run/tensor_dump")
    for place in (str(tmp_path / "run"), str(tmp_path / "run/tensor_dump"), ""):
        done = compat(f"-m simpler_setup.tools.dump_viewer {place} {arguments}", tmp_path)
        assert done.returncode == code and says in done.stdout + done.stderr, done.stdout + done.stderr
        assert done.stdout.startswith("Using latest dump directory: ") == (place == "")


def test_the_console_program_of_pytest_finds_our_names_too(tmp_path: Path) -> None:
    program = shutil.which("pytest", path=str(Path(sys.executable).parent))
    if program is None:
        pytest.skip("there is no program pytest beside the interpreter")
    done = subprocess.run(
        [program, "-q", "-p", "no:cacheprovider", "-p", "argus.compat.plugin", "scenes/vector", "--platform", "a2a3sim"],
        cwd=HERE, env={**os.environ, "ARGUS_OUTPUTS": str(tmp_path)}, capture_output=True, text=True, check=False,
    )
    assert counted(done) == {"passed": 1}, done.stdout + done.stderr


def test_in_a_checkout_its_own_builders_are_left_out(tmp_path: Path) -> None:
    """The conftest files at its root and in tests build and dispatch the reference; its package is not ours."""
    (tmp_path / "conftest.py").write_text("from simpler_setup.parallel_scheduler import Job\nraise RuntimeError('root conftest')\n")
    for place in ("tests/st/a/x", "tests/st/b/x", "simpler_setup/goldens", "examples/w"):
        (tmp_path / place).mkdir(parents=True)
    (tmp_path / "tests/conftest.py").write_text("# build_config.py\nraise RuntimeError('conftest of tests')\n")
    (tmp_path / "simpler_setup/__init__.py").write_text("raise RuntimeError('the package of the checkout')\n")
    (tmp_path / "simpler_setup/goldens/own.py").write_text("ANSWER = 41\n")
    (tmp_path / "examples/__init__.py").touch()
    (tmp_path / "examples/w/__init__.py").write_text("ANSWER = 5\n")
    scene = HERE.parents[1] / "tests/conformance/scenes/chain_elementwise"
    for name in "ab":
        # Two files of one name, as the reference has them.
        shutil.copy(scene / "test_chain_elementwise.py", tmp_path / f"tests/st/{name}/x/test_x.py")
        shutil.copytree(scene / "kernels", tmp_path / f"tests/st/{name}/x/kernels")
    (tmp_path / "tests/st/a/test_neighbours.py").write_text(
        "from examples.w import ANSWER as other\nfrom simpler_setup.goldens.own import ANSWER\n\n\n"
        "def test_answers():\n    assert (ANSWER, other) == (41, 5)\n"
    )
    for arguments in ("examples tests/st", "", f"{tmp_path}/tests/st/a {tmp_path}/tests/st/b -n 2"):
        done = compat(f"-m pytest -q -p no:cacheprovider {arguments} --platform a2a3sim --device 0-15", tmp_path / "out", tmp_path)
        assert counted(done) == {"passed": 3}, done.stdout + done.stderr
    link = tmp_path.with_name(f"{tmp_path.name}_link")
    link.symlink_to(tmp_path)
    done = compat(f"-m pytest -q -p no:cacheprovider {link}/tests/st/b --platform a2a3sim", tmp_path / "out", tmp_path)
    assert counted(done) == {"passed": 1}, done.stdout + done.stderr
