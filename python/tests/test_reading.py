"""A dump as Python sees it: records, filters, arrays, tables."""

import gc
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path

import argus
import numpy
import pytest
from argus import _arrays


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return argus.run("paged_attention", case="CaseSmall1", dump=tmp_path_factory.mktemp("dumps") / "run")


@pytest.fixture(scope="module")
def dump(run):
    return run.dump


def test_what_is_not_a_dump_is_an_error_of_the_package(tmp_path):
    with pytest.raises(argus.DumpError, match="a dump is a directory with"):
        argus.open(tmp_path)


def manifest(dump):
    """The records as the manifest lists them, read by the json module."""
    return json.loads((dump.directory / "tensor_dump.json").read_text())["tensors"]


def test_records_are_those_of_the_manifest(dump):
    listed = manifest(dump)
    assert len(dump) == len(listed) > 0
    for record, entry in zip(dump, listed):
        assert record.task_id == entry["task_id"]
        assert record.arg == entry["arg_index"]
        assert record.stage == entry["stage"].split("_")[0]
        assert record.role == entry["role"]
        assert record.dtype == entry["dtype"].upper()
        assert list(record.shape) == entry["shape"]


def test_elements_are_those_of_the_payload_file(dump):
    raw = (dump.directory / "tensor_dump.bin").read_bytes()
    kinds = {"FLOAT32": "<f4", "FLOAT16": "<f2", "INT32": "<i4", "UINT8": "u1"}
    compared = 0
    for record, entry in zip(dump, manifest(dump)):
        if record.kind == "scalar" or record.dtype == "BFLOAT16":
            continue
        part = raw[entry["bin_offset"] : entry["bin_offset"] + entry["bin_size"]]
        expected = numpy.frombuffer(part, kinds[record.dtype]).reshape(entry["shape"])
        numpy.testing.assert_array_equal(record.numpy(), expected, strict=True)
        compared += 1
    assert compared > 10


def test_arrays_lie_in_the_mapped_file(dump):
    """By address: /proc says which file every mapped byte belongs to."""
    places = []
    for line in Path("/proc/self/maps").read_text().splitlines():
        found = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+ +(\S.*)", line)
        if found and found[5].endswith("tensor_dump.bin") and str(dump.directory.resolve()) in found[5]:
            places.append((int(found[1], 16), int(found[2], 16), int(found[4], 16), found[3]))
    assert places
    for record, entry in zip(dump, manifest(dump)):
        if record.kind == "scalar" or record.nbytes == 0:
            continue
        array = record.numpy()
        address = array.__array_interface__["data"][0]
        inside = [
            address == start + entry["bin_offset"] - offset and address + array.nbytes <= end
            for start, end, offset, _ in places
        ]
        assert any(inside), f"record {record.index} is not a view of the file"
        assert not array.flags.writeable and not array.flags.owndata
    assert all("w" not in rights for *_, rights in places)


def test_an_array_cannot_be_written(dump):
    array = dump.filter(role="output")[0].numpy()
    with pytest.raises(ValueError):
        array[...] = 0
    with pytest.raises(ValueError):
        array.flags.writeable = True


def test_an_array_outlives_its_dump(tmp_path):
    record = argus.run("vector_example", dump=tmp_path / "run").dump.filter(kernel="mul", role="output")[0]
    array = record.numpy()
    part = array[::2]
    del record, array
    gc.collect()
    assert part[5] == 42.0 and part.shape == (8192,)


#: Every element type: a dump made by hand in the reference's layout, and the type that NumPy reads the bytes with.
DTYPES = {
    "float32": "float32",
    "float16": "float16",
    "int32": "int32",
    "int16": "int16",
    "int8": "int8",
    "uint8": "uint8",
    "bfloat16": "bfloat16",
    "int64": "int64",
    "uint64": "uint64",
    "uint16": "uint16",
    "uint32": "uint32",
    "bool": "bool",
    "fp8e4m3fn": "float8_e4m3fn",
    "fp8e8m0": "float8_e8m0fnu",
    "fp4e2m1": "float4_e2m1fn",
}


def made_by_hand(directory, name, payload, shape):
    entry = {
        "task_id": "0x0000000000000001",
        "role": "output",
        "stage": "after_completion",
        "arg_index": 0,
        "kind": "tensor",
        "dtype": name,
        "is_contiguous": True,
        "shape": shape,
        "start_offset": 0,
        "strides": [shape[1], 1],
        "overwritten": False,
        "truncated": False,
        "bin_offset": 0,
        "bin_size": len(payload),
    }
    head = {"run_dir": "run", "bin_format": {"type": "logical_contiguous", "byte_order": "little_endian"}}
    head |= {"total_tensors": 1, "before_dispatch": 0, "after_completion": 1, "input_tensors": 0, "output_tensors": 1}
    head |= {"inout_tensors": 0, "truncated_tensors": 0, "dropped_records": 0, "dropped_overwrite": 0}
    head |= {"bin_file": "tensor_dump.bin", "tensors": [entry]}
    directory.mkdir()
    (directory / "tensor_dump.json").write_text(json.dumps(head))
    (directory / "tensor_dump.bin").write_bytes(payload)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_is_what_numpy_reads(name, tmp_path):
    import ml_dtypes

    kind = numpy.dtype(getattr(ml_dtypes, DTYPES[name], DTYPES[name]))
    rng = numpy.random.default_rng(14)
    packed = name == "fp4e2m1"
    shape = [16, 16]
    payload = rng.integers(0, 256, 128 if packed else 256 * kind.itemsize, "u1")
    if name == "bool":
        payload &= 1
    made_by_hand(tmp_path / "dump", name, payload.tobytes(), shape)
    array = argus.open(tmp_path / "dump")[0].numpy()
    if packed:
        elements = [nibble for byte in payload.tolist() for nibble in (byte & 15, byte >> 4)]
        expected = numpy.array(elements, "u1").view(kind)
    else:
        expected = numpy.frombuffer(payload.tobytes(), kind)
    assert array.dtype == kind and array.shape == (16, 16)
    assert array.tobytes() == expected.tobytes()
    # And back, as the values of a golden go.
    assert _arrays.elements(array, name.upper(), tuple(shape)) == payload.tobytes()
    if kind.itemsize < 8:
        with numpy.errstate(invalid="ignore"):
            numpy.testing.assert_array_equal(array.reshape(-1).astype("f8"), expected.astype("f8"))


def test_scalars_are_numbers(dump, run):
    scalars = dump.filter(kind="scalar")
    for record, entry in ((record, manifest(dump)[record.index]) for record in scalars):
        bits = int(str(entry["value_bits"] if "value_bits" in entry else entry["value"]), 0)
        raw = struct.pack("<Q", bits)[: record.numpy().dtype.itemsize]
        assert record.numpy().tobytes() == raw
        assert record.value == record.numpy().item()


@pytest.mark.parametrize(
    "conditions",
    [
        {"kernel": "QK"},
        {"role": "output", "stage": "after"},
        {"task": "SF:1"},
        {"task": "2..5", "kind": "tensor"},
        {"dtype": "f32", "min_size": "1k"},
        {"index": "3..9"},
        {"arg": 0},
        {"func_id": 0},
        {"nan": False, "role": "output"},
    ],
    ids=str,
)
def test_filters_select_what_the_conditions_say(dump, conditions):
    """Against conditions written out over the manifest."""
    entries = manifest(dump)
    names = sorted({(entry["task_id"], record.kernel) for record, entry in zip(dump, entries)})
    of_kernel = [task for task, kernel in names if kernel == "SF"]

    def holds(record, entry):
        checks = {
            "kernel": lambda value: record.kernel == value,
            "role": lambda value: entry["role"] == value,
            "stage": lambda value: entry["stage"].startswith(value),
            "kind": lambda value: record.kind == value,
            "task": lambda value: (
                entry["task_id"] == of_kernel[1]
                if value == "SF:1"
                else entry["task_id"] in [task for task, _ in names][2:6]
            ),
            "dtype": lambda value: entry["dtype"].upper() == "FLOAT32",
            "min_size": lambda value: record.kind == "tensor" and entry["bin_size"] >= 1024,
            "index": lambda value: 3 <= record.index <= 9,
            "arg": lambda value: entry["arg_index"] == value,
            "func_id": lambda value: value in dump.task(record.task_id).func_ids,
            "nan": lambda value: record.kind == "tensor" and bool(numpy.isfinite(record.numpy().astype("f4")).all()),
        }
        return all(checks[key](value) for key, value in conditions.items())

    expected = [record.index for record, entry in zip(dump, entries) if holds(record, entry)]
    assert expected
    assert [record.index for record in dump.filter(**conditions)] == expected


def test_a_filter_that_means_nothing_says_what_there_is(dump):
    with pytest.raises(argus.UsageError, match="QK"):
        dump.filter(kernel="nothing")
    with pytest.raises(argus.UsageError, match="there is no filter 'colour'"):
        dump.filter(colour="red")


def test_records_count_as_sequences_do(dump):
    assert dump[-1].index == len(dump) - 1
    assert [record.index for record in dump[2:8:3]] == [2, 5]
    assert [record.index for record in dump.filter(role="output")[:2]] == [
        record.index for record in list(dump.filter(role="output"))[:2]
    ]
    with pytest.raises(IndexError):
        dump[len(dump)]


def test_statistics_are_those_of_numpy(dump):
    for record, statistics in zip(dump, dump.statistics()):
        if record.kind == "scalar":
            assert statistics is None
            continue
        values = record.numpy().astype("f8")
        finite = values[numpy.isfinite(values)]
        assert statistics.count == values.size
        assert statistics.min == (None if finite.size == 0 else numpy.nanmin(values))
        assert statistics.max == (None if finite.size == 0 else numpy.nanmax(values))
        assert statistics.zero == int((values == 0).sum())
        assert statistics.nan + statistics.unwritten == int(numpy.isnan(values).sum())
        assert statistics.inf == int(numpy.isinf(values).sum())
        if finite.size:
            assert statistics.mean == pytest.approx(finite.mean(), rel=1e-12, abs=1e-12)


def test_tables_hold_every_record(dump):
    table = dump.filter(role="output").to_arrow()
    records = list(dump.filter(role="output"))
    assert table["index"].to_pylist() == [record.index for record in records]
    assert table["kernel"].to_pylist() == [record.kernel for record in records]
    frame = dump.to_pandas()
    assert list(frame["index"]) == list(range(len(dump)))
    assert dump.to_polars()["dtype"].to_list() == [record.dtype for record in dump]


def test_pages_for_notebooks_are_whole(dump):
    from html.parser import HTMLParser

    class Checker(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open = []

        def handle_starttag(self, tag, attributes):
            if not self.get_starttag_text().endswith("/>"):
                self.open.append(tag)

        def handle_endtag(self, tag):
            if self.open and self.open[-1] == tag:
                self.open.pop()

    task = dump.task("SF:0")
    verdict = argus.find(dump)
    shown = [dump, dump[0], dump.filter(kind="scalar")[0], dump.filter(role="output")[0], verdict]
    shown += [argus.replay(task), argus.trace(task)]
    for each in shown:
        checker = Checker()
        checker.feed(each._repr_html_())
        assert checker.open == [], each
    assert "heat map" in dump.filter(role="output")[0]._repr_html_()


SHOW_TORCH = """
import ctypes, json, sys, argus
for name in sys.argv[2:]:
    (record,) = argus.open(f"{sys.argv[1]}/{name}")
    try:
        tensor = record.torch()
        raw = ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())
        told = [str(tensor.dtype), list(tensor.shape), raw.hex()]
    except argus.UsageError as error:
        told = str(error)
    print(json.dumps(told))
"""


@pytest.mark.skipif(not os.environ.get("ARGUS_TORCH_PYTHON"), reason="ARGUS_TORCH_PYTHON names no interpreter with torch")
def test_tensors_of_torch_hold_the_same_bytes(tmp_path):
    rng = numpy.random.default_rng(15)
    names = [name for name in DTYPES if name != "fp4e2m1"]
    payloads = {}
    for name in names:
        size = 2 if name == "bfloat16" else 1 if name.startswith("fp8") else numpy.dtype(DTYPES[name]).itemsize
        payload = rng.integers(0, 256, 256 * size, "u1")
        payloads[name] = (payload & 1 if name == "bool" else payload).tobytes()
        made_by_hand(tmp_path / name, name, payloads[name], [16, 16])
    command = [os.environ["ARGUS_TORCH_PYTHON"], "-c", SHOW_TORCH, str(tmp_path), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    told = dict(zip(names, map(json.loads, done.stdout.splitlines()), strict=True))
    for name in ("float32", "float16", "bfloat16", "int32", "int16", "int8", "uint8", "int64", "bool"):
        assert told[name] == [f"torch.{name}", [16, 16], payloads[name].hex()], name
    # What this torch has no type for is said.
    for name, answer in told.items():
        assert answer[1:] == [[16, 16], payloads[name].hex()] or answer.startswith("this torch has no "), name


def test_the_package_is_imported_without_numpy():
    code = "import argus, sys; assert 'numpy' not in sys.modules and 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
