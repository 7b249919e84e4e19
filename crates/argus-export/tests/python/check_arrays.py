"""Compares exported arrays with numpy's own reading of the payload file.

Arguments: a dump's directory, a directory with an export of all of its records as npy, npz or safetensors.
"""

import json
import pathlib
import sys

import ml_dtypes
import numpy as np
from dump_reader import expected_arrays

dump, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
expected = expected_arrays(dump)

if (out / "tensors.safetensors").exists():
    from safetensors import safe_open

    with safe_open(out / "tensors.safetensors", framework="np") as file:
        index = json.loads(file.metadata()["argus_index"])
        arrays = {name: file.get_tensor(name) for name in file.keys()}
elif (out / "tensors.npz").exists():
    index = json.loads((out / "index.json").read_text())
    archive = np.load(out / "tensors.npz", allow_pickle=False)
    arrays = {name: archive[name] for name in archive.files}
else:
    index = json.loads((out / "index.json").read_text())
    for item in index:
        item["name"] = item["name"].removesuffix(".npy")
    arrays = {path.stem: np.load(path, allow_pickle=False) for path in out.glob("*.npy")}

assert len(index) == len(expected), (len(index), len(expected))
present = [item["name"] for item in index if "missing" not in item]
assert sorted(present) == sorted(arrays), set(present) ^ set(arrays)
assert len(set(present)) == len(present)
for item, (entry, bits, shape) in zip(index, expected, strict=True):
    for key in ("task_id", "stage", "role", "arg_index", "kind", "dtype"):
        assert item[key] == entry[key], (key, item, entry)
    if "kernel" in entry:
        assert item["kernel"] == entry["kernel"], (item["kernel"], entry["kernel"])
    if bits is None:
        assert item["missing"], item
        continue
    array = arrays[item["name"]]
    if item["true_dtype"] not in ("bool", "unknown"):
        # What the documentation promises: a view gives the numbers themselves.
        true = getattr(ml_dtypes, item["true_dtype"], None) or np.dtype(item["true_dtype"])
        view = array.view(true)
        assert view.dtype == true and view.shape == array.shape
    assert array.shape == tuple(shape), (item, array.shape, shape)
    got = array.reshape(-1).view(f"u{array.itemsize}")
    assert got.dtype == bits.dtype and np.array_equal(got, bits), (item, got, bits)
