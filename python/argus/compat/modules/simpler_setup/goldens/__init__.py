"""Inputs and goldens that several tests share. One that is not here is taken from a checkout of the reference, if the
tests lie in one."""

from argus.compat.checkout import goldens as _goldens

__path__ += _goldens()  # type: ignore[name-defined]
