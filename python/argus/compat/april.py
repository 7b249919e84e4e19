"""Tests of the form that came before scene tests: a ``golden.py`` beside a directory with a ``kernel_config.py``.

``golden.py`` has ``generate_inputs(params)``, ``compute_golden(tensors, params)`` and ``__outputs__``, and may have ``RTOL``,
``ATOL``, ``ALL_CASES`` and ``DEFAULT_CASE``; ``kernel_config.py`` has ``ORCHESTRATION``, ``KERNELS`` and
``RUNTIME_CONFIG``. Both become one scene test, so every option of those works here.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any, Sequence

from simpler.task_interface import ArgDirection
from simpler_setup import _standalone
from simpler_setup._selection import PLATFORMS
from simpler_setup.scene_test import Scalar, SceneTestCase, TaskArgsBuilder, TensorArg, scene_test

CONFIG = "kernel_config.py"
#: The name of the only case of a test that names none.
ONLY = "Default"


class Refused(Exception):
    """Files that do not make a test."""


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="run_example.py", allow_abbrev=False, add_help=False)
    parser.add_argument("-k", "--kernels", required=True, type=Path, help=f"the directory of {CONFIG}")
    parser.add_argument("-g", "--golden", required=True, type=Path, help="golden.py")
    parser.add_argument("--all", action="store_true", help="every case, not only the default one")
    own, rest = parser.parse_known_args(arguments)
    try:
        test = scene(own.golden, own.kernels)
    except Refused as error:
        return _standalone.refuse(str(error))
    module = ModuleType("run_example")
    setattr(module, test.__name__, test)
    asks_for_cases = any(word.partition("=")[0] in ("--case", "--manual") for word in rest)
    # Cases besides the default one are what scene tests call manual ones.
    more = ["--manual", "include"] if own.all or asks_for_cases and "--manual" not in rest else []
    return _standalone.main(module, [*rest, *more])


def scene(golden_path: Path, kernels: Path) -> Any:
    """The scene test that two files describe."""
    golden, config = load(golden_path), load(kernels / CONFIG)
    inputs, compute, outputs, orchestration, incores, settings = (
        wanted(module, name)
        for module, names in ((golden, ("generate_inputs", "compute_golden", "__outputs__")),
                              (config, ("ORCHESTRATION", "KERNELS", "RUNTIME_CONFIG")))
        for name in names
    )
    cases = getattr(golden, "ALL_CASES", None) or {ONLY: {}}
    default = getattr(golden, "DEFAULT_CASE", None) or next(iter(cases))
    if default not in cases:
        raise Refused(f"{golden.__file__}: DEFAULT_CASE is '{default}', and ALL_CASES has {', '.join(cases)}")
    run = {name: settings[name] for name in ("aicpu_thread_num", "block_dim") if name in settings}

    class Example(SceneTestCase):
        CALLABLE = {"orchestration": dict(orchestration), "incores": [dict(kernel) for kernel in incores]}
        CASES = [
            {"name": name, "platforms": list(PLATFORMS), "config": run,
             "params": {"name": name, **params}, "manual": name != default}
            for name, params in cases.items()
        ]
        RTOL = float(getattr(golden, "RTOL", 1e-5))
        ATOL = float(getattr(golden, "ATOL", 1e-5))

        def generate_args(self, params: dict[str, Any]) -> TaskArgsBuilder:
            made = [TensorArg(name, value) if hasattr(value, "data_ptr") else Scalar(name, value)
                    for name, value in dict(inputs(params)).items()]
            return TaskArgsBuilder(*sorted(made, key=lambda spec: isinstance(spec, Scalar)))

        def compute_golden(self, args: TaskArgsBuilder, params: dict[str, Any]) -> None:
            compute({spec.name: spec.value for spec in args.specs}, params)

        def _st_signature(self, args: TaskArgsBuilder) -> Sequence[Any]:
            unknown = [name for name in outputs if name not in args.tensor_names()]
            if unknown:
                raise ValueError(f"__outputs__ names '{unknown[0]}'; the tensors are {', '.join(args.tensor_names())}")
            return [ArgDirection.INOUT if name in outputs else ArgDirection.IN for name in args.tensor_names()]

    Example.__name__ = Example.__qualname__ = golden_path.resolve().parent.name
    for entry in (Example.CALLABLE["orchestration"], *Example.CALLABLE["incores"]):
        entry["source"] = os.path.join(kernels.resolve(), entry["source"])
    return scene_test(level=2, runtime=settings.get("runtime", "host_build_graph"))(Example)


def load(path: Path) -> ModuleType:
    """A file as a module; it finds its neighbours."""
    if not path.is_file():
        raise Refused(f"there is no file {path}")
    directory = str(path.resolve().parent)
    if directory not in sys.path:
        sys.path.insert(0, directory)
    spec = importlib.util.spec_from_file_location(f"argus_example_{path.stem}", path.resolve())
    assert spec is not None and spec.loader is not None, "a file of Python has a loader"
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        traceback.print_exception(error)
        raise Refused(f"{path} raised {type(error).__name__}: {error}") from None
    return module


def wanted(module: ModuleType, name: str) -> Any:
    if not hasattr(module, name):
        raise Refused(f"{module.__file__} has no {name}")
    return getattr(module, name)
