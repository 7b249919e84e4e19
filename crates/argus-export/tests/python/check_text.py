"""Compares text files with what Python's own formatting makes of the payloads.

Arguments: a June or August dump's directory, a directory with an export of all of its records as txt.
"""

import pathlib
import struct
import sys
from itertools import product

from dump_reader import entries, manifest, payload

CODES = {
    "FLOAT32": ("f", "%.6g"), "FLOAT16": ("e", "%.4g"), "BFLOAT16": ("H", "%.3g"), "INT32": ("i", None),
    "INT16": ("h", None), "INT8": ("b", None), "UINT8": ("B", None), "INT64": ("q", None), "UINT64": ("Q", None),
}

dump, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
august = "args" in manifest(dump)
keys = ["task_id", "role", "stage", "arg_index", "dtype"] + (["kind"] if august else [])
keys += ["is_contiguous", "shape", "strides", "start_offset"]
count = 0
for entry in entries(dump):
    stage = entry["stage"].split("_")[0]
    role = {"input": "in", "output": "out", "inout": "inout"}[entry["role"]]
    lines = [f"# {key}: {entry[key]}" for key in keys]
    data = payload(dump, entry)
    if entry["kind"] == "scalar" and august:
        value = entry["value"]
        lines.append(f"# value: {str(value).lower() if isinstance(value, bool) else value}")
    elif not data:
        lines.append("# (no data)")
    else:
        code, style = CODES[entry["dtype"]]
        values = struct.unpack(f"<{len(data) // struct.calcsize('<' + code)}{code}", data)
        if entry["dtype"] == "BFLOAT16":
            values = struct.unpack(f"<{len(values)}f", struct.pack(f"<{len(values)}I", *(v << 16 for v in values)))
        texts = [style % v if style else str(v) for v in values]
        width = max(map(len, texts))
        row = entry["shape"][-1]
        lines += ["", "# Overview:"]
        lines += [" ".join(t.rjust(width) for t in texts[i : i + row]) for i in range(0, len(texts), row)]
        lines += ["", "# Detail:"]
        places = product(*(range(extent) for extent in entry["shape"]))
        lines += [f"[{', '.join(map(str, place))}] {text}" for place, text in zip(places, texts)]
    path = out / f"task_{entry['task_id']}_{stage}_{role}{entry['arg_index']}.txt"
    expected = "\n".join(lines) + "\n"
    assert path.read_text() == expected, (path, path.read_text()[:600], expected[:600])
    count += 1
assert count == len(list(out.iterdir()))
