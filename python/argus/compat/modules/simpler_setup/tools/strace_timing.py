"""Spans of the run log: ``[STRACE]`` lines to values, and runs out of them."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from typing import Iterable

_MARK = re.compile(r"\[STRACE\] ((?:\S+=\S* ?)+)")
_NUMBERS = ("pid", "tid", "inv", "depth", "ts", "dur")


@dataclass(frozen=True)
class Span:
    """A stretch of time of one run."""

    pid: int
    tid: int
    inv: int
    hid: int
    depth: int
    name: str
    ts: int
    dur: int
    attrs: dict[str, str] = field(default_factory=dict)


@dataclass
class Invocation:
    """All spans of one run."""

    pid: int
    inv: int
    spans: list[Span] = field(default_factory=list)

    @property
    def hid(self) -> int:
        return self.spans[0].hid

    def by_name(self) -> dict[str, Span]:
        """The earliest span of each name."""
        found: dict[str, Span] = {}
        for span in sorted(self.spans, key=lambda span: span.ts):
            found.setdefault(span.name, span)
        return found


def parse_spans(lines: Iterable[str] | str) -> list[Span]:
    """The spans in a log. Two may share a line, so marks are looked for, not lines."""
    text = lines if isinstance(lines, str) else "\n".join(lines)
    spans = []
    for match in _MARK.finditer(text):
        pairs = dict(part.split("=", 1) for part in match.group(1).split())
        try:
            numbers = {name: int(pairs.pop(name)) for name in _NUMBERS}
            hid, name = int(pairs.pop("hid"), 16), pairs.pop("name")
        except (KeyError, ValueError):
            # Cut off in the middle.
            continue
        pairs.pop("v", None)
        spans.append(Span(hid=hid, name=name, attrs=pairs, **numbers))
    return spans


def group_invocations(spans: Iterable[Span]) -> list[Invocation]:
    """Runs in the order of their first span."""
    found: dict[tuple[int, int], Invocation] = {}
    for span in spans:
        found.setdefault((span.pid, span.inv), Invocation(span.pid, span.inv)).spans.append(span)
    return list(found.values())


def main() -> int:
    text = open(sys.argv[1]).read() if len(sys.argv) > 1 else sys.stdin.read()
    for run in group_invocations(parse_spans(text)):
        for span in run.spans:
            sys.stdout.write(f"{run.pid} {run.inv} {'  ' * span.depth}{span.name} {span.dur / 1000:.3f} us\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
