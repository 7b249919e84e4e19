"""Paged attention over blocks of keys and values: inputs, and what must come out."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

_DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


def generate_inputs(params: dict[str, Any]) -> list[tuple[str, Any]]:
    """Names and values in the order of the orchestration's arguments."""
    batch, heads, kv_heads = params["batch"], params["num_heads"], params["kv_head_num"]
    head_dim, block_size, context_len = params["head_dim"], params["block_size"], params["context_len"]
    assert context_len >= 1, "context_len must be at least 1"
    dtype = _DTYPES[params.get("dtype", "bfloat16")]
    listed = params.get("context_lens_list")
    lengths = [listed[index % len(listed)] for index in range(batch)] if listed else [context_len] * batch
    context_lens = torch.tensor(lengths, dtype=torch.int32)
    valid_blocks = -(-max(lengths) // block_size)
    total_blocks = batch * valid_blocks
    per_request = params["max_model_len"] // block_size
    block_table = torch.randint(0, total_blocks, size=(batch, per_request), dtype=torch.int32)

    def drawn(shape: tuple[int, ...], limit: float) -> Any:
        return torch.empty(shape, dtype=torch.float32).uniform_(-limit, limit).to(dtype)

    query = drawn((batch, heads, head_dim), 0.5)
    key_cache = drawn((total_blocks, block_size, kv_heads, head_dim), 0.5)
    value_cache = drawn((total_blocks, block_size, kv_heads, head_dim), 1.0)
    out = torch.zeros((batch, heads, head_dim), dtype=torch.float32)
    return [
        ("query", query),
        ("key_cache", key_cache),
        ("value_cache", value_cache),
        ("block_table", block_table),
        ("context_lens", context_lens),
        ("out", out),
        ("scale", ctypes.c_float(1.0)),
    ]


def compute_golden(tensors: dict[str, Any], params: dict[str, Any]) -> None:
    """Writes ``out``: block by block with a running maximum and sum, as the kernels do."""
    assert params["kv_head_num"] == 1, "only one head of keys and values is supported"
    query, out = tensors["query"], tensors["out"]
    dtype, block_size = query.dtype, params["block_size"]
    heads, head_dim = params["num_heads"], params["head_dim"]
    tile = min(heads, 128)
    lengths = tensors["context_lens"].tolist()
    table = tensors["block_table"].tolist()
    keys, values = tensors["key_cache"].to(torch.float32), tensors["value_cache"].to(torch.float32)
    for request, length in enumerate(lengths):
        for first in range(0, heads, tile):
            rows = query[request, first : first + tile].to(torch.float32)
            running = None
            for block in range(-(-length // block_size)):
                valid = min(block_size, length - block * block_size)
                place = table[request][block]
                key = keys[place, :valid, 0, :].reshape(valid, head_dim)
                value = values[place, :valid, 0, :].reshape(valid, head_dim)
                scores = torch.matmul(rows, key.transpose(0, 1))
                top = torch.clamp(scores.max(dim=1, keepdim=True)[0], min=-1e30)
                weights = torch.exp(scores - top).to(dtype).to(torch.float32)
                total = weights.sum(dim=1, keepdim=True)
                summed = torch.matmul(weights, value)
                if running is None:
                    running = (top, total, summed)
                    continue
                old_top, old_total, old_summed = running
                new_top = torch.maximum(old_top, top)
                alpha, beta = torch.exp(old_top - new_top), torch.exp(top - new_top)
                running = (new_top, alpha * old_total + beta * total, alpha * old_summed + beta * summed)
            out[request, first : first + tile] = running[2] / running[1]
