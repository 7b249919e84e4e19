"""scope_stats.jsonl: what each scope of the orchestration took of its ring."""

from __future__ import annotations

import json
import os
from typing import Any

#: How many views the map can hold.
VIEWS = 65536


def text(scopes: list[dict[str, Any]], rings: list[dict[str, int]], generation: str, fatal: bool) -> str:
    """The file's lines: limits first. June counts no edges."""
    august = generation == "august"
    head: dict[str, Any] = {"version": 6 if august else 4, "fatal": fatal, "dropped": 0, "total": len(scopes)}
    head["task_window_max"] = [ring["window"] for ring in rings]
    head["heap_max"] = [ring["heap"] for ring in rings]
    if august:
        head["dep_pool_max"] = [ring["dep_pool"] for ring in rings]
    head["tensormap_max"] = VIEWS
    lines = [head]
    for scope in scopes:
        site = scope["site"] and f"{os.path.basename(scope['site'][0])}:{scope['site'][1]}"
        told = {"site": site or "(unknown):0", "phase": "begin" if scope["begins"] else "end"}
        told |= {"depth": scope["depth"], "ring": scope["ring"]}
        pairs = [("task_window", "tasks"), ("heap", "heap")] + [("dep_pool", "edges")] * august
        for name, key in pairs:
            # The reference's pool of edges begins with one that is never used.
            shift = int(key == "edges")
            told |= {f"{name}_start": scope[key][0] + shift, f"{name}_end": scope[key][1] + shift}
        lines.append(told | {"tensormap": scope["views"]})
    return "".join(json.dumps(line) + "\n" for line in lines)
