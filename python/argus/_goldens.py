"""Goldens per kernel: functions that say what the outputs of a task should hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TYPE_CHECKING, Any

from argus import _arrays
from argus.errors import Error, GoldenError, UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from argus._native import Payload

_PREFIX = "golden_"


@dataclass(frozen=True)
class TaskArgument:
    """One argument of a task, as it was before the task ran."""

    #: The number of the argument.
    arg: int
    #: ``input``, ``output`` or ``inout``.
    role: str
    dtype: str
    shape: tuple[int, ...]
    _bytes: Payload | bytes | None
    _bits: int | None

    @property
    def is_scalar(self) -> bool:
        """Whether it is a scalar and not a tensor."""
        return self._bits is not None

    @property
    def captured(self) -> bool:
        """Whether its value before the task is known; for an output it is not."""
        return self._bytes is not None or self._bits is not None

    def numpy(self) -> NDArray[Any]:
        """The elements, as a read-only view of the mapped dump; for a scalar, a zero-dimensional array."""
        if self._bits is not None:
            return _arrays.scalar(self._bits, self.dtype)
        if self._bytes is None:
            raise GoldenError(f"argument {self.arg} ({self.role}) has no captured value before the task")
        return _arrays.array(self._bytes, self.dtype, self.shape)


@dataclass(frozen=True)
class GoldenTask:
    """One task as a golden sees it."""

    #: The id of the task, such as ``0x200000001``.
    id: str
    #: Names of its kernels.
    kernels: tuple[str, ...]
    func_ids: tuple[int, ...]
    #: The number of clusters it runs on.
    blocks: int
    #: By number.
    arguments: tuple[TaskArgument, ...]

    @property
    def kernel(self) -> str:
        """The names of its kernels, each once, joined by ``+``."""
        return "+".join(dict.fromkeys(self.kernels))

    @property
    def inputs(self) -> list[NDArray[Any]]:
        """The tensors that it reads, as they were before it ran."""
        read = [each for each in self.arguments if not each.is_scalar and each.role != "output"]
        return [each.numpy() for each in read]

    @property
    def outputs(self) -> list[TaskArgument]:
        """The tensors that it writes, by number; a golden returns values for these."""
        return [each for each in self.arguments if not each.is_scalar and each.role != "input"]

    @property
    def scalars(self) -> list[Any]:
        """Its scalars as numbers."""
        return [each.numpy().item() for each in self.arguments if each.is_scalar]

    def argument(self, number: int) -> TaskArgument:
        """The argument with this number."""
        for each in self.arguments:
            if each.arg == number:
                return each
        raise GoldenError(f"task {self.id} {self.kernel} has no argument {number}")


def resolve(golden: Any) -> tuple[str | None, Callable[[GoldenTask], Any] | None]:
    """Turns what a caller gives into a directory of arrays or a function for every task."""
    if golden is None:
        return None, None
    if isinstance(golden, (str, os.PathLike)):
        return os.fspath(golden), None
    if isinstance(golden, Mapping):
        return None, _by_kernel({str(name): function for name, function in golden.items()})
    if isinstance(golden, (ModuleType, type)):
        return None, _of_namespace(golden)
    if callable(golden):
        return None, golden
    return None, _of_namespace(golden)


def _of_namespace(golden: Any) -> Callable[[GoldenTask], Any]:
    whole = getattr(golden, "golden", None)
    if isinstance(golden, type) and whole is not None and not isinstance(golden.__dict__.get("golden"), staticmethod):
        # A method of a scene test needs an instance; such classes are constructed without arguments.
        whole = getattr(golden(), "golden")
    if callable(whole):
        found: Callable[[GoldenTask], Any] = whole
        return found
    holder = golden() if isinstance(golden, type) else golden
    named = {name[len(_PREFIX) :]: getattr(holder, name) for name in dir(holder) if name.startswith(_PREFIX)}
    functions = {name: function for name, function in named.items() if callable(function)}
    if not functions:
        what = getattr(golden, "__name__", type(golden).__name__)
        raise UsageError(
            f"{what} has no golden",
            hint="give it a function golden(task), or golden_NAME(task) for the kernels that it knows",
        )
    return _by_kernel(functions)


def _by_kernel(functions: Mapping[str, Callable[[GoldenTask], Any]]) -> Callable[[GoldenTask], Any]:
    lower = {name.lower(): function for name, function in functions.items()}

    def golden(task: GoldenTask) -> Any:
        function = lower.get(task.kernel.lower()) or lower.get(task.kernel.lower().replace("+", "_"))
        return None if function is None else function(task)

    return golden


def expected(function: Callable[[GoldenTask], Any], facts: Any) -> list[tuple[int, bytes]] | None:
    """Calls a golden and returns its outputs as bytes by argument, or ``None`` if it gives none. Called by the search."""
    name, kernels, func_ids, blocks, arguments = facts
    task = GoldenTask(
        name,
        tuple(kernels),
        tuple(func_ids),
        blocks,
        tuple(
            TaskArgument(slot, role, dtype, tuple(shape), raw, bits)
            for slot, role, dtype, shape, raw, bits in arguments
        ),
    )
    try:
        answer = function(task)
        return None if answer is None else _outputs(task, answer)
    except Error:
        raise
    except Exception as error:
        message = f"the golden of task {task.id} {task.kernel} raised {type(error).__name__}: {error}"
        raise GoldenError(message) from error


def _outputs(task: GoldenTask, answer: Any) -> list[tuple[int, bytes]]:
    """An array for the only output, a sequence for all of them, or a mapping from argument numbers."""
    if isinstance(answer, Mapping):
        given = {int(number): value for number, value in answer.items()}
    elif isinstance(answer, Sequence) and not hasattr(answer, "dtype"):
        if len(answer) != len(task.outputs):
            raise GoldenError(
                f"the golden of task {task.id} {task.kernel} returned {len(answer)} outputs; "
                f"the task has {len(task.outputs)}: {_listed(task)}"
            )
        given = {output.arg: value for output, value in zip(task.outputs, answer)}
    elif len(task.outputs) == 1:
        given = {task.outputs[0].arg: answer}
    else:
        raise GoldenError(
            f"the golden of task {task.id} {task.kernel} returned one array; the task has {len(task.outputs)} outputs: "
            f"{_listed(task)}",
            hint="return a list of arrays, or a dictionary from argument numbers to arrays",
        )
    found = []
    for number, value in given.items():
        output = next((each for each in task.outputs if each.arg == number), None)
        if output is None:
            raise GoldenError(
                f"the golden of task {task.id} {task.kernel} returned argument {number}, "
                f"which is no output; the outputs are {_listed(task)}"
            )
        if value is None:
            continue
        try:
            found.append((number, _arrays.elements(value, output.dtype, output.shape)))
        except (ValueError, TypeError) as error:
            message = f"the golden of task {task.id} {task.kernel} does not fit argument {number}: {error}"
            raise GoldenError(message) from error
    return found


def _listed(task: GoldenTask) -> str:
    return ", ".join(f"{each.arg} ({each.dtype} {list(each.shape)})" for each in task.outputs)
