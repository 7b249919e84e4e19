"""Reads a dump of any age with json and numpy alone: what exports are compared with."""

import json
import pathlib

import numpy as np

BITS = {
    "FLOAT32": 32, "FLOAT16": 16, "INT32": 32, "INT16": 16, "INT8": 8, "UINT8": 8, "BFLOAT16": 16, "INT64": 64,
    "UINT64": 64, "UINT16": 16, "UINT32": 32, "BOOL": 8, "FP8E4M3FN": 8, "FP8E8M0": 8, "FP4E2M1": 4,
}


def manifest(directory):
    path = sorted(pathlib.Path(directory).glob("*_dump*.json"))[0]
    return json.loads(path.read_text())


def entries(directory):
    content = manifest(directory)
    listed = content.get("args", content.get("tensors"))
    for entry in listed:
        # April knows tensors only.
        entry.setdefault("kind", "tensor")
    return listed


def payload(directory, entry):
    name = manifest(directory)["bin_file"]
    if name is None or entry["kind"] == "scalar" or entry.get("overwritten"):
        return None
    if entry["bin_size"] == 0:
        return b"" if 0 in entry["shape"] else None
    with open(pathlib.Path(directory) / name, "rb") as file:
        file.seek(entry["bin_offset"])
        return file.read(entry["bin_size"])


def scalar_bits(entry):
    if "value_bits" in entry:
        return int(entry["value_bits"], 16)
    value = entry["value"]
    if value is None:
        value = float("nan")
    if isinstance(value, str):
        value = float(value.replace("$", ""))
    if entry["dtype"] == "FLOAT32" and isinstance(value, float):
        return int(np.float32(value).view(np.uint32))
    return int(value) & (2 ** max(BITS[entry["dtype"]], 8) - 1)


def expected_arrays(directory):
    """For each record its entry, the bits of its elements, one per item, and its shape; None without payload."""
    arrays = []
    for entry in entries(directory):
        bits = BITS[entry["dtype"]]
        if entry["kind"] == "scalar":
            value = scalar_bits(entry) & (2**bits - 1)
            arrays.append((entry, np.array([value], f"u{max(bits, 8) // 8}"), []))
            continue
        raw = payload(directory, entry)
        if raw is None:
            arrays.append((entry, None, None))
            continue
        count = int(np.prod(entry["shape"], dtype=np.int64))
        if bits == 4:
            packed = np.frombuffer(raw, np.uint8)
            elements = np.stack([packed & 15, packed >> 4], axis=1).reshape(-1)[:count]
        else:
            elements = np.frombuffer(raw, f"<u{bits // 8}")
        assert len(elements) == count, (entry, len(elements))
        arrays.append((entry, elements, entry["shape"]))
    return arrays
