"""What the reference keeps in its extension module."""

from simpler.task_interface import *  # noqa: F401,F403
from simpler.task_interface import MAX_REGISTERED_CALLABLE_IDS, RunTiming  # noqa: F401


def __getattr__(name: str):
    from argus.compat.missing import attribute

    return attribute(__name__, name)
