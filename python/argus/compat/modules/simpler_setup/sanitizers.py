"""Sanitizers of the reference's builds. Ours have none to choose."""

from __future__ import annotations


def resolve(name: str | None) -> str:
    if name in (None, "", "none"):
        return ""
    raise ValueError(f"there is no sanitizer '{name}' here; --sanitizer takes none")


def validate(name: str | None) -> None:
    resolve(name)


def preload_lib(name: str) -> None:
    return None


def is_runtime_loaded(name: str) -> bool:
    return True


def preload_command(name: str) -> str:
    return ""
