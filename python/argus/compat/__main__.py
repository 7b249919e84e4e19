"""``python -m argus.compat test_x.py [arguments]`` and ``python -m argus.compat -m pytest [arguments]``."""

from __future__ import annotations

import ast
import os
import runpy
import sys
import traceback
from pathlib import Path

from argus.compat import activate, checkout
from argus.compat.missing import Missing

USAGE = """\
usage: python -m argus.compat TEST.py [arguments of the test]
       python -m argus.compat -m MODULE [arguments], for instance -m pytest
       python -m argus.compat run_example.py -k KERNELS -g GOLDEN.py -p PLATFORM [options]

Runs scene tests with the packages simpler and simpler_setup of Argus. run_example.py need not be there: it stands for
April's runner of a golden.py and the kernel_config.py in KERNELS.
"""


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(USAGE)
        return 0 if arguments else 2
    activate()
    if arguments[0] == "-m":
        if len(arguments) < 2:
            sys.stderr.write("error: -m needs the name of a module\n" + USAGE)
            return 2
        return run_module(arguments[1], arguments[2:])
    if os.path.basename(arguments[0]) == "run_example.py":
        from argus.compat import april

        return april.main(arguments[1:])
    return run_file(arguments[0], arguments[1:])


def run_module(name: str, arguments: list[str]) -> int:
    if name == "pytest":
        try:
            import pytest
        except ModuleNotFoundError:
            sys.stderr.write("error: pytest is not installed here; `pip install pytest` gets it\n")
            return 2
        # Workers of xdist and children of a dispatcher read the variable.
        plugins = [part for part in os.environ.get("PYTEST_PLUGINS", "").split(",") if part]
        if "argus.compat.plugin" not in plugins:
            os.environ["PYTEST_PLUGINS"] = ",".join([*plugins, "argus.compat.plugin"])
        return int(pytest.main(arguments))
    sys.argv = [name, *arguments]
    runpy.run_module(name, run_name="__main__", alter_sys=True)
    return 0


def run_file(name: str, arguments: list[str]) -> int:
    path = Path(name)
    if not path.is_file():
        sys.stderr.write(f"error: there is no file {name}\n")
        return 2
    checkout.remember(path.resolve().parent)
    sys.argv = [name, *arguments]
    # As the interpreter does for a script.
    sys.path[0] = str(path.resolve().parent)
    try:
        package = package_of(path)
        if package is None:
            made = runpy.run_path(name, run_name="__main__")
        else:
            # A file that imports its neighbours by their place in a package is run as a part of it.
            sys.path.insert(1, str(package[0]))
            made = runpy.run_module(package[1], run_name="__main__", alter_sys=True)
    except (SystemExit, KeyboardInterrupt):
        raise
    except Missing as error:
        sys.stderr.write(f"error: {name} cannot run here: {error}\n")
        return 2
    except BaseException as error:  # noqa: BLE001: told as the interpreter tells it, without our own frames
        show(error, path)
        return 1
    if any(word.lower().startswith("test") for word in made):
        # Scene tests end the process themselves.
        sys.stderr.write(f"note: {name} ran no scene test as a program; `python -m argus.compat -m pytest {name}` runs it\n")
    return 0


def package_of(path: Path) -> tuple[Path, str] | None:
    """The directory of a file's package and the file's name in it, if the file imports relatively."""
    try:
        tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError):
        # Running it says what is wrong, and where.
        return None
    if not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree)):
        return None
    path = path.resolve()
    names, directory = [path.stem, path.parent.name], path.parent
    while (directory.parent / "__init__.py").is_file():
        directory = directory.parent
        names.append(directory.name)
    return directory.parent, ".".join(reversed(names))


def show(error: BaseException, path: Path) -> None:
    """The traceback from the test file on. A file that cannot be parsed has none."""
    trace, file = error.__traceback__, os.path.realpath(path)
    while trace is not None and os.path.realpath(trace.tb_frame.f_code.co_filename) != file:
        trace = trace.tb_next
    if trace is None and not isinstance(error, SyntaxError):
        trace = error.__traceback__
    traceback.print_exception(type(error), error, trace)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
