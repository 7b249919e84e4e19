"""Runs at the start of every Python process that a scene test starts: its ``simpler_setup`` is ours as well."""

import importlib.machinery
import importlib.util
import os
import sys
from pathlib import Path


def _load(name, path):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


_here = Path(os.path.abspath(__file__)).parent
if os.environ.get("ARGUS_COMPAT"):
    _load("_argus_compat_finder", _here.parent / "_finder.py").install()

# Another file of this name may be the machine's own.
_others = [path for path in sys.path if os.path.abspath(path) != str(_here)]
_spec = importlib.machinery.PathFinder.find_spec("sitecustomize", _others)
if _spec is not None and _spec.origin:
    _load("_argus_other_sitecustomize", _spec.origin)
