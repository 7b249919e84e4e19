"""Types: the package and its examples under mypy's strictest rules, and the stubs against the module itself."""

import subprocess
import sys
from pathlib import Path

import argus

PYTHON = Path(__file__).resolve().parents[1]
PACKAGE = Path(argus.__file__).parent.parent


def test_package_and_examples_pass_strict_mypy(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", PYTHON / "pyproject.toml"]
    command += ["--cache-dir", tmp_path, "--exclude", "argus/(compat|include)", "argus", "examples"]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=PYTHON)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_stubs_say_what_the_module_has(tmp_path):
    command = [sys.executable, "-m", "mypy.stubtest", "argus._native", "--ignore-missing-stub"]
    command += ["--ignore-disjoint-bases", "--mypy-config-file", PYTHON / "pyproject.toml"]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=PACKAGE)
    assert answer.returncode == 0, answer.stdout + answer.stderr


def test_the_readme_shows_the_quick_start():
    example = (PYTHON / "examples/quick_start.py").read_text().split('"""\n\n', 1)[1]
    for page in (PYTHON.parent / "README.md", PYTHON / "README.md"):
        assert f"```python\n{example}```" in page.read_text(), page
    assert len([line for line in example.splitlines() if line]) <= 10


def test_examples_run(tmp_path):
    for example in sorted((PYTHON / "examples").glob("*.py")):
        answer = subprocess.run([sys.executable, example], capture_output=True, text=True, cwd=tmp_path)
        assert answer.returncode == 0, f"{example.name}: {answer.stdout}{answer.stderr}"
