"""Kernels and orchestrations to objects, one at a time."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Sequence

from argus.compat import engine, generation


class KernelCompiler:
    """The machine's compiler with our headers."""

    #: Set by runs with a sanitizer, which there are none of here.
    _sanitizers: str = ""

    def __init__(self, platform: str = "a2a3sim", **_: Any) -> None:
        self.platform = platform

    @property
    def project_root(self) -> Path:
        return Path(engine.compiler().headers)

    def get_orchestration_include_dirs(self, runtime_name: str) -> list[str]:
        """Directories with headers that kernels may share with orchestrations."""
        return [str(engine.compiler().headers)]

    def get_platform_include_dirs(self) -> list[str]:
        return []

    def compile_incore(
        self,
        source_path: str | os.PathLike[str],
        core_type: str = "aiv",
        pto_isa_root: str | None = None,
        extra_include_dirs: Sequence[str | os.PathLike[str]] | None = None,
        build_dir: str | None = None,
        *,
        runtime_name: str = "tensormap_and_ringbuffer",
    ) -> engine.CompiledBytes:
        """A kernel for one kind of core."""
        return self._compile(source_path, core_type, extra_include_dirs, runtime_name)

    def compile_orchestration(
        self,
        runtime_name: str,
        source_path: str | os.PathLike[str],
        extra_include_dirs: Sequence[str | os.PathLike[str]] | None = None,
        build_dir: str | None = None,
        **_: Any,
    ) -> engine.CompiledBytes:
        """An orchestration for a runtime."""
        return self._compile(source_path, "orchestration", extra_include_dirs, runtime_name)

    def _compile(
        self,
        source_path: str | os.PathLike[str],
        role: str,
        extra: Sequence[str | os.PathLike[str]] | None,
        runtime: str,
    ) -> engine.CompiledBytes:
        source = os.path.abspath(source_path)
        found = generation.remember(generation.of_sources([source]))
        headers = os.path.abspath(engine.compiler().headers)
        # Our headers are always there; directories that do not exist are left out, as compilers do.
        include = [str(path) for path in extra or [] if os.path.isdir(path) and os.path.abspath(path) != headers]
        return engine.compile_sources([(source, role, include)], self.platform, runtime, found)[0]
