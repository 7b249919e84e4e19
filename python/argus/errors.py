"""The exceptions of this package, as one small tree.

Every exception of this package is an :class:`Error`. Ctrl-C is a ``KeyboardInterrupt`` as anywhere else in Python.
"""

from __future__ import annotations

__all__ = ["DumpError", "Error", "GoldenError", "PayloadError", "RunError", "UsageError"]


class Error(Exception):
    """The base class of all exceptions of this package.

    >>> import argus
    >>> try:
    ...     argus.open("no/such/place")
    ... except argus.Error as error:
    ...     print(type(error).__name__)
    DumpError
    """

    def __init__(self, message: str, *, hint: str | None = None, next: str | None = None) -> None:
        super().__init__(message)
        #: What went wrong, without the hint.
        self.message = message
        #: What would help, if known.
        self.hint = hint
        #: The command to type next, if there is one.
        self.next = next

    def __str__(self) -> str:
        lines = [self.message]
        if self.hint is not None:
            lines.append(f"hint: {self.hint}")
        if self.next is not None:
            lines.append(f"next: {self.next}")
        return "\n".join(lines)


class UsageError(Error):
    """What was requested does not exist or is not valid."""


class DumpError(Error):
    """A dump that cannot be read."""


class PayloadError(Error):
    """A record without the requested bytes: never captured, overwritten, truncated or damaged."""


class RunError(Error):
    """A run that failed, or could not start."""


class GoldenError(Error):
    """A golden function that raised, or returned something that does not fit its task."""
