"""What each kernel should compute, in NumPy: the first wrong task without a second run."""

from typing import Any

import argus


def golden(task: argus.GoldenTask) -> Any:
    """The only output of a task, or None for kernels that are not known here."""
    if task.kernel == "add":
        first, second = task.inputs
        return first + second
    if task.kernel == "mul":
        first, second = task.inputs
        return first * second
    if task.kernel == "add_scalar":
        return task.inputs[0] + task.scalars[0]
    return None


run = argus.run("vector_example", dump="golden_run", inject=["mul:0:bitflip"])
verdict = argus.find(run.dump, golden=golden)
assert verdict.first_wrong[0].kernel == "mul"
print(verdict)
