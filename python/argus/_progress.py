"""The progress of a long call: one line on a terminal or in a notebook, nothing anywhere else."""

from __future__ import annotations

import html
import importlib
import sys
from typing import Any

_handle: Any = None
_width = 0


def show(text: str) -> bool:
    """Redraws the line, or removes it if the text is empty. Returns whether there is a place for it."""
    global _handle, _width
    if _in_notebook():
        notebook: Any = importlib.import_module("IPython.display")
        shown = notebook.HTML(f"<span>{html.escape(text)}</span>")
        if _handle is None:
            _handle = notebook.display(shown, display_id=True)
        else:
            _handle.update(shown)
        if not text:
            _handle = None
        return True
    if not sys.stderr.isatty():
        return False
    sys.stderr.write("\r" + text.ljust(_width) + ("\r" if not text else ""))
    sys.stderr.flush()
    _width = len(text)
    return True


def _in_notebook() -> bool:
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    return shell is not None and hasattr(shell, "kernel")
