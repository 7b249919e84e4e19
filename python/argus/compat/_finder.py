"""Lets the names of the reference's packages lead to ours, in this interpreter and in those it starts.

This file uses nothing but the standard library and is also loaded by its path, from ``child/sitecustomize.py``, before
anything else of a child process is there.
"""

from __future__ import annotations

import importlib.machinery
import os
import sys
from pathlib import Path

HERE = Path(os.path.abspath(__file__)).parent
#: Packages of the reference that scene tests import.
NAMES = frozenset({"simpler", "simpler_setup", "_task_interface"})
#: Set in the environment while the names are ours.
VARIABLE = "ARGUS_COMPAT"


class OurNames:
    """Answers for the reference's packages before the search path is looked at: a checkout of the reference may lie
    there."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if path is None and name in NAMES:
            return importlib.machinery.PathFinder.find_spec(name, [str(HERE / "modules")])
        return None


class TorchStandIn:
    """Answers for torch where it is not installed. A directory of that name without any file of Python's is not torch."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if path is not None or name != "torch":
            return None
        installed = importlib.machinery.PathFinder.find_spec(name)
        if installed is not None and installed.loader is not None and installed.origin is not None:
            return None
        return importlib.machinery.PathFinder.find_spec(name, [str(HERE / "stand_in")])


class NotThere:
    """Answers for parts of the reference's packages that Argus has not, after everything else: they can be imported and
    not used (see ``missing``)."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if "." in name and name.partition(".")[0] in NAMES and not name.rpartition(".")[2].startswith("_"):
            return importlib.machinery.ModuleSpec(name, NotThere, is_package=True)
        return None

    @staticmethod
    def create_module(spec):
        from argus.compat import missing

        return missing.module(spec.name)

    @staticmethod
    def exec_module(module):
        pass


def is_active() -> bool:
    return OurNames in sys.meta_path


def install(stand_in: bool = True) -> None:
    """Makes the names ours in this interpreter."""
    if not is_active():
        sys.meta_path.insert(0, OurNames)
    if NotThere not in sys.meta_path:
        sys.meta_path.append(NotThere)
    if stand_in and TorchStandIn not in sys.meta_path:
        sys.meta_path.insert(1, TorchStandIn)


def pass_on() -> None:
    """Makes the names ours in every Python process that this one starts."""
    os.environ[VARIABLE] = "1"
    # The package itself must be found by children whose interpreter has another search path.
    package = str(HERE.parent.parent)
    known = [part for part in os.environ.get("PYTHONPATH", "").split(os.pathsep) if part]
    child = str(HERE / "child")
    rest = [part for part in known if part != child]
    if package not in rest:
        rest.append(package)
    os.environ["PYTHONPATH"] = os.pathsep.join([child, *rest])
