"""Which messages of orchestrations are shown."""

from __future__ import annotations

from argus.compat import engine

#: The level without any setting, by name.
DEFAULT_LOG_LEVEL = "timing"


def configure_logging(level: str | int | None = None) -> None:
    """Takes a name or a number; an unknown name means the default."""
    engine.set_log_threshold(level)
