"""The level from which on messages of orchestrations are shown."""

from __future__ import annotations

from argus.compat.engine import log_threshold


def get_current_config() -> int:
    """The number of the lowest level that is shown. Only August asks, before anything is compiled as well."""
    return log_threshold("august")
