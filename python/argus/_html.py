"""What a notebook shows: a tensor, a dump, a run, a verdict, a replay, a timeline. Plain tables and SVG, no scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from argus.errors import Error

if TYPE_CHECKING:
    from argus._find import Verdict
    from argus._native import Dump, Record
    from argus._replay import Replay
    from argus._run import Run
    from argus._trace import Timeline

#: Cells of a heat map.
_ROWS, _COLUMNS = 32, 64
#: Boxes of a timeline.
_BOXES = 4000
_GOOD, _BAD, _OPEN = "#2e7d32", "#c62828", "#b26a00"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    cells = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(_text(value))}</td>" for value in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _word(word: str, good: bool | None) -> str:
    color = _OPEN if good is None else _GOOD if good else _BAD
    return f'<b style="color:{color}">{escape(word.replace("_", " ").upper())}</b>'


def _notes(notes: Iterable[str]) -> str:
    return "".join(f"<div>note: {escape(note)}</div>" for note in notes)


def record(record: Record) -> str:
    """A tensor: what it is, its statistics, and a map of its values."""
    facts = f"{record.kernel} {record.task_id}, argument {record.arg}, {record.role} {record.stage}"
    head = f"<div><b>{escape(facts)}</b> {escape(str(record.dtype))} {escape(str(list(record.shape)))}</div>"
    if record.kind == "scalar":
        return head + f"<div>{escape(_text(record.value))}</div>"
    statistics = record.statistics
    if statistics is None:
        return head + "<div>the dump has no payload of it</div>"
    names = ["count", "min", "max", "mean", "std", "zero", "nan", "unwritten", "inf"]
    return head + _table(names, [[getattr(statistics, name) for name in names]]) + _heat_map(record)


def _heat_map(record: Record) -> str:
    """Means of blocks of elements as colors; blocks with elements that are not finite are marked."""
    try:
        import numpy

        values = record.numpy().astype("f4").reshape(-1, record.shape[-1] if record.shape else 1)
    except (ImportError, Error):
        return ""
    if values.size == 0:
        return ""
    rows, columns = min(_ROWS, values.shape[0]), min(_COLUMNS, values.shape[1])
    finite = numpy.isfinite(values)
    row_at = numpy.linspace(0, values.shape[0], rows, endpoint=False).astype(int)
    column_at = numpy.linspace(0, values.shape[1], columns, endpoint=False).astype(int)

    def blocks(of: Any) -> Any:
        return numpy.add.reduceat(numpy.add.reduceat(of, row_at, axis=0), column_at, axis=1)

    counts = blocks(finite.astype("f8"))
    sums = blocks(numpy.where(finite, values, 0).astype("f8"))
    means = numpy.divide(sums, counts, out=numpy.zeros_like(sums), where=counts > 0)
    broken = blocks((~finite).astype("f8")) > 0
    low, high = float(means.min()), float(means.max())
    scale = (means - low) / (high - low) if high > low else numpy.full_like(means, 0.5)
    size = 8
    boxes = []
    for row in range(rows):
        for column in range(columns):
            if broken[row, column]:
                color = _BAD
            else:
                shade = float(scale[row, column])
                color = f"rgb({int(40 + 200 * shade)},{int(60 + 150 * shade)},{int(160 - 90 * shade)})"
            boxes.append(f'<rect x="{column * size}" y="{row * size}" width="{size}" height="{size}" fill="{color}"/>')
    legend = f"means of blocks from {low:.6g} (dark) to {high:.6g} (bright)"
    if broken.any():
        legend += "; red blocks hold elements that are not finite"
    return (
        f'<svg width="{columns * size}" height="{rows * size}" role="img" aria-label="heat map">{"".join(boxes)}</svg>'
        f"<div>{escape(legend)}</div>"
    )


def dump(dump: Dump) -> str:
    """A dump: where it came from and what it holds."""
    facts = [dump.scene, dump.case, dump.platform, dump.runtime, len(dump), dump.ending]
    head = ["scene", "case", "platform", "runtime", "records", "ending"]
    why = f"<div>{escape(dump.why)}</div>" if dump.why else ""
    return f"<div><b>{escape(str(dump.directory))}</b></div>" + _table(head, [facts]) + why + _notes(dump.notes)


def run(run: Run) -> str:
    """A run: its outputs compared with what they should be."""
    word = _word("pass" if run.passed else "fail", run.passed) if run.compared else _word("not compared", None)
    title = f"{run.scene} {run.case} on {run.platform}, {run.runtime}"
    rows = [
        [number + 1, f"{each.elapsed_ms:.1f}", each.tasks, output.name, output.elements, output.mismatches, output.max_abs_error]
        for number, each in enumerate(run.rounds)
        for output in each.outputs
    ]
    head = ["round", "ms", "tasks", "output", "elements", "mismatches", "max abs error"]
    dumps = "".join(f"<div>dump: {escape(str(place))}</div>" for place in run.dumps)
    return f"<div>{word} {escape(title)}</div>" + _table(head, rows) + dumps


def verdict(verdict: Verdict) -> str:
    """A verdict: the first wrong tasks, what their errors look like and where they are."""
    good = True if verdict else None if verdict.exit_code == 2 else False
    said = f"{verdict.judged} of {verdict.judgeable} tasks judged by {verdict.compared_with}"
    parts = [f"<div>{_word(verdict.word, good)} {escape(said)}</div>"]
    parts.append(_table([name.replace("_", " ") for name in verdict.counts], [list(verdict.counts.values())]))
    if verdict.failure is not None:
        parts.append(f"<div>the run failed: {escape(verdict.failure)}</div>")
    for first in verdict.first_wrong[:8]:
        title = f"{first.kernel} {first.task_id}: {first.verdict.replace('_', ' ')}"
        parts.append(f"<div><b>{escape(title)}</b> {escape(first.why or '')}</div>")
        for output in first.outputs:
            looks = "; ".join(finding["evidence"] for finding in output["looks_like"])
            facts = f"argument {output['arg_index']} {output['dtype']} {output['shape']}"
            parts.append(f"<div>{escape(facts)}: {escape(looks or 'no pattern fits')}</div>" + _error_map(output["map"]))
    return "".join(parts) + _notes(verdict.notes)


def _error_map(told: dict[str, Any]) -> str:
    rows, columns, cell, size = told["rows"], told["columns"], max(told["cell"], 1), 6
    boxes = [
        f'<rect x="{place % columns * size}" y="{place // columns * size}" width="{size}" height="{size}" '
        f'fill="{_BAD}" fill-opacity="{0.25 + 0.75 * count / cell:.2f}"/>'
        for place, count in enumerate(told["beyond"])
        if count
    ]
    ground = f'<rect width="{columns * size}" height="{rows * size}" fill="#eee"/>'
    return (
        f'<svg width="{columns * size}" height="{rows * size}" role="img" aria-label="map of wrong elements">'
        f"{ground}{''.join(boxes)}</svg>"
    )


def replay(replay: Replay) -> str:
    """A replay: each output compared with what was captured."""
    good = None if replay.word == "not_compared" else replay.passed
    head = ["arg", "verdict", "elements", "compared", "differing", "unwritten"]
    rows = [[getattr(output, name) for name in head] for output in replay.outputs]
    error = f"<div>{escape(replay.error)}</div>" if replay.error else ""
    flaky = "".join(f"<div>{escape(each)}</div>" for each in replay.flaky)
    title = f"{replay.kernel} {replay.task_id} on {replay.platform}"
    return f"<div>{_word(replay.word, good)} {escape(title)}</div>" + _table(head, rows) + error + flaky + _notes(replay.notes)


def timeline(timeline: Timeline) -> str:
    """A timeline: every track of every core, and what limits the task."""
    title = f"{timeline.kernel} {timeline.task_id} on {timeline.platform}"
    said = f"{timeline.instructions} instructions, {timeline.cycles} cycles, {timeline.time_us:.2f} us"
    tracks = list(dict.fromkeys((each.core, each.track) for each in timeline.slices))
    row = {track: number for number, track in enumerate(tracks)}
    width, height, left = 900, 16, 190
    scale = width / max(timeline.cycles, 1)
    longest = sorted(timeline.slices, key=lambda each: each.start - each.end)[:_BOXES]
    boxes = []
    for each in longest:
        color = "#bbb" if "wait" in each.instruction.lower() else f"hsl({hash_color(each.instruction)},55%,55%)"
        tip = f"{each.instruction} {each.start}..{each.end} {each.source}"
        boxes.append(
            f'<rect x="{left + each.start * scale:.1f}" y="{row[each.core, each.track] * height + 2}" '
            f'width="{max((each.end - each.start) * scale, 0.5):.1f}" height="{height - 4}" fill="{color}">'
            f"<title>{escape(tip)}</title></rect>"
        )
    names = "".join(
        f'<text x="0" y="{number * height + 12}" font-size="11">{escape(f"{core} {track}")}</text>'
        for number, (core, track) in enumerate(tracks)
    )
    svg = f'<svg width="{left + width}" height="{len(tracks) * height}" role="img" aria-label="timeline">{names}{"".join(boxes)}</svg>'
    left_out = len(timeline.slices) - len(longest)
    more = f"<div>the {left_out} shortest slices are not drawn</div>" if left_out else ""
    hazards = f"<div>{_word(f'{len(timeline.hazards)} hazards', False)}</div>" if timeline.hazards else ""
    statement = escape(timeline.summary["statement"])
    return (
        f"<div><b>{escape(title)}</b>: {escape(said)}; {escape(timeline.bottleneck)}</div>{hazards}{svg}{more}"
        f"<div>{statement}</div>" + _notes(timeline.notes)
    )


def hash_color(name: str) -> int:
    """The same color for the same instruction in every process."""
    return sum(ord(letter) * (place + 7) for place, letter in enumerate(name)) % 360
