"""Arguments of a scene test by name."""

from __future__ import annotations

import copy
from typing import Any, Iterator, NamedTuple


class TensorArg(NamedTuple):
    """A tensor and its name."""

    name: str
    value: Any


#: June's word for it.
Tensor = TensorArg


class Scalar(NamedTuple):
    """A number and its name."""

    name: str
    value: Any


class TaskArgsBuilder:
    """Tensors, then scalars, each an attribute under its own name."""

    def __init__(self, *specs: TensorArg | Scalar) -> None:
        self._specs: list[TensorArg | Scalar] = []
        self._by_name: dict[str, Any] = {}
        for spec in specs:
            self._add(spec)

    def _add(self, spec: Any) -> None:
        if not isinstance(spec, (TensorArg, Scalar)):
            raise TypeError(f"an argument is a Tensor or a Scalar, not {type(spec).__name__}")
        if isinstance(spec, TensorArg) and any(isinstance(known, Scalar) for known in self._specs):
            raise ValueError(f"tensor '{spec.name}' comes after a scalar; tensors come first")
        if spec.name in self._by_name:
            raise ValueError(f"there are two arguments called '{spec.name}'")
        if hasattr(type(self), spec.name):
            raise ValueError(f"an argument cannot be called '{spec.name}': TaskArgsBuilder has a member of that name")
        self._specs.append(spec)
        self._by_name[spec.name] = spec.value

    def add_tensor(self, name: str, value: Any) -> TaskArgsBuilder:
        self._add(TensorArg(name, value))
        return self

    def add_scalar(self, name: str, value: Any) -> TaskArgsBuilder:
        self._add(Scalar(name, value))
        return self

    @property
    def specs(self) -> list[TensorArg | Scalar]:
        return list(self._specs)

    def tensor_names(self) -> list[str]:
        return [spec.name for spec in self._specs if isinstance(spec, TensorArg)]

    def clone(self) -> TaskArgsBuilder:
        """The same names with values of their own."""
        made = TaskArgsBuilder()
        for spec in self._specs:
            if isinstance(spec, TensorArg):
                made.add_tensor(spec.name, spec.value.clone())
            else:
                made.add_scalar(spec.name, copy.copy(spec.value))
        return made

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._by_name[name]
        except KeyError:
            known = ", ".join(self._by_name) or "none"
            raise AttributeError(f"there is no argument '{name}'; there are: {known}") from None

    def __iter__(self) -> Iterator[TensorArg | Scalar]:
        return iter(self._specs)


class CallableNamespace:
    """Callables by name, for tests of several chips."""

    def __init__(self, entries: dict[str, Any]) -> None:
        self._entries = dict(entries)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._entries:
            raise AttributeError(name)
        return self._entries[name]
