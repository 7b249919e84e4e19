"""Holds files beside a dump to the rules of the reference's own readers: check_artefacts.py DIRECTORY RUNTIME.

RUNTIME is the name that the files must carry: tensormap_and_ringbuffer or host_build_graph. The rules are written down here
once more, from what is known of the reference, and share nothing with the writer.
"""

import json
import pathlib
import sys

HOME, RUNTIME = pathlib.Path(sys.argv[1]), sys.argv[2]
DTYPES = {"FLOAT32", "FLOAT16", "BFLOAT16", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "BOOL"}


def wide(text):
    """Numbers of 64 bits are decimal strings."""
    assert isinstance(text, str) and text == str(int(text)) and 0 <= int(text) < 2**64, text
    return int(text)


def plain(number, least=0):
    assert isinstance(number, int) and not isinstance(number, bool) and least <= number < 2**64, number
    return number


def tensor_id(address, version):
    number = 0xCBF29CE484222325
    for byte in address.to_bytes(8, "little") + version.to_bytes(4, "little"):
        number = (number ^ byte) * 0x100000001B3 % 2**64
    return number


def region(row, prefix, dtype):
    shape, strides = row[f"{prefix}shape"], row[f"{prefix}strides"]
    assert 1 <= len(shape) <= 5 and len(shape) == len(strides), row
    assert all(plain(number, 1) for number in [*shape, *strides]), row
    wide(row[f"{prefix}start_offset"])
    keys = [f"{prefix}dtype"] if dtype else []
    if dtype:
        assert row[f"{prefix}dtype"] in DTYPES, row
    return [*keys, f"{prefix}shape", f"{prefix}start_offset", f"{prefix}strides"]


def check_graph():
    text = (HOME / "deps.json").read_text()
    assert "\n" not in text and ": " not in text and ", " not in text, "one line, no spaces"
    deps = json.loads(text)
    assert list(deps) == ["runtime", "tasks", "tensors", "edges"], list(deps)
    assert deps["runtime"] == RUNTIME
    known = {}
    for tensor in deps["tensors"]:
        assert list(tensor) == ["tensor_id", "buffer_addr", "version", "dtype", "buffer_numel"], tensor
        number = wide(tensor["tensor_id"])
        assert number == tensor_id(wide(tensor["buffer_addr"]), plain(tensor["version"])) and number not in known
        assert tensor["dtype"] in DTYPES and wide(tensor["buffer_numel"]) > 0
        known[number] = tensor
    order = {}
    for place, task in enumerate(deps["tasks"]):
        assert list(task) == ["task_id", "scope", "early_dispatch", "kernel_ids", "block_num", "args"], task
        number = wide(task["task_id"])
        assert number not in order
        order[number] = (place, task)
        assert task["scope"] in ("auto", "manual") and isinstance(task["early_dispatch"], bool)
        assert len(task["kernel_ids"]) == 3 and all(-1 <= kernel < 65535 for kernel in task["kernel_ids"])
        plain(task["block_num"], 1)
        slots = [arg["idx"] for arg in task["args"]]
        assert slots == sorted(set(slots)), slots
        for arg in task["args"]:
            if arg["type"] == "OUTPUT":
                assert list(arg) == ["idx", "type"], "its memory does not exist yet"
                continue
            assert arg["type"] in ("INPUT", "INOUT", "OUTPUT_EXISTING"), arg
            assert list(arg) == ["idx", "type", "tensor_id", *region(arg, "", True)], arg
            assert wide(arg["tensor_id"]) in known
    last, rows = (-1, (-1, 0)), {}
    for edge in deps["edges"]:
        pred, succ = wide(edge["pred"]), wide(edge["succ"])
        assert succ in order, "only a producer may be an allocation"
        place, consumer = order[succ]
        assert pred not in order or order[pred][0] < place, "a producer comes first"
        source = edge["source"]
        keys = ["pred", "succ", "arg", "source"]
        if RUNTIME == "tensormap_and_ringbuffer":
            keys.append("flags")
            expected = {"explicit": ["wait", "retain"], "creator": ["wait", "retain"], "tensormap": ["wait"]}[source]
            assert edge["flags"] == expected, edge
        if source == "explicit":
            assert edge["arg"] == -1
        else:
            if source == "tensormap":
                keys.append("overlap")
                assert edge["overlap"] in ("covered", "other")
            keys += ["tensor_id", *region(edge, "consumer_", True)]
            slot = next(arg for arg in consumer["args"] if arg["idx"] == edge["arg"])
            assert slot["type"] != "OUTPUT" and slot["tensor_id"] == edge["tensor_id"]
            for key in ["dtype", "shape", "start_offset", "strides"]:
                assert slot[key] == edge[f"consumer_{key}"], edge
            if source == "tensormap":
                assert slot["type"] != "OUTPUT_EXISTING", "a slot that only writes has no such row"
                keys += region(edge, "producer_", False)
            else:
                assert source == "creator", edge
        assert list(edge) == keys, (list(edge), keys)
        # By consumer; explicit ones, then slot by slot the creator before the writers.
        now = (place, (edge["arg"], source == "tensormap"))
        assert now >= last, (edge, last)
        last = now
        if source != "tensormap":
            assert (pred, succ) not in rows, "one row for each producer"
            rows[pred, succ] = edge
    return order


def check_times(order):
    times = json.loads((HOME / "chip_swimlane_records.json").read_text())
    level = times["chip_swimlane_level"]
    assert level in (1, 2, 3, 4)
    keys = ["chip_swimlane_level", "metadata", "aicore_tasks", "aicpu_tasks"]
    keys += ["aicpu_scheduler_phases"] * (level > 2) + ["aicpu_orchestrator_phases"] * (level > 3)
    assert list(times) == keys, list(times)
    metadata = times["metadata"]
    assert metadata["runtime"] == RUNTIME
    plain(metadata["clock_freq_hz"], 1)
    types = metadata["core_types"]
    assert len(types) == metadata["num_cores"] and types == sorted(types) and set(types) <= {"aic", "aiv"}
    assert ("core_to_thread" in metadata) == (level > 2)
    tokens, before = {}, (-1, 0)
    for row in times["aicore_tasks"]:
        core, task, token, start, end, setup = map(plain, row)
        assert core < len(types) and 0 < setup + 1 <= start <= end, row
        assert (core, start) >= before, "by core, then by time"
        before = (core, start)
        # A token counts what a core was given, from 1.
        assert token == len([key for key in tokens if key[0] == core]) + 1
        tokens[core, token] = (start - setup, end)
        kernels = order[task][1]["kernel_ids"]
        assert kernels[0] >= 0 if types[core] == "aic" else max(kernels[1:]) >= 0, (row, kernels)
    joined = set()
    for row in times["aicpu_tasks"]:
        core, token, dispatch, finish = map(plain, row)
        receive, end = tokens[core, token]
        assert 0 < dispatch <= receive and end <= finish, row
        joined.add((core, token))
    assert joined == set(tokens), "the converter drops what has no partner"
    return len(joined)


def check_names(order):
    (path,) = HOME.glob("name_map*.json")
    text = path.read_text()
    names = json.loads(text)
    assert text == json.dumps(names, indent=2, ensure_ascii=False), "indented by two"
    assert names["level"] == 2 and isinstance(names["orchestrator_name"], str | None)
    ran = {kernel for _, task in order.values() for kernel in task["kernel_ids"] if kernel >= 0}
    assert ran <= {int(key) for key in names["callable_id_to_name"]}, (ran, names)
    stem = path.stem.removeprefix("name_map_")
    assert all(letter.isascii() and (letter.isalnum() or letter in "._-") for letter in stem), path


tasks = check_graph()
calls = check_times(tasks)
check_names(tasks)
print(len(tasks), "tasks,", calls, "kernel calls")
