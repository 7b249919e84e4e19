"""Lists the records of a dump and writes them as text: ``python -m simpler_setup.tools.dump_viewer DIRECTORY``."""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

from simpler_setup.tools._files import found, load

_FILES = ("args_dump.json", "tensor_dump.json")
_STAGES = {"before": "before_dispatch", "after": "after_completion"}
_SHORT = {"input": "in", "output": "out", "inout": "inout"}
#: Types that are shown as numbers: how NumPy reads them, and how one is written.
_TYPES = {
    "float32": ("<f4", "%.6g"),
    "float16": ("<f2", "%.4g"),
    "bfloat16": ("<u2", "%.3g"),
    **{name: (f"<{name[0]}{int(name.strip('uint')) // 8}", "%d") for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    "bool": ("u1", "%d"),
}
#: What the head of a text says; June says nothing of the kind, and nothing of the value of a scalar.
_HEAD = ("task_id", "role", "stage", "arg_index", "dtype", "kind", "is_contiguous", "shape", "strides", "start_offset")


class Dump:
    """A manifest, its payload, and whether it speaks of args or of tensors."""

    def __init__(self, path: Path) -> None:
        manifest = load(path)
        self.directory = path.parent
        self.word = "arg" if "args" in manifest else "tensor"
        self.records: list[dict[str, Any]] = manifest["args" if "args" in manifest else "tensors"]
        self._payload = self.directory / manifest["bin_file"] if manifest.get("bin_file") else None

    def bytes_of(self, record: dict[str, Any]) -> bytes:
        if self._payload is None:
            return b""
        with self._payload.open("rb") as file:
            file.seek(record["bin_offset"])
            return file.read(record["bin_size"])


def elements(record: dict[str, Any], data: bytes) -> list[str]:
    """The elements as text, as many as the bytes hold; single bytes of a type that is shown as none."""
    import numpy

    if record["dtype"].lower() not in _TYPES:
        return [f"0x{byte:02X}" for byte in data]
    plain, form = _TYPES[record["dtype"].lower()]
    values = numpy.frombuffer(data[: len(data) // numpy.dtype(plain).itemsize * numpy.dtype(plain).itemsize], plain)
    if record["dtype"].lower() == "bfloat16":
        values = (values.astype("<u4") << 16).view("<f4")
    return [form % value for value in values.tolist()]


def text(dump: Dump, record: dict[str, Any]) -> str:
    """One record: its head, an overview by rows, and each element with its place."""
    is_august = dump.word == "arg"
    lines = [f"# {name}: {record[name]}" for name in _HEAD if name in record and (is_august or name != "kind")]
    if record.get("overwritten"):
        return "\n".join([*lines, "# DATA OVERWRITTEN (host too slow)"]) + "\n"
    if record.get("truncated"):
        lines.append("# DATA TRUNCATED (tensor too large for arena)")
    if is_august and record.get("kind") == "scalar":
        return "\n".join([*lines, f"# value: {record['value']}"]) + "\n"
    if not record["bin_size"]:
        return "\n".join([*lines, "# (no data)"]) + "\n"
    told = elements(record, dump.bytes_of(record))
    shape = record.get("shape") or [1]
    width, row = max(map(len, told), default=0), max(shape[-1], 1)
    lines += ["", "# Overview:"]
    lines += [" ".join(part.rjust(width) for part in told[at : at + row]) for at in range(0, len(told), row)]
    lines += ["", "# Detail:"]
    places = itertools.product(*map(range, shape))
    lines += [f"{list(place)} {part}" for place, part in zip(places, told)]
    return "\n".join(lines) + "\n"


def file_name(record: dict[str, Any]) -> str:
    stage = "before" if record["stage"] == _STAGES["before"] else "after"
    role = _SHORT.get(record.get("role", ""), record.get("role", ""))
    return f"task_{record['task_id']}_{stage}_{role}{record['arg_index']}.txt"


def table(records: list[dict[str, Any]]) -> str:
    widths = {"idx": 6, "task_id": 18, "stage": 7, "role": 5, "arg": 3, "dtype": 8}
    lines = ["  ".join([*(name.rjust(width) for name, width in widths.items()), "shape".ljust(20), "bytes".rjust(10)]), "-" * 100]
    for number, record in enumerate(records):
        stage = "before" if record["stage"] == _STAGES["before"] else "after"
        role = _SHORT.get(record.get("role", ""), record.get("role", ""))
        cells = (number, record["task_id"], stage, role, record["arg_index"], record["dtype"])
        shown = [str(cell).rjust(width) for cell, width in zip(cells, widths.values())]
        lines.append("  ".join([*shown, str(record.get("shape", [])).ljust(20), str(record["bin_size"]).rjust(10)]))
    return "\n".join(lines) + "\n"


def fail(reason: str) -> int:
    sys.stderr.write(f"{reason}\n")
    return 1


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="dump_viewer", description="Lists the records of a dump and writes them as text.")
    made.add_argument("dump_dir", nargs="?", help="directory of the dump or of the run [default: the newest run]")
    made.add_argument("-t", "--task", help="only this task, by its id")
    made.add_argument("-s", "--stage", help="before or after")
    made.add_argument("-r", "--role", help="input, output or inout")
    made.add_argument("-a", "--arg", type=int, help="only this argument")
    made.add_argument("-i", "--index", type=int, help="write the record at this place of the manifest as text")
    made.add_argument("-e", "--export", action="store_true", help="write the records as text")
    return made


def main(arguments: list[str] | None = None) -> int:
    options = parser().parse_args(arguments)
    path = found(options.dump_dir, _FILES, "dump")
    if options.dump_dir is None:
        sys.stdout.write(f"Using latest dump directory: {path.parent}\n")
    dump = Dump(path)
    if options.index is not None:
        if not 0 <= options.index < len(dump.records):
            return fail(f"error: there is no index {options.index}; the last is {len(dump.records) - 1}")
        return export(dump, [dump.records[options.index]])
    chosen = dump.records
    if options.task is not None:
        ids = list(dict.fromkeys(record["task_id"] for record in chosen))
        if options.task not in ids:
            return fail(f"error: there is no task {options.task}; there are {', '.join(ids[:5])}")
        chosen = [record for record in chosen if record["task_id"] == options.task]
    if options.stage is not None:
        if options.stage not in (*_STAGES, *_STAGES.values()):
            return fail(f"error: a stage is before or after, not {options.stage}")
        chosen = [record for record in chosen if record["stage"] == _STAGES.get(options.stage, options.stage)]
    if options.role is not None:
        if options.role not in _SHORT:
            return fail(f"error: a role is {', '.join(_SHORT)}, not {options.role}")
        chosen = [record for record in chosen if record.get("role") == options.role]
    if options.arg is not None:
        numbers = sorted({record["arg_index"] for record in chosen})
        if options.arg not in numbers:
            return fail(f"error: there is no argument {options.arg}; there are {', '.join(map(str, numbers))}")
        chosen = [record for record in chosen if record["arg_index"] == options.arg]
    if not chosen:
        return fail(f"No {dump.word}s match the given filters.")
    if options.export:
        return export(dump, chosen)
    if any(value is not None for value in (options.task, options.stage, options.role, options.arg)):
        sys.stdout.write(f"Filtered: {len(chosen)}/{len(dump.records)} {dump.word}s\n")
        sys.stdout.write(f"Add --export to save these {dump.word}s to {dump.directory / 'txt'}\n\n")
    sys.stdout.write(table(chosen))
    return 0


def export(dump: Dump, records: list[dict[str, Any]]) -> int:
    place = dump.directory / "txt"
    place.mkdir(exist_ok=True)
    for record in records:
        target = place / file_name(record)
        target.write_text(text(dump, record))
        sys.stdout.write(f"Saved: {target}\n")
    sys.stdout.write(f"\nExported {len(records)} {dump.word}(s) to {place}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
