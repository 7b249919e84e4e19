"""Prints what each expression and each line of statements gives, one JSON line for each: with torch where it is installed,
with the stand-in elsewhere."""

import json
import sys
import warnings
from pathlib import Path

from argus.compat import _finder

warnings.simplefilter("ignore")
_finder.install()
import torch  # noqa: E402


def names():
    a = torch.tensor([[0.5, 1.25, 2.0], [1.5, 0.75, 3.0]])
    b = torch.tensor([[0.5, 2.5, 1.0], [1.5, 4.0, 0.25]])
    return {
        "torch": torch, "a": a, "b": b,
        "m": torch.tensor([[1.0, 2.0, -1.0], [0.5, 0.25, 4.0], [3.0, -2.0, 1.0]]),
        "vec": torch.tensor([3.0, 1.0, 2.0]),
        "i": torch.tensor([[1, 5, 3], [4, 2, 0]], dtype=torch.int32),
        "u": torch.tensor([[1, 200, 3]], dtype=torch.uint8),
        "h": torch.tensor([[0.5, 1.25, 2.0], [1.5, 0.7, 3.0]], dtype=torch.float16),
        "bf": torch.tensor([[0.5, 1.3, 2.0], [1.5, 0.7, 3.3]], dtype=torch.bfloat16),
        "batch": torch.arange(12, dtype=torch.float32).reshape(2, 2, 3),
    }


def shown(value):
    if isinstance(value, torch.Tensor):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "values": value.tolist()}
    if isinstance(value, (list, tuple)):
        return [shown(part) for part in value]
    return value


def value(line):
    """Of an expression; of statements, what they leave in ``r``."""
    if "; r = " not in line:
        return eval(line, names())
    left = names()
    exec(line, left)
    return left["r"]


def main():
    path = Path(__file__).with_name("expressions.txt")
    for line in path.read_text().splitlines():
        try:
            told = shown(value(line))
        except Exception as error:  # noqa: BLE001: what an expression ends with is its answer
            told = f"{type(error).__name__}"
            sys.stderr.write(f"{line}: {error}\n")
        print(json.dumps([line, told]))


if __name__ == "__main__":
    main()
