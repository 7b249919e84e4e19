"""Functions of neural networks."""

from torch.nn import functional  # noqa: F401
