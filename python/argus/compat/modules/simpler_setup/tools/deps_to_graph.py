"""The graph of a run as text and as a page: ``python -m simpler_setup.tools.deps_to_graph deps.json``."""

from __future__ import annotations

import argparse
import html
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from simpler_setup.tools._files import found, load, names


def _place(number: int) -> str:
    return f"({number >> 32 & 0xFF}, {number & 0xFFFFFFFF})"


class Graph:
    """Tasks by id, with their neighbours."""

    def __init__(self, told: dict[str, Any]) -> None:
        self.kernels: dict[int, list[int] | None] = {int(task["task_id"]): task.get("kernel_ids") for task in told["tasks"]}
        self.submitted = set(self.kernels)
        self.rows = [(int(edge["pred"]), int(edge["succ"])) for edge in told["edges"]]
        self.edges = sorted(set(self.rows))
        self.tensors = len(told.get("tensors", []))
        for pair in self.edges:
            for task in pair:
                self.kernels.setdefault(task, None)

    def kind(self, task: int) -> str:
        if task not in self.submitted:
            return "alloc"
        ids = self.kernels[task]
        return "dummy" if ids is not None and all(number < 0 for number in ids) else "submit"

    def around(self, task: int) -> tuple[list[int], list[int]]:
        return [a for a, b in self.edges if b == task], [b for a, b in self.edges if a == task]


def text(told: dict[str, Any], source: str) -> str:
    """The view that lies beside deps.json."""
    graph = Graph(told)
    lines = [
        "SUMMARY", f"  source_deps_json: {source}", f"  tasks: {len(graph.kernels)}",
        f"  unique_task_edges: {len(graph.edges)}", f"  annotated_edges: {len(graph.rows)}",
        f"  tensors: {graph.tensors}", "", "TASK INDEX",
    ]
    details = []
    for task in sorted(graph.kernels):
        before, after = graph.around(task)
        ids = graph.kernels[task]
        kind = graph.kind(task)
        func = "[" + ",".join(map(str, ids)) + "]" if ids and kind == "submit" else "none"
        lines.append(f"TASK {_place(task)} kind={kind} func_id={func} fanin={len(before)} fanout={len(after)}")
        details += ["", f"=== TASK {_place(task)} kind={kind} func_id={func} ===", f"FANIN {len(before)}"]
        details += [f"  <- {_place(other)}" for other in before] + [f"FANOUT {len(after)}"]
        details += [f"  -> {_place(other)}" for other in after]
    return "\n".join(lines + details) + "\n"


def dot(told: dict[str, Any], kernels: dict[int, str]) -> str:
    graph = Graph(told)
    lines = ["digraph deps {", "  node [shape=box];"]
    for task, ids in sorted(graph.kernels.items()):
        named = [kernels.get(number, f"func_{number}") for number in ids or [] if number >= 0]
        lines.append(f'  t{task} [label="{_place(task)} {" + ".join(named) or graph.kind(task)}"];')
    lines += [f"  t{pred} -> t{succ};" for pred, succ in graph.edges]
    return "\n".join([*lines, "}"]) + "\n"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="deps_to_graph", description="The graph of a run as text and as a page.")
    parser.add_argument("deps_json", nargs="?", help="deps.json or the directory of a run [default: the newest run]")
    parser.add_argument("-o", "--output", help="where the page goes [default: deps_viewer.html beside the file]")
    parser.add_argument("--func-names", help="a name map")
    parser.add_argument("--format", default="html", choices=["html", "text", "dot"], help="what to write")
    options, _ = parser.parse_known_args(arguments)
    path = found(options.deps_json, ("deps.json",), "graph")
    told = load(path)
    drawn = dot(told, names(path.parent, options.func_names))
    if options.format != "html":
        target = Path(options.output) if options.output else path.with_name("deps_viewer.txt")
        target.write_text(text(told, str(path)) if options.format == "text" else drawn)
    else:
        target = Path(options.output) if options.output else path.with_name("deps_viewer.html")
        shown = f"<pre>{html.escape(text(told, str(path)))}</pre>"
        if shutil.which("dot"):
            made = subprocess.run(["dot", "-Tsvg"], input=drawn, capture_output=True, text=True, check=False)
            if made.returncode:
                sys.stderr.write(f"error: dot failed: {made.stderr}\n")
                return 1
            shown = made.stdout[made.stdout.find("<svg") :] + shown
        target.write_text(f'<!doctype html><meta charset="utf-8"><title>{html.escape(str(path))}</title>{shown}\n')
    graph = Graph(told)
    sys.stdout.write(f"{len(graph.kernels)} tasks, {len(graph.edges)} edges: {target}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
