"""What is said when something is missing."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import argus
import pytest

PACKAGE = Path(argus.__file__).parent


def python(code, tmp_path, **environment):
    """Runs code in another interpreter; gives what it printed."""
    answer = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, **environment},
        timeout=120,
    )
    return answer.stdout + answer.stderr


#: Makes a package that cannot be imported.
WITHOUT = """
import sys
sys.modules["{name}"] = None
import argus
record = argus.run("vector_example", dump="run").dump.filter(role="output")[0]
try:
    {call}
except argus.UsageError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("name", "call", "says"),
    [
        ("numpy", "record.numpy()", "NumPy is not installed, and arrays need it\nhint: pip install numpy\n"),
        ("torch", "record.torch()", "torch is not installed\nhint: pip install torch, or use record.numpy()\n"),
        ("pyarrow", "record.dump.to_arrow()", "pyarrow is not installed\nhint: pip install pyarrow\n"),
        ("pandas", "record.dump.to_pandas()", "pandas is not installed\nhint: pip install pyarrow pandas\n"),
        ("polars", "record.dump.to_polars()", "polars is not installed\nhint: pip install polars\n"),
    ],
)
def test_a_library_that_is_not_there_is_named(name, call, says, tmp_path):
    assert python(WITHOUT.format(name=name, call=call), tmp_path) == says


def test_without_ml_dtypes_small_types_say_what_to_install(tmp_path):
    code = """
    import sys
    sys.modules["ml_dtypes"] = None
    from argus import _arrays, UsageError
    try:
        _arrays.array(b"\\0\\0", "BFLOAT16", (1,))
    except UsageError as error:
        print(error)
    """
    said = python(code, tmp_path)
    assert said == "NumPy has no BFLOAT16, and ml_dtypes is not installed\nhint: pip install ml_dtypes\n"


def test_without_a_compiler_a_scene_in_cpp_says_so(tmp_path):
    scene = tmp_path / "scene"
    scene.mkdir()
    code = """
    import argus
    cpp = [scene.name for scene in argus.scenes() if scene.name.endswith("_cpp")]
    try:
        argus.run(cpp[0])
    except argus.RunError as error:
        print(error)
    """
    said = python(code, tmp_path, PATH=str(scene), CXX="", HOME=str(tmp_path), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert "hint: install g++ or clang++, or name one in the variable CXX" in said


def test_another_python_is_told_which_one_is_needed(tmp_path):
    code = """
    import sys
    sys.version_info = (3, 8, 10)
    try:
        import argus
    except ImportError as error:
        print(error)
    """
    assert python(code, tmp_path).startswith("argus needs Python 3.10 or newer; this is 3.8.10 (")


def test_a_package_without_its_native_module_says_how_to_get_it(tmp_path):
    (tmp_path / "argus").mkdir()
    for source in PACKAGE.glob("*.py"):
        (tmp_path / "argus" / source.name).write_text(source.read_text())
    said = python("import argus", tmp_path, PYTHONPATH=str(tmp_path))
    assert "argus has no native module for this Python" in said and "cargo xtask wheel" in said


def test_the_dump_of_a_killed_run_can_be_read(tmp_path):
    code = """
    import os, signal, threading, argus
    def kill():
        while True:
            try:
                if os.path.getsize("run/tensor_dump/tensor_dump.journal") > 1 << 20:
                    os.kill(os.getpid(), signal.SIGKILL)
            except OSError:
                pass
    threading.Thread(target=kill, daemon=True).start()
    argus.run("paged_attention", case="large", dump="run")
    """
    python(code, tmp_path)
    dump = argus.open(tmp_path / "run")
    assert dump.ending == "unfinished" and dump.why
    assert len(dump) > 0
    whole = [record for record in dump if record.kind == "tensor" and record.nbytes]
    assert whole and whole[0].numpy().size == whole[0].statistics.count
    verdict = argus.find(dump)
    assert verdict.word == "unjudged" and verdict.exit_code == 2


@pytest.mark.parametrize(
    ("call", "kind", "says"),
    [
        (lambda: argus.run("vector_exampel"), argus.UsageError, "hint: argus.scenes() lists the scenes"),
        (lambda: argus.run("vector_example", case="none"), argus.UsageError, "has no case 'none'"),
        (lambda: argus.run("vector_example", platform="a2a3"), argus.UsageError, 'hint: platform="a2a3sim"'),
        (lambda: argus.run("vector_example", runtime="fast"), argus.UsageError, "there is no runtime 'fast'"),
        (lambda: argus.run("vector_example", level="half", dump=True), argus.UsageError, "there is no level 'half'"),
        (lambda: argus.run("vector_example", select=["kernel=mul"]), argus.UsageError, "hint: add dump=True"),
        (lambda: argus.run("vector_example", inject=["x"]), argus.UsageError, "x"),
        (lambda: argus.run("vector_example", timeout=-1.0), argus.UsageError, "timeout is -1"),
        (lambda: argus.run("failures", case="crashing_kernel"), argus.RunError, "task 0x"),
        (lambda: argus.run("vector_example").dump, argus.UsageError, "hint: argus.run(..., dump=True)"),
        (lambda: argus.replay("vector_example"), argus.UsageError, "hint: name it with kernel="),
        (lambda: argus.replay("nothing_of_this_name"), argus.UsageError, "there is no scene"),
        (lambda: argus.find("nowhere"), argus.DumpError, "cannot read nowhere"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_helps(call, kind, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(kind) as raised:
        call()
    assert says in str(raised.value)
    assert list(tmp_path.iterdir()) == []


def test_a_kernel_that_panics_says_nothing_beside_the_error(tmp_path):
    code = """
    import argus
    try:
        argus.run("failures", case="crashing_kernel")
    except argus.RunError as error:
        print("told")
    """
    assert python(code, tmp_path) == "told\n"


def test_a_task_that_is_not_there_is_said(tmp_path):
    dump = argus.run("vector_example", dump=tmp_path / "run").dump
    with pytest.raises(argus.UsageError, match="there is no task 77: there are 5 tasks"):
        dump.task(77)
    with pytest.raises(argus.UsageError, match="does not name a task"):
        dump.task("?")


def test_damage_is_an_error_and_not_a_value(tmp_path):
    dump = argus.run("vector_example", dump=tmp_path / "run").dump
    place = dump.directory / "tensor_dump.bin"
    raw = bytearray(place.read_bytes())
    raw[100] ^= 1
    place.write_bytes(raw)
    damaged = [record for record in argus.open(tmp_path / "run") if record.kind == "tensor"]
    failures = []
    for record in damaged:
        try:
            record.numpy()
        except argus.PayloadError as error:
            failures.append(str(error))
    assert failures and all("is damaged" in text and "hint:" in text for text in failures)
