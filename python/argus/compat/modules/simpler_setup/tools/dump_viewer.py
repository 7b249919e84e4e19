"""Lists the records of a dump: ``python -m simpler_setup.tools.dump_viewer DIRECTORY``."""

from __future__ import annotations

import argparse
import sys

from simpler_setup.tools._files import found, load


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="dump_viewer", description="Lists the records of a dump.")
    parser.add_argument("dump_dir", nargs="?", help="directory of the dump or of the run [default: the newest run]")
    parser.add_argument("--task", help="only this task")
    parser.add_argument("--stage", help="before_dispatch or after_completion")
    parser.add_argument("--role", help="input, output or inout")
    parser.add_argument("--arg", type=int, help="only this argument")
    options, _ = parser.parse_known_args(arguments)
    path = found(options.dump_dir, ("tensor_dump.json", "args_dump.json"), "dump")
    manifest = load(path)
    records = manifest["tensors" if "tensors" in manifest else "args"]
    wanted = {"task_id": options.task, "stage": options.stage, "role": options.role}
    shown = 0
    for number, record in enumerate(records):
        if any(value and record.get(key) != value for key, value in wanted.items()):
            continue
        if options.arg is not None and record["arg_index"] != options.arg:
            continue
        shape = "x".join(str(extent) for extent in record.get("shape", [])) or record.get("value", "")
        sys.stdout.write(
            f"{number:6} {record['task_id']} arg {record['arg_index']:2} {record.get('role', ''):7} {record['stage']:16} "
            f"{record.get('kind', 'tensor'):6} {record['dtype']:9} {shape}\n"
        )
        shown += 1
    sys.stdout.write(f"{shown} of {len(records)} records of {path}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
