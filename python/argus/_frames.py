"""Records as tables of other libraries, read from the Parquet file that `argus export` writes."""

from __future__ import annotations

import importlib
from typing import Any

from argus.errors import UsageError

_NEEDED = {"arrow": ["pyarrow"], "pandas": ["pyarrow", "pandas"], "polars": ["polars"]}


def check(kind: str) -> None:
    """Checks that the libraries are installed, before any work is done."""
    for name in _NEEDED[kind]:
        try:
            importlib.import_module(name)
        except ImportError as error:
            raise UsageError(f"{name} is not installed", hint=f"pip install {' '.join(_NEEDED[kind])}") from error


def read(kind: str, path: str) -> Any:
    """The file as a table of that kind."""
    if kind == "polars":
        import polars

        return polars.read_parquet(path)
    from pyarrow import parquet

    table = parquet.read_table(path)
    return table.to_pandas() if kind == "pandas" else table
