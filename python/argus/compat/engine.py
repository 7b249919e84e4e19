"""Compiling and running scene tests, over ``argus._native``: the same code that the command line runs."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import tempfile
from pathlib import Path
from typing import Any, Iterable, Iterator, Sequence

from argus import _native
from argus.compat import generation as generations

#: Numbers of the levels of messages, as the reference has them.
LEVELS = {
    "debug": 10,
    **{f"v{n}": 15 + n for n in range(10)},
    "info": 20,
    "timing": 25,
    "warn": 30,
    "warning": 30,
    "error": 40,
    "nul": 60,
    "null": 60,
}
_threshold: int | None = None


def log_threshold(generation: str | None = None) -> int:
    """What was set; else June shows V5 and above, August what is about times and worse."""
    if _threshold is not None:
        return _threshold
    return 25 if (generation or generations.current()) == "august" else 20


def set_log_threshold(level: str | int | None) -> int:
    """Takes a name or a number; an unknown name means the default."""
    global _threshold
    if isinstance(level, str):
        level = int(level) if level.isdigit() else LEVELS.get(level.lower())
    _threshold = level
    return log_threshold()


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Nothing is logged: what happens now was told before."""
    global _threshold
    before, _threshold = _threshold, LEVELS["nul"]
    try:
        yield
    finally:
        _threshold = before


def native_log_level() -> int:
    """The threshold in the numbers of the native module."""
    number = log_threshold()
    for limit, native in ((10, 4), (24, 3), (25, 2), (30, 1), (40, 0)):
        if number <= limit:
            return native
    # Not even errors; the native module has no number for that.
    return 0


@functools.lru_cache(maxsize=1)
def compiler() -> Any:
    """The machine's compiler."""
    return _native.SceneCompiler()


class CompiledBytes(bytes):
    """An object's bytes that know where they came from."""

    path: str | None
    role: str
    generation: str
    runtime: str | None
    source: str | None
    sources: list[tuple[str, str]]
    command: str | None

    @classmethod
    def made(cls, compiled: Any, role: str, generation: str, runtime: str, source: str) -> CompiledBytes:
        made = cls(compiled.read())
        made.path = str(compiled.path)
        made.role, made.generation, made.runtime, made.source = role, generation, runtime, source
        made.sources = compiled.sources
        made.command = compiled.command
        _known.setdefault(hashlib.sha256(made).digest(), made)
        return made

    @classmethod
    def of(cls, binary: bytes) -> CompiledBytes:
        """The same bytes with what is known about them."""
        if isinstance(binary, cls):
            return binary
        known = _known.get(hashlib.sha256(bytes(binary)).digest())
        if known is not None:
            return known
        made = cls(binary)
        made.path, made.role, made.generation = None, "unknown", generations.current()
        made.runtime, made.source, made.sources, made.command = None, None, [], None
        return made

    def file(self) -> str:
        """A file that holds them."""
        if self.path is None:
            handle, name = tempfile.mkstemp(prefix="argus_object_", suffix=".so")
            with os.fdopen(handle, "wb") as file:
                file.write(self)
            self.path = name
        return self.path


_known: dict[bytes, CompiledBytes] = {}


def compile_sources(
    sources: Sequence[tuple[str, str, Sequence[str]]], platform: str, runtime: str, generation: str
) -> list[CompiledBytes]:
    """The objects of sources, each with its role (``orchestration``, ``aic``, ``aiv``) and include directories."""
    root = common_root(source for source, _, _ in sources)
    units = [(source, role, [str(path) for path in include]) for source, role, include in sources]
    made = compiler().compile(units, platform, runtime, generation, root)
    return [
        CompiledBytes.made(compiled, role, generation, runtime, source)
        for compiled, (source, role, _) in zip(made, units)
    ]


def common_root(sources: Iterable[str]) -> str | None:
    """The directory that holds all of them; None if that is the whole file system."""
    directories = {os.path.dirname(os.path.realpath(source)) for source in sources}
    if not directories:
        return None
    root = os.path.commonpath(sorted(directories))
    # Sources of a scene lie in directories of their own; headers beside them belong to it.
    return None if root == os.path.sep else root


def program(callable_: Any, scene: str) -> Any:
    """The program of a ChipCallable, its objects opened."""
    kernels = []
    for func_id, core in callable_.children:
        binary = core.binary
        role = binary.role if binary.role in ("aic", "aiv") else "aiv"
        name = core.name or (Path(binary.source).stem if binary.source else f"func_{func_id}")
        kernels.append((func_id, name, role, [int(d) for d in core.signature], binary.file(), binary.sources))
    return _native.SceneProgram(
        callable_.binary.file(),
        callable_.func_name,
        callable_.config_name,
        kernels,
        origin(callable_, scene, kernels),
        native_log_level(),
    )


_WORDS = {0: "scalar", 1: "in", 2: "out", 3: "inout"}


def origin(callable_: Any, scene: str, kernels: Sequence[Any]) -> tuple[str, list[tuple[str, str]], list[str]] | None:
    """Where the code of a program came from: a scene file made for it, and every source, so that its dump can be
    replayed wherever it is."""
    binaries = [callable_.binary, *(core.binary for _, core in callable_.children)]
    if not kernels or any(binary.source is None for binary in binaries):
        return None
    root = common_root(binary.source for binary in binaries)
    if root is None:
        return None
    relative = [os.path.relpath(os.path.realpath(binary.source), root) for binary in binaries]
    lines = [
        f"name = {_quoted(scene)}",
        'about = "made from a scene test"',
        f"runtime = {_quoted(binaries[0].runtime)}",
        f"generation = {_quoted(binaries[0].generation)}",
        "",
        "[orchestration]",
        f"source = {_quoted(relative[0])}",
    ]
    lines += [f"entry = {_quoted(callable_.func_name)}"] * bool(callable_.func_name)
    lines += [f"config = {_quoted(callable_.config_name)}"] * bool(callable_.config_name)
    for (func_id, name, role, signature, _, _), source in zip(kernels, relative[1:]):
        words = ", ".join(_quoted(_WORDS[direction]) for direction in signature)
        lines += ["", "[[kernel]]", f"func_id = {func_id}", f"name = {_quoted(name)}"]
        lines += [f"source = {_quoted(source)}", f"core = {_quoted(role)}", f"signature = [{words}]"]
    files = {"scene.toml": "\n".join(lines) + "\n"}
    for binary in binaries:
        files.update(binary.sources)
    commands = [binary.command for binary in binaries if binary.command]
    return (os.path.join(root, "scene.toml"), list(files.items()), commands)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
