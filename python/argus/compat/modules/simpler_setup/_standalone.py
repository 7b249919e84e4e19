"""``python test_x.py -p a2a3sim``: the scene tests of one file as a program."""

from __future__ import annotations

import argparse
import os
import sys
import sysconfig
import traceback
from typing import Any

from argus.compat import engine, generation
from simpler.worker import Worker
from simpler_setup._flags import Flags, _validate_diagnostic_flags, add_options
from simpler_setup._selection import PLATFORMS, SelectionError, check, check_platform, parse_selectors, select
from simpler_setup.parallel_scheduler import device_range_to_list


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="Runs the scene tests of this file.", allow_abbrev=False)
    made.add_argument("-p", "--platform", required=True, choices=PLATFORMS)
    made.add_argument("-d", "--device", default="0", help='"0", "4-7" or "0,2,5"')
    made.add_argument("--level", type=int, default=None, choices=[2, 3, 4], help="only tests of this level")
    made.add_argument("-x", "--exitfirst", action="store_true", help="stop at the first failure")
    made.add_argument("--log-level", default=None, help="messages from this level on")
    made.add_argument("-v", "--verbose", action="store_true", help="show the traceback of each failure")
    made.add_argument("-c", dest="pto_isa_commit", default=None, help=argparse.SUPPRESS)
    add_options(made.add_argument)
    return made


def scene_classes(module: Any) -> list[Any]:
    """The scene tests of a module: in June all that it can see, in August those that it defines."""
    from simpler_setup.scene_test import SceneTestCase

    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, SceneTestCase) and value is not SceneTestCase
        and getattr(value, "_st_directory", "") and value.CASES
    ]
    unique = list(dict.fromkeys(found))
    own = [cls for cls in unique if cls.__module__ == module.__name__]
    is_august = generation.of_module(module) == "august" or (own and own[0]._st_generation == "august")
    return own if is_august else unique


def main(module: Any, arguments: list[str]) -> int:
    options = parser().parse_args(arguments)
    if options.generation:
        os.environ[generation.VARIABLE] = options.generation
        for cls in scene_classes(module):
            cls._st_generation = options.generation
    if options.log_level is not None:
        engine.set_log_threshold(options.log_level)
    try:
        device_range_to_list(options.device)
        check_platform(options.platform)
        _validate_diagnostic_flags(**vars(options))
    except ValueError as error:
        return refuse(str(error))
    classes = scene_classes(module)
    if options.runtime:
        classes = [cls for cls in classes if cls._st_runtime == options.runtime]
    if options.level:
        classes = [cls for cls in classes if int(cls._st_level) == options.level]
    if not classes and (options.runtime or options.level):
        return 0
    selectors = parse_selectors(options.case)
    try:
        check(classes, options.platform, selectors, options.manual)
    except SelectionError as error:
        return refuse(str(error))
    return run(classes, options, selectors)


def refuse(reason: str) -> int:
    sys.stderr.write(f"ERROR: {reason}\n")
    return 2


def flags_of(options: Any, of: str) -> Flags:
    flags = Flags(
        rounds=options.rounds,
        skip_golden=options.skip_golden,
        dump=int(options.dump_args or options.dump_tensor),
        swimlane=int(options.enable_l2_swimlane or options.enable_chip_swimlane),
        pmu=int(options.enable_pmu),
        dep_gen=options.enable_dep_gen,
        scope_stats=options.enable_scope_stats,
    )
    return flags.of_rounds(of)


def run(classes: list[Any], options: Any, selectors: Any) -> int:
    failed = False
    groups: dict[tuple[str, int], list[Any]] = {}
    for cls in classes:
        groups.setdefault((cls._st_runtime, int(cls._st_level)), []).append(cls)
    said: dict[str, Flags] = {}
    for (runtime, level), members in groups.items():
        chosen = [(cls, select(cls, options.platform, selectors, options.manual)) for cls in members]
        chosen = [(cls, cases) for cls, cases in chosen if cases]
        if not chosen:
            continue
        for cls, _ in chosen:
            if cls._st_generation not in said:
                said[cls._st_generation] = flags_of(options, cls._st_generation)
        print(f"\n=== Runtime: {runtime}  Level: {level} ===", flush=True)
        worker = Worker(level=2, device_id=0, platform=options.platform, runtime=runtime)
        try:
            worker.init()
            for cls, cases in chosen:
                for case in cases:
                    passed = run_case(cls, case, worker, options, said[cls._st_generation])
                    failed |= not passed
                    if failed and options.exitfirst:
                        return 1
        finally:
            worker.close()
    return int(failed)


def _raised_at(error: BaseException) -> str | None:
    """The line of the test that raised, for what it raised itself or called: a text such as 'x' alone says little."""
    ours = os.path.dirname(os.path.dirname(os.path.abspath(engine.__file__)))
    others = tuple(place + os.sep for place in (ours, sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")))
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not os.path.abspath(frame.filename).startswith(others)
    ]
    if not frames:
        return None
    last = frames[-1]
    return f"{type(error).__name__} at {last.filename}:{last.lineno}, in {last.name}: {last.line}"


def run_case(cls: Any, case: dict[str, Any], worker: Any, options: Any, flags: Flags) -> bool:
    name = f"  {cls.__name__}::{case['name']}"
    august = cls._st_generation == "august"
    print(f"{name} ...", end="\n" if august else " ", flush=True)
    lead = f"{name} " if august else ""
    test = cls()
    try:
        test._st_run_case(worker, options.platform, case, flags)
    except Exception as error:  # noqa: BLE001: any failure of a test is its result
        print(f"{lead}FAILED: {error}", flush=True)
        place = _raised_at(error)
        if place:
            sys.stderr.write(f"    {place}\n")
        found = getattr(test, "_st_verdict", None)
        if found is not None:
            sys.stderr.write("".join(f"    {line}\n" for line in found.lines))
        if options.verbose:
            traceback.print_exc()
        return False
    print(f"{lead}PASSED", flush=True)
    return True
