"""Every example in a docstring runs and shows what it says."""

import doctest
import importlib
import inspect
import pkgutil
import shutil

import argus
import pytest


def modules():
    """The package without `argus.compat`, whose examples are scene tests."""
    yield argus
    for found in pkgutil.iter_modules(argus.__path__, "argus."):
        if found.name != "argus.compat":
            yield importlib.import_module(found.name)


def documented():
    """Every docstring, by the name of what it describes."""
    seen = {}
    for module in modules():
        seen.setdefault(module.__name__, module.__doc__)
        for name, value in vars(module).items():
            if name.startswith("__") or not getattr(value, "__module__", "argus").startswith("argus"):
                continue
            if inspect.isclass(value):
                seen.setdefault(value.__qualname__, value.__doc__)
                for member, content in vars(value).items():
                    seen.setdefault(f"{value.__qualname__}.{member}", getattr(content, "__doc__", None))
            elif callable(value):
                seen.setdefault(value.__name__, value.__doc__)
    return {name: text for name, text in seen.items() if text and ">>>" in text}


EXAMPLES = documented()


def test_the_examples_are_found():
    assert {"argus", "open", "Dump.filter", "Record.numpy", "run", "find", "replay", "trace"} <= set(EXAMPLES)


@pytest.fixture(scope="module")
def my_run(tmp_path_factory):
    """The dump that the examples speak of."""
    place = tmp_path_factory.mktemp("examples") / "my_run"
    argus.run("vector_example", dump=place)
    return place


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_example(name, my_run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(my_run, "my_run")
    example = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, 0)
    runner = doctest.DocTestRunner()
    report = []
    runner.run(example, out=report.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(report)


def test_everything_public_is_described():
    missing = []
    for name in argus.__all__:
        value = getattr(argus, name)
        if not inspect.getdoc(value):
            missing.append(name)
        if inspect.isclass(value):
            members = [member for member in vars(value) if not member.startswith("_")]
            missing += [f"{name}.{member}" for member in members if callable(vars(value)[member]) and not inspect.getdoc(getattr(value, member))]
    assert missing == []
