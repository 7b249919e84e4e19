"""Compares an exported table with the dump's manifest and numpy's statistics of its payloads.

Arguments: a dump's directory, a directory with records.parquet or records.csv of all of its records, and
"--without-payload" if the former was written without payloads.
"""

import csv
import math
import pathlib
import sys

import ml_dtypes
import numpy as np
from dump_reader import expected_arrays, payload, scalar_bits

TYPES = {
    "FLOAT32": np.float32, "FLOAT16": np.float16, "INT32": np.int32, "INT16": np.int16, "INT8": np.int8,
    "UINT8": np.uint8, "BFLOAT16": ml_dtypes.bfloat16, "INT64": np.int64, "UINT64": np.uint64, "UINT16": np.uint16,
    "UINT32": np.uint32, "BOOL": np.uint8, "FP8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FP8E8M0": ml_dtypes.float8_e8m0fnu, "FP4E2M1": ml_dtypes.float4_e2m1fn,
}

# Of the columns in Parquet that hold anything but text.
COLUMNS = {
    **dict.fromkeys(("index", "task_id", "start_offset", "numel", "logical_bytes", "payload_bytes"), "uint64"),
    **dict.fromkeys(("address", "time_ns", "scalar_bits", "count", "zero", "nan", "inf"), "uint64"),
    **dict.fromkeys(("positive_inf", "negative_inf", "subnormal"), "uint64"),
    **dict.fromkeys(("scalar_value", "min", "max", "abs_max", "mean", "std"), "double"),
    **dict.fromkeys(("shape", "strides"), "list<item: uint64>"),
    "func_ids": "list<item: int32>", "subtask_id": "uint8", "arg_index": "uint32", "contiguous": "bool",
    "payload": "binary",
}

dump, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
parquet = (out / "records.parquet").exists()
if parquet:
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(out / "records.parquet")
    rows = table.to_pylist()
    columns = table.column_names
    for field in table.schema:
        assert field.nullable and str(field.type) == COLUMNS.get(field.name, "string"), field
else:
    text = (out / "records.csv").read_bytes().decode()
    assert text.endswith("\r\n")
    with open(out / "records.csv", newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
        columns = reader.fieldnames


def number(text):
    return None if text in ("", None) else float(text)


def integer(text):
    return None if text in ("", None) else int(text)


for wanted in ("index", "task_id", "kernel", "func_ids", "shape", "strides", "min", "std", "distinct", "missing"):
    assert wanted in columns
expected = expected_arrays(dump)
assert len(rows) == len(expected), (len(rows), len(expected))
for index, (row, (entry, bits, shape)) in enumerate(zip(rows, expected)):
    assert int(row["index"]) == index
    for key in ("stage", "role", "kind", "dtype"):
        assert row[key] == entry[key], (row, entry)
    assert int(row["arg_index"]) == entry["arg_index"]
    if parquet:
        assert row["task_id"] == int(entry["task_id"], 16) and row["task_id_hex"] == entry["task_id"]
        lists = [row["shape"], row["strides"]]
    else:
        assert row["task_id"] == entry["task_id"]
        lists = [eval(row["shape"]), eval(row["strides"])]
    if "strides" in entry:
        assert lists == [entry["shape"], entry["strides"]], (row, entry)
        assert int(row["start_offset"]) == entry["start_offset"]
    if "kernel" in entry:
        assert row["kernel"] == entry["kernel"], (row["kernel"], entry["kernel"])
    if "func_id" in entry:
        ids = row["func_ids"] if parquet else eval(row["func_ids"])
        wanted = entry["func_id"] if isinstance(entry["func_id"], list) else [entry["func_id"]]
        assert ids == [id for id in wanted if id >= 0], (ids, entry)
    assert int(row["payload_bytes"]) == entry["bin_size"]
    if "checksum" in entry:
        assert row["checksum"] == entry["checksum"].removeprefix("xxh3_128:")
    if "time_ns" in entry:
        assert int(row["time_ns"]) == entry["time_ns"]
    if "address" in entry:
        address = row["address"] if parquet else int(row["address"], 16)
        assert address == int(entry["address"], 16)
    if entry["kind"] == "scalar":
        got = row["scalar_bits"] if parquet else int(row["scalar_bits"], 16)
        assert got == scalar_bits(entry), (row, entry)
    elif parquet and "--without-payload" in sys.argv:
        assert "payload" not in row
    elif parquet:
        raw = payload(dump, entry)
        assert row["payload"] == raw, (index, row["payload"], raw)
    if bits is None:
        assert row["missing"]
        continue
    assert not row["missing"]
    values = np.frombuffer(bits.tobytes(), TYPES[entry["dtype"]])
    if entry["dtype"] == "BOOL":
        values = (values != 0).astype(np.uint8)
    floating = entry["dtype"].startswith(("FLOAT", "BFLOAT", "FP"))
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float64) if floating else values
    known = wide[~np.isnan(wide)] if floating else wide
    finite = known[np.isfinite(known)] if floating else known
    assert int(row["count"]) == len(values)
    assert int(row["nan"]) == len(wide) - len(known)
    assert int(row["inf"]) == len(known) - len(finite)
    assert int(row["zero"]) == int((wide == 0).sum())
    exact = float if parquet or floating else int
    for key, found in (("min", known.min if len(known) else None), ("max", known.max if len(known) else None)):
        if found is None:
            assert row[key] in ("", None)
        else:
            assert exact(row[key]) == exact(found()), (index, key, row[key], found())
    if entry["kind"] == "scalar" and parquet and len(known):
        assert row["scalar_value"] == float(known[0])
    numbers = [float(value) for value in finite]
    if not numbers:
        assert row["mean"] in ("", None)
    else:
        mean = math.fsum(numbers) / len(numbers)
        std = math.sqrt(math.fsum((value - mean) ** 2 for value in numbers) / len(numbers))
        size = max(map(abs, numbers))
        assert abs(number(row["mean"]) - mean) <= 1e-12 * size, (index, row["mean"], mean)
        assert abs(number(row["std"]) - std) <= 1e-9 * size, (index, row["std"], std)
