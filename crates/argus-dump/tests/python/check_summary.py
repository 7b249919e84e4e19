"""Compares summaries with what numpy and ml_dtypes compute from the same bytes.

Argument: a directory with NAME.bin files and summaries.json, a list of
{"file", "dtype", "elements", "summary"}.
"""

import json
import math
import pathlib
import sys

import ml_dtypes
import numpy as np

TYPES = {
    "FLOAT32": "<f4", "FLOAT16": "<f2", "INT32": "<i4", "INT16": "<i2", "INT8": "i1", "UINT8": "u1",
    "BFLOAT16": ml_dtypes.bfloat16, "INT64": "<i8", "UINT64": "<u8", "UINT16": "<u2", "UINT32": "<u4",
    "BOOL": "u1", "FP8E4M3FN": ml_dtypes.float8_e4m3fn, "FP8E8M0": ml_dtypes.float8_e8m0fnu,
    "FP4E2M1": ml_dtypes.float4_e2m1fn,
}


def elements(name, raw, count):
    if name == "FP4E2M1":
        nibbles = np.stack([raw & 15, raw >> 4], axis=1).reshape(-1)[:count]
        return nibbles, nibbles.view(TYPES[name])
    values = np.frombuffer(raw.tobytes(), TYPES[name])
    return values.view(f"u{values.itemsize}"), values


def check(case, directory):
    name, count = case["dtype"], case["elements"]
    raw = np.fromfile(directory / case["file"], np.uint8)
    bits, values = elements(name, raw, count)
    assert len(values) == count
    if name == "BOOL":
        values = values != 0
    floating = name.startswith(("FLOAT", "BFLOAT", "FP"))
    if floating:
        small = float(ml_dtypes.finfo(values.dtype).smallest_normal)
        with np.errstate(invalid="ignore"):
            wide = values.astype(np.float64)
        known, finite = wide[~np.isnan(wide)], wide[np.isfinite(wide)]
        expected = {
            "nan": np.isnan(wide).sum(), "positive_inf": (wide == np.inf).sum(),
            "negative_inf": (wide == -np.inf).sum(), "zero": (wide == 0).sum(),
            "subnormal": ((wide != 0) & (np.abs(wide) < small)).sum(),
        }
        # E8M0 has no mantissa that could lose bits.
        if name == "FP8E8M0":
            expected["subnormal"] = 0
        minimum, maximum = (known.min(), known.max()) if len(known) else (None, None)
        largest = np.abs(known).max() if len(known) else None
        exact = [float(value) for value in finite]
    else:
        exact = [int(value) for value in values]
        expected = {"nan": 0, "positive_inf": 0, "negative_inf": 0, "zero": sum(v == 0 for v in exact), "subnormal": 0}
        minimum, maximum = (min(exact), max(exact)) if exact else (None, None)
        largest = max(map(abs, exact)) if exact else None
    got = case["summary"]
    for key, value in expected.items():
        assert got[key] == int(value), (name, count, key, got[key], value)
    convert = (lambda v: None if v is None else float(v)) if floating else (lambda v: None if v is None else int(v))
    for key, value in [("min", minimum), ("max", maximum), ("abs_max", largest)]:
        assert convert(got[key]) == convert(value), (name, count, key, got[key], value)
    if not exact:
        assert got["mean"] is None and got["std"] is None
    else:
        # Exact sums: integers as such, floats by fsum.
        mean = sum(exact) / len(exact) if not floating else math.fsum(exact) / len(exact)
        if not floating:
            total = sum(exact)
            squares = sum((len(exact) * v - total) ** 2 for v in exact)
            std = math.sqrt(squares / len(exact)) / len(exact)
        else:
            std = math.sqrt(math.fsum((v - mean) ** 2 for v in exact) / len(exact))
        size = max(map(abs, exact))
        assert abs(float(got["mean"]) - mean) <= 1e-13 * size, (name, count, "mean", got["mean"], mean)
        assert abs(float(got["std"]) - std) <= 1e-10 * std + 1e-13 * size * (0 if std == 0 else 1), \
            (name, count, "std", got["std"], std)
    distinct = len(np.unique(bits))
    words = {0: "none", 1: "constant"}.get(distinct, f"{distinct} values" if distinct <= 16 else "many")
    assert got["distinct"] == words, (name, count, got["distinct"], words)


directory = pathlib.Path(sys.argv[1])
cases = json.loads((directory / "summaries.json").read_text())
for case in cases:
    check(case, directory)
print(f"{len(cases)} summaries agree")
