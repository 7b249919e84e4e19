"""pytest for scene tests: the options, markers and fixtures that they use.

Loaded by ``python -m argus.compat -m pytest``. A test directory's own ``conftest.py`` applies as usual; those of a whole
checkout of the reference (its root and ``tests``), which build and dispatch the reference itself, are left out.
"""

from __future__ import annotations

import logging
import os
import types
from pathlib import Path
from typing import Any, Iterator

import pytest

from argus.compat import activate, checkout, engine, generation
from argus.compat.missing import Missing

activate()

from simpler.worker import Worker  # noqa: E402
from simpler_setup._flags import _validate_diagnostic_flags, add_options  # noqa: E402
from simpler_setup._selection import allowed, check_platform  # noqa: E402
from simpler_setup.parallel_scheduler import device_range_to_list  # noqa: E402
from simpler_setup.scene_test import SceneTestCase  # noqa: E402

_MARKERS = (
    "platforms(names): the platforms that a test is for",
    "runtime(name): the runtime that a test needs",
    "device_count(n): how many devices a test needs",
    "manual(platforms): only run with --manual include or only",
    "sdma: needs the copy engines",
    "timeout(seconds): accepted",
)


def pytest_addoption(parser: Any) -> None:
    group = parser.getgroup("argus", "scene tests on simulated chips")
    group.addoption("--platform", default=None, help="a2a3sim or a5sim")
    group.addoption("--device", default="0", help='"0", "4-7" or "0,2,5"')
    group.addoption("--level", type=int, default=None, choices=[2, 3, 4], help="only tests of this level")
    group.addoption("--exclude-level", type=int, default=None, help="no tests of this level")
    group.addoption("--require-pto-isa", action="store_true", default=False, help="accepted; headers come with Argus")
    group.addoption("--pto-session-timeout", type=int, default=0, help="accepted")
    add_options(group.addoption)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any, parser: Any, args: list[str]) -> None:
    """Puts an empty module in the place of the checkout's own conftest files."""
    places = [Path(os.path.abspath(argument.partition("::")[0])) for argument in args if not argument.startswith("-")]
    found = [path for path in places if path.exists()] or [Path.cwd()]
    checkout.remember(found[0] if found[0].is_dir() else found[0].parent)
    if not any(argument.startswith("--import-mode") for argument in args) and _share_names(found):
        # Files of one name in several directories, as the reference has them, cannot be imported by name alone.
        early_config.known_args_namespace.importmode = "importlib"
        early_config.option.importmode = "importlib"
        args.append("--import-mode=importlib")
    for place in found:
        # Also through a symbolic link: pytest asks for the name that was typed.
        for root in dict.fromkeys((place, place.resolve())):
            above = [directory / "conftest.py" for directory in (root, *root.parents)]
            for path in (*above, *(root.rglob("conftest.py") if root.is_dir() else ())):
                if path.is_file() and _is_of_a_checkout(path) and not early_config.pluginmanager.has_plugin(str(path)):
                    early_config.pluginmanager.register(types.ModuleType("argus_no_conftest"), name=str(path))


def _share_names(places: list[Path]) -> bool:
    names: set[str] = set()
    for place in places:
        for path in place.rglob("test_*.py") if place.is_dir() else (place,):
            if path.name in names:
                return True
            names.add(path.name)
    return False


def _is_of_a_checkout(path: Path) -> bool:
    text = path.read_text(errors="replace")
    return "parallel_scheduler" in text or "build_config.py" in text


def pytest_configure(config: Any) -> None:
    for marker in _MARKERS:
        config.addinivalue_line("markers", marker)
    for level in [*(f"V{n}" for n in range(10)), "NUL", "NULL"]:
        # `--log-level` of pytest takes names that `logging` knows.
        logging.addLevelName(engine.LEVELS[level.lower()], level)
    if config.getoption("log_level", default=None):
        engine.set_log_threshold(config.getoption("log_level"))
    _check_options(config)
    # One file that cannot be imported must not keep the others from running.
    config.option.continue_on_collection_errors = True
    if config.getoption("--generation"):
        os.environ[generation.VARIABLE] = config.getoption("--generation")


def _check_options(config: Any) -> None:
    """What no test can run with is refused once, before the first of them."""
    try:
        if config.getoption("--platform") is not None:
            check_platform(config.getoption("--platform"))
        device_range_to_list(config.getoption("--device"))
        _validate_diagnostic_flags(**vars(config.option))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def _class_of(item: Any) -> Any:
    cls = getattr(item, "cls", None)
    return cls if isinstance(cls, type) and issubclass(cls, SceneTestCase) else None


def _is_wanted(item: Any, config: Any) -> bool:
    platform, runtime = config.getoption("--platform"), config.getoption("--runtime")
    level, without = config.getoption("--level"), config.getoption("--exclude-level")
    cls = _class_of(item)
    if cls is not None:
        own = int(cls._st_level)
        if (runtime and cls._st_runtime != runtime) or (level and own != level) or (without and own == without):
            return False
        cases = [case for case in cls.CASES if not platform or platform in case.get("platforms", [])]
        if cls._st_generation == "august" and platform:
            cases = [case for case in cases if allowed(case, platform, config.getoption("--manual"))]
        return bool(cases)
    own = _level_of(item)
    if own is not None and ((level and own != level) or (without and own == without)):
        return False
    marked = {name: item.get_closest_marker(name) for name in ("platforms", "runtime", "manual")}
    if marked["platforms"] and platform and platform not in marked["platforms"].args[0]:
        return False
    if marked["runtime"] and runtime and marked["runtime"].args[0] != runtime:
        return False
    named = [*marked["manual"].args, *marked["manual"].kwargs.values()] if marked["manual"] else []
    platforms = [name for part in named for name in ([part] if isinstance(part, str) else part)]
    case = {"manual": platforms or marked["manual"] is not None}
    return allowed(case, platform or "", config.getoption("--manual"))


def pytest_collection_modifyitems(config: Any, items: list[Any]) -> None:
    kept = [item for item in items if _is_wanted(item, config)]
    left = [item for item in items if item not in kept]
    if left:
        config.hook.pytest_deselected(items=left)
    # Several chips first, then by name.
    items[:] = sorted(kept, key=lambda item: ((_level_of(item) or 2) < 3, item.nodeid))


def _level_of(item: Any) -> int | None:
    """None of a function that does not say it."""
    said = getattr(_class_of(item) or getattr(item, "obj", None), "_st_level", None)
    return None if said is None else int(said)


def _skipped(report: Any, missing: Missing, item: Any) -> None:
    """What needs something that Argus has not is skipped, with the reason."""
    report.outcome = "skipped"
    report.longrepr = (str(item.path), 0, f"Skipped: {missing}")


@pytest.hookimpl(hookwrapper=True)
def pytest_make_collect_report(collector: Any) -> Any:
    outcome = yield
    report = outcome.get_result()
    info = getattr(getattr(report, "call", None), "excinfo", None)
    cause = info.value if info is not None else None
    while cause is not None and not isinstance(cause, Missing):
        cause = cause.__cause__ or cause.__context__
    if report.failed and cause is not None:
        _skipped(report, cause, collector)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: Any, call: Any) -> Any:
    """Puts the verdict of a failed scene test into its report, and its facts where XML files take them from."""
    outcome = yield
    report = outcome.get_result()
    if call.excinfo is not None and isinstance(call.excinfo.value, Missing):
        _skipped(report, call.excinfo.value, item)
    found = getattr(getattr(item, "instance", None), "_st_verdict", None)
    if call.when == "call" and report.failed and found is not None:
        report.sections.append(("Argus: first wrong task", found.text()))
        for name, value in (("argus_dump", found.dump), ("argus_page", found.page)):
            if value is not None:
                item.user_properties.append((name, str(value)))
        if found.first_wrong:
            item.user_properties.append(("argus_first_wrong", found.first_wrong[0]))


@pytest.fixture(scope="session")
def st_platform(request: Any) -> str:
    """The platform that the tests run on."""
    platform = request.config.getoption("--platform")
    if not platform:
        pytest.skip("scene tests need --platform")
    return str(platform)


class DevicePool:
    """Numbers of devices; any number is a simulated device."""

    def __init__(self, ids: list[int]) -> None:
        self._available = list(ids)

    def allocate(self, count: int = 1) -> list[int]:
        if count > len(self._available):
            return []
        taken, self._available = self._available[:count], self._available[count:]
        return taken

    def release(self, ids: list[int]) -> None:
        self._available = sorted({*self._available, *ids})


@pytest.fixture(scope="session")
def device_pool(request: Any) -> DevicePool:
    return DevicePool(device_range_to_list(request.config.getoption("--device")))


@pytest.fixture
def st_device_ids(request: Any, device_pool: DevicePool) -> Iterator[list[int]]:
    """As many devices as the test's marker says."""
    marker = request.node.get_closest_marker("device_count")
    count = int(marker.args[0]) if marker else 1
    ids = device_pool.allocate(count)
    if len(ids) < count:
        pytest.fail(f"the test needs {count} devices; name more of them with --device")
    yield ids
    device_pool.release(ids)


@pytest.fixture(scope="session")
def _st_workers() -> Iterator[dict[tuple[str, str], Worker]]:
    workers: dict[tuple[str, str], Worker] = {}
    yield workers
    for worker in workers.values():
        worker.close()


@pytest.fixture
def st_worker(request: Any, st_platform: str, _st_workers: dict[tuple[str, str], Worker]) -> Worker:
    """The Worker that all classes of one runtime share."""
    cls = _class_of(request.node)
    if cls is None:
        pytest.skip("st_worker is for scene tests")
    if int(cls._st_level) != 2:
        pytest.skip(f"level {cls._st_level} needs several chips; Argus simulates one")
    key = (st_platform, cls._st_runtime)
    if key not in _st_workers:
        device = device_range_to_list(request.config.getoption("--device"))[0]
        worker = Worker(level=2, platform=st_platform, runtime=cls._st_runtime, device_id=device)
        worker.init()
        worker._st_device_id = device  # type: ignore[attr-defined]
        _st_workers[key] = worker
    return _st_workers[key]
