"""Those that tests use."""

from torch._functions import gelu, layer_norm, log_softmax, pad, relu, sigmoid, silu, softmax, tanh  # noqa: F401


def linear(input, weight, bias=None):
    made = input.matmul(weight.t())
    return made if bias is None else made + bias
