"""Platforms, and the runtimes that the reference builds for them. Ours are part of the package."""

from __future__ import annotations

from typing import Any


def parse_platform(platform: str) -> tuple[str, str]:
    """Architecture and variant: ``("a2a3", "sim")``."""
    if platform.endswith("sim"):
        return platform[: -len("sim")], "sim"
    return platform, "onboard"


class RuntimeBuilder:
    """There is nothing to build."""

    def __init__(self, platform: str = "a2a3sim", **_: Any) -> None:
        self.platform = platform

    def list_runtimes(self) -> list[str]:
        return ["host_build_graph", "tensormap_and_ringbuffer"]

    def get_binaries(self, name: str, *_: Any, **__: Any) -> None:
        if name not in self.list_runtimes():
            raise ValueError(f"there is no runtime '{name}'")
