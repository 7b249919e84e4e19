"""Names of the reference's packages that Argus has nothing behind: several chips, their communication, hardware.

Test files import them at their head beside names that work, so importing one is no error. Using it is, and says which.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from types import ModuleType
from typing import Any


class Missing(NotImplementedError):
    """Something of the reference that Argus does not have was used."""


class _Placeholder(type):
    """A class that may be named, also in annotations, and not used."""

    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise Missing(f"{cls.__module__}.{cls.__name__} is not part of Argus, which simulates one chip at a time")

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise Missing(f"{cls.__module__}.{cls.__name__}.{name} is not part of Argus, which simulates one chip at a time")


def placeholder(module: str, name: str) -> Any:
    return _Placeholder(name, (), {"__module__": module})


def attribute(module: str, name: str) -> Any:
    """The answer of a module's ``__getattr__``: a class for every public name."""
    if name.startswith("_") or not name[:1].isalpha():
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    whole = f"{module}.{name}"
    places = getattr(sys.modules.get(module), "__path__", None)
    if places and importlib.machinery.PathFinder.find_spec(whole, places) is not None:
        # `from simpler import worker` asks the package before it imports the file.
        return importlib.import_module(whole)
    return placeholder(module, name)


def module(name: str) -> ModuleType:
    """A module all of whose names are missing."""
    made = ModuleType(name, "Not part of Argus.")
    made.__path__ = []  # type: ignore[attr-defined]
    made.__getattr__ = lambda attr: attribute(name, attr)  # type: ignore[method-assign]
    sys.modules[name] = made
    return made
