"""Scene tests: a class with an orchestration, kernels, inputs and what must come out."""

from __future__ import annotations

import contextlib
import inspect
import json
import os
import sys
from enum import IntEnum
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Callable, Iterator, Sequence

from argus.compat import engine, generation
from argus.compat.missing import Missing
from simpler.task_interface import ArgDirection, CallConfig, ChipCallable, ChipStorageTaskArgs, CoreCallable
from simpler_setup._arguments import CallableNamespace, Scalar, TaskArgsBuilder, Tensor, TensorArg
from simpler_setup._flags import Flags, _validate_diagnostic_flags
from simpler_setup._outputs import _outputs_dir, _sanitize_for_filename, make_prefix
from simpler_setup._selection import is_manual_for_platform, parse_selectors, select
from simpler_setup.torch_interop import make_tensor_arg
from simpler_setup._diagnosis import diagnose

#: What a case may configure; others are refused in August.
_CONFIG_KEYS = {"aicpu_thread_num", "runtime_env", "device_count", "num_sub_workers"}
_RING_KEYS = {"ring_task_window", "ring_heap", "ring_dep_pool"}


class SceneTestLevel(IntEnum):
    """How much of a machine a test needs: one chip, one machine, several."""

    CHIP = 2
    NODE = 3
    NETWORK1 = 4
    NETWORK2 = 5
    NETWORK3 = 6
    # The same under the names of other months.
    HOST = 3
    NETWORK = 4
    L2 = 2
    L3 = 3
    L4 = 4


def scene_level(level: Any) -> Any:
    """The level of a scene test or of a marked function; given a level itself, a decorator that marks a function."""
    if hasattr(level, "_st_level"):
        return SceneTestLevel(level._st_level)
    number = int(SceneTestLevel[level.upper()] if isinstance(level, str) else level)

    def decorate(test: Any) -> Any:
        test._st_level = number
        return test

    return decorate


def scene_test(level: int = 2, runtime: str = "tensormap_and_ringbuffer", **extra: Any) -> Callable[[type], type]:
    """Marks a class as a scene test. Paths in its CALLABLE are relative to the file that defines it."""

    def decorate(cls: Any) -> Any:
        cls._st_level = int(level)
        cls._st_runtime = runtime
        for name, value in extra.items():
            setattr(cls, f"_st_{name}", value)
        here = os.path.dirname(os.path.abspath(_file_of(cls)))
        cls._st_directory = here
        _resolve_sources(cls, here)
        cls._st_generation = _generation_of(cls)
        if cls._st_generation == "august" and int(level) == 2:
            _check_cases(cls)
        return cls

    return decorate


def _file_of(cls: Any) -> str:
    """The file that defines a class."""
    try:
        return inspect.getfile(cls)
    except TypeError:
        # Its module was loaded by its path and is in no list of modules; its methods know where they are from.
        methods = [value for value in vars(cls).values() if inspect.isfunction(value)]
        if not methods:
            raise
        return str(methods[0].__code__.co_filename)


def _resolve_sources(cls: Any, here: str) -> None:
    described = cls.__dict__.get("CALLABLE") or getattr(cls, "CALLABLE", None)
    if not isinstance(described, dict):
        return

    def resolved(entry: Any) -> Any:
        if not isinstance(entry, dict):
            return entry
        entry = dict(entry)
        source = entry.get("source")
        if isinstance(source, (str, os.PathLike)) and not os.path.isabs(source):
            entry["source"] = os.path.join(here, source)
        if entry.get("extra_include_dirs"):
            entry["extra_include_dirs"] = [
                path if os.path.isabs(path) or path.startswith("$") else os.path.join(here, path)
                for path in map(str, entry["extra_include_dirs"])
            ]
        return entry

    if isinstance(described.get("orchestration"), dict):
        described["orchestration"] = resolved(described["orchestration"])
    if isinstance(described.get("incores"), (list, tuple)):
        described["incores"] = [resolved(entry) for entry in described["incores"]]


def _generation_of(cls: Any) -> str:
    """By the words of its sources; by the names in its module where they cannot be read."""
    described = getattr(cls, "CALLABLE", None)
    paths: list[str] = []
    if isinstance(described, dict) and isinstance(described.get("orchestration"), dict):
        paths = [described["orchestration"].get("source", "")]
        paths += [entry.get("source", "") for entry in described.get("incores", []) if isinstance(entry, dict)]
    readable = [path for path in paths if path and os.path.isfile(path)]
    if readable:
        return generation.of_sources(readable)
    return generation.of_module(sys.modules.get(cls.__module__, SimpleNamespace())) or "june"


def _check_cases(cls: Any) -> None:
    for case in cls.CASES:
        config = case.get("config") or {}
        for key in config:
            if key not in _CONFIG_KEYS:
                raise ValueError(f"{cls.__name__}::{case.get('name')}: unknown config key '{key}'")
        for key in config.get("runtime_env") or {}:
            if key not in _RING_KEYS:
                raise ValueError(f"{cls.__name__}::{case.get('name')}: unknown runtime_env key '{key}'")


_compiled: dict[Any, ChipCallable] = {}


def clear_compile_cache() -> None:
    """Forgets what this process has compiled; files stay in the cache."""
    _compiled.clear()


class SceneTestCase:
    """The base of scene tests: derive, describe, and say what must come out."""

    CALLABLE: dict[str, Any] = {}
    CASES: list[dict[str, Any]] = []
    RTOL: float = 1e-5
    ATOL: float = 1e-5
    RUNTIME_ENV: dict[str, str] = {}
    SKIP_GOLDEN: bool = False

    _st_level = 2
    _st_runtime = "tensormap_and_ringbuffer"
    _st_generation = "june"
    _st_directory = ""

    # What a test says

    def generate_args(self, params: dict[str, Any]) -> TaskArgsBuilder:
        raise NotImplementedError(f"{type(self).__name__} must say its arguments: generate_args(self, params)")

    def compute_golden(self, args: TaskArgsBuilder, params: dict[str, Any]) -> None:
        raise NotImplementedError(f"{type(self).__name__} must say what is right: compute_golden(self, args, params)")

    def compare_outputs(
        self, test_args: Any, golden_args: Any, output_names: Sequence[str], params: dict[str, Any]
    ) -> None:
        """Raises if an output is not what the golden says."""
        __tracebackhide__ = True
        _compare_outputs(test_args, golden_args, output_names, self.RTOL, self.ATOL)

    # What is run

    @classmethod
    def compile_chip_callable(cls, platform: str) -> ChipCallable:
        """Compiles orchestration and kernels, all at once."""
        described = cls.CALLABLE
        if not isinstance(described.get("orchestration"), dict) or "source" not in described["orchestration"]:
            raise ValueError(f"{cls.__name__} must name its orchestration: CALLABLE['orchestration']['source']")
        orchestration, incores = described["orchestration"], described.get("incores", [])
        made_for = generation.remember(cls._st_generation)
        key = (orchestration["source"], tuple(entry["source"] + entry.get("core_type", "aiv") for entry in incores))
        key = (cls.__module__, cls.__qualname__, platform, cls._st_runtime, made_for, key)
        known = _compiled.get(key)
        if known is not None:
            return known
        sources = [(orchestration["source"], "orchestration", _include_dirs(orchestration))]
        sources += [(entry["source"], entry.get("core_type", "aiv"), _include_dirs(entry)) for entry in incores]
        objects = engine.compile_sources(sources, platform, cls._st_runtime, made_for)
        children = [
            (entry["func_id"], CoreCallable(entry.get("signature", []), binary, _kernel_name(entry)))
            for entry, binary in zip(incores, objects[1:])
        ]
        made = ChipCallable(
            orchestration.get("signature", []),
            orchestration.get("function_name", ""),
            objects[0],
            children,
            orchestration.get("config_name", ""),
        )
        made.scene = SimpleNamespace(name=cls.__name__, case="")
        _compiled[key] = made
        return made

    @classmethod
    def build_callable(cls, platform: str) -> ChipCallable:
        if int(cls._st_level) != 2:
            raise Missing(
                f"{cls.__name__} is of level {cls._st_level}: it needs several chips, and Argus simulates one"
            )
        return cls.compile_chip_callable(platform)

    def _build_config(self, config_dict: dict[str, Any] | None, **flags: Any) -> CallConfig:
        config = CallConfig()
        for name, value in (config_dict or {}).items():
            if name == "runtime_env":
                for key, given in (value or {}).items():
                    setattr(config.runtime_env, key, given)
            elif name in ("block_dim", "aicpu_thread_num"):
                setattr(config, name, value)
        if self._st_generation == "august" and "aicpu_thread_num" not in (config_dict or {}):
            config.aicpu_thread_num = 0
        for name, value in flags.items():
            setattr(config, name, value)
        return config

    def _run_and_validate_l2(
        self,
        worker: Any,
        callable_obj: ChipCallable,
        case: dict[str, Any],
        rounds: int = 1,
        skip_golden: bool = False,
        enable_l2_swimlane: int = 0,
        enable_dump_tensor: int = 0,
        enable_pmu: int = 0,
        enable_dep_gen: bool = False,
        enable_scope_stats: bool = False,
        output_prefix: str = "",
        enable_chip_swimlane: int = 0,
        enable_dump_args: int = 0,
    ) -> None:
        """One case from its arguments to its verdict."""
        __tracebackhide__ = True
        params = case.get("params") or {}
        test_args = self.generate_args(params)
        if not isinstance(test_args, TaskArgsBuilder):
            kind = type(test_args).__name__
            raise TypeError(f"generate_args of {type(self).__name__} returned {kind}; it must return a TaskArgsBuilder")
        chip_args, output_names = _build_chip_task_args(test_args, self._st_signature(test_args))
        skip_golden = bool(skip_golden or self.SKIP_GOLDEN or case.get("skip_golden"))
        golden_args = None
        if not skip_golden:
            golden_args = test_args.clone()
            self.compute_golden(golden_args, params)
        config = self._build_config(case.get("config") or {})
        asked = {
            "enable_l2_swimlane": int(enable_l2_swimlane or enable_chip_swimlane),
            "enable_dump_tensor": int(enable_dump_tensor or enable_dump_args),
            "enable_pmu": int(enable_pmu),
            "enable_dep_gen": bool(enable_dep_gen),
            "enable_scope_stats": bool(enable_scope_stats),
            "output_prefix": str(output_prefix),
        }
        for name, value in asked.items():
            # What a test's own _build_config asks for stays.
            if value:
                setattr(config, name, value)
        handle = self._st_registered(worker, callable_obj)
        # Outputs are set back before every further run of the case: those of --rounds, and that of its diagnosis.
        initial = {name: getattr(test_args, name).clone() for name in output_names}
        if callable_obj.scene is None:
            callable_obj.scene = SimpleNamespace(name=type(self).__name__, case="")
        callable_obj.scene.case = case["name"]

        def run_once(config: CallConfig = config, again: bool = True) -> None:
            __tracebackhide__ = True
            for name, value in initial.items() if again else ():
                getattr(test_args, name).copy_(value)
            with self._st_runtime_env():
                worker.run(handle, chip_args, config=config)

        self._st_last = SimpleNamespace(
            args=test_args, golden=golden_args, outputs=output_names, config=config, run_once=run_once
        )
        with self._st_runtime_env():
            for number in range(rounds):
                run_once(again=number > 0)
                if golden_args is not None:
                    self.compare_outputs(test_args, golden_args, output_names, params)

    def _st_signature(self, args: TaskArgsBuilder) -> Sequence[Any]:
        """What the orchestration does to each of its tensors."""
        return self.CALLABLE.get("orchestration", {}).get("signature", [])

    def _st_registered(self, worker: Any, callable_obj: ChipCallable) -> Any:
        """The number of this class's callable at a Worker: registered once."""
        known = worker.__dict__.setdefault("_st_registered", {})
        key = id(callable_obj)
        if key not in known:
            known[key] = (worker.register(callable_obj), callable_obj)
        return known[key][0]

    @contextlib.contextmanager
    def _st_runtime_env(self) -> Iterator[None]:
        """The variables of RUNTIME_ENV while the test runs; paths in them are relative to its directory."""
        before = {name: os.environ.get(name) for name in self.RUNTIME_ENV}
        for name, value in self.RUNTIME_ENV.items():
            text = str(value)
            if name.endswith(("_DIR", "_PATH")) and not os.path.isabs(text):
                text = os.path.join(self._st_directory, text)
            os.environ[name] = text
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value

    def _st_run_case(self, worker: Any, platform: str, case: dict[str, Any], flags: Flags) -> None:
        """One case with the files that the flags ask for."""
        __tracebackhide__ = True
        label = f"{type(self).__name__}_{case['name']}"
        prefix = make_prefix(label) if flags.diagnostics else None
        self._st_prefix = prefix
        given = flags.for_run(str(prefix) if prefix else "")
        callable_obj = self.build_callable(platform)
        known = inspect.signature(self._run_and_validate_l2).parameters
        if not any(parameter.kind is parameter.VAR_KEYWORD for parameter in known.values()):
            # A test that overrides it may be of either generation and take fewer of them.
            given = {name: value for name, value in given.items() if name in known}
        self._st_last = None
        self._st_verdict = None
        try:
            self._run_and_validate_l2(worker, callable_obj, case, **given)
        except Exception as error:
            self._st_verdict = diagnose(self, error, label)
            raise
        finally:
            # June writes the names for the times alone, August for the graph too.
            if prefix is not None and (flags.swimlane or (flags.dep_gen and self._st_generation == "august")):
                self._st_write_name_map(prefix, _sanitize_for_filename(label))
            if prefix is not None:
                self._st_write_views(prefix)

    def _st_write_name_map(self, prefix: Path, label: str) -> None:
        names = {str(entry["func_id"]): entry["name"] for entry in self.CALLABLE.get("incores", []) if "name" in entry}
        orchestrator = self.CALLABLE.get("orchestration", {}).get("name")
        if names or orchestrator:
            told = {"level": int(self._st_level), "orchestrator_name": orchestrator, "callable_id_to_name": names}
            (prefix / f"name_map_{label}.json").write_text(json.dumps(told, indent=2))

    def _st_write_views(self, prefix: Path) -> None:
        """What the reference's runner makes of the files of a case."""
        from simpler_setup.tools import deps_to_graph, swimlane_converter

        for name in swimlane_converter.FILES:
            if (prefix / name).is_file():
                swimlane_converter.convert(prefix / name)
        deps = prefix / "deps.json"
        if self._st_generation == "august" and deps.is_file():
            text = deps_to_graph.text(json.loads(deps.read_text()), str(deps))
            (prefix / "deps_viewer.txt").write_text(text)

    # pytest

    def _matching_cases(self, st_platform: str, request: Any) -> list[dict[str, Any]]:
        selectors = parse_selectors(request.config.getoption("--case", default=None))
        manual = request.config.getoption("--manual", default="exclude")
        return select(type(self), st_platform, selectors, manual)

    @staticmethod
    def _effective_enable_dep_gen(request: Any) -> bool:
        return bool(Flags.of_pytest(request.config).dep_gen)

    def test_run(self, st_platform: str, st_worker: Any, request: Any) -> None:
        """Runs every case that the options select."""
        __tracebackhide__ = True
        import pytest

        cases = self._matching_cases(st_platform, request)
        if not cases:
            manual = request.config.getoption("--manual", default="exclude")
            pytest.skip(f"No cases matched {type(self).__name__} (platform={st_platform}, manual={manual})")
        flags = Flags.of_pytest(request.config)
        for case in cases:
            self._st_case = case["name"]
            self._st_run_case(st_worker, st_platform, case, flags)

    # python test_x.py

    @classmethod
    def run_module(cls, module_name: str) -> None:
        """Runs the scene tests of a module as a program; ends the process with its exit code."""
        from simpler_setup._standalone import main

        sys.exit(main(sys.modules[module_name], sys.argv[1:]))


def _kernel_name(entry: dict[str, Any]) -> str | None:
    return entry.get("name")


def _include_dirs(entry: dict[str, Any]) -> list[str]:
    """Directories that a source asks for: variables are replaced, missing ones are left out unless all are missing."""
    asked = [str(path) for path in entry.get("extra_include_dirs") or []]
    found = []
    for path in asked:
        expanded = os.path.expandvars(path)
        if "$" in expanded:
            raise ValueError(f"{path}: the variable in this include directory is not set")
        if os.path.isdir(expanded):
            found.append(expanded)
    if asked and not found:
        raise ValueError(f"none of the include directories exists: {', '.join(asked)}")
    return found


def _build_chip_task_args(test_args: Any, orch_signature: Sequence[Any]) -> tuple[ChipStorageTaskArgs, list[str]]:
    """The arguments of a run over the memory of the tensors, and the names of the outputs."""
    tensors = [spec for spec in test_args.specs if isinstance(spec, TensorArg)]
    directions = [ArgDirection(direction) for direction in orch_signature]
    directions = [direction for direction in directions if direction != ArgDirection.SCALAR]
    if len(directions) < len(tensors):
        raise ValueError(
            f"the orchestration's signature has {len(directions)} entries, and there are {len(tensors)} tensors"
        )
    args = ChipStorageTaskArgs()
    outputs = []
    for spec in test_args.specs:
        if isinstance(spec, TensorArg):
            args.add_tensor(make_tensor_arg(spec.value, spec.name))
        else:
            args.add_scalar(spec.value)
    for spec, direction in zip(tensors, directions):
        if direction in (ArgDirection.OUT, ArgDirection.INOUT):
            outputs.append(spec.name)
    return args, outputs


#: August's word for it.
_build_l2_ref_args = _build_chip_task_args


def _build_l3_task_args(*_: Any, **__: Any) -> None:
    raise Missing("tests of level 3 need several chips, and Argus simulates one")


def _compare_outputs(
    test_args: Any, golden_args: Any, output_names: Sequence[str], rtol: float = 1e-5, atol: float = 1e-5
) -> None:
    """Every element of every output: ``|actual - expected| <= atol + rtol * |expected|``."""
    __tracebackhide__ = True
    import torch

    for name in output_names:
        actual, expected = getattr(test_args, name), getattr(golden_args, name)
        if not torch.allclose(actual, expected, rtol=rtol, atol=atol):
            difference = (actual - expected).abs().max().item()
            raise AssertionError(f"Golden mismatch on '{name}': max_diff={difference}, rtol={rtol}, atol={atol}")


def _class_wants_sdma(cls: Any) -> bool:
    return bool(getattr(cls, "_st_sdma", False))


__all__ = [
    "CallableNamespace",
    "Scalar",
    "SceneTestCase",
    "SceneTestLevel",
    "TaskArgsBuilder",
    "Tensor",
    "TensorArg",
    "clear_compile_cache",
    "is_manual_for_platform",
    "scene_level",
    "scene_test",
]


def __getattr__(name: str):
    from argus.compat.missing import attribute

    return attribute(__name__, name)
