"""Scene tests of the reference, unchanged.

The packages that such tests import (``simpler``, ``simpler_setup``, ``_task_interface``) lie in ``modules``. They answer
to their names only after :func:`activate`, which ``python -m argus.compat`` calls, so an installed reference is never
hidden from anything else.

| module | subject |
|---|---|
| ``_finder`` | whose packages the names lead to |
| ``__main__`` | ``python -m argus.compat test_x.py ...`` and ``python -m argus.compat -m pytest ...`` |
| ``april`` | ``golden.py`` and ``kernel_config.py``, the form of tests before scene tests |
| ``generation`` | which generation of the interface a test is written for |
| ``engine`` | compiling and running, over ``argus._native`` |
| ``modules`` | the packages that tests import |
| ``stand_in`` | the part of torch that tests use, over numpy, where torch is not installed |
| ``outcome`` | how a run ended, in the reference's words |
| ``journal`` | what an orchestration asked for, call by call |
| ``layout`` | records that the reference's dump has more or less often |
| ``deps``, ``scopes``, ``swimlane``, ``pmu`` | one kind of file each |
| ``verdict`` | why a test failed: the first wrong task |
| ``missing`` | names that Argus has nothing behind |
| ``checkout`` | a checkout of the reference around the tests |
| ``artefacts`` | the files that a run writes when it is asked to |
| ``plugin`` | pytest: options, fixtures and markers |
"""

from __future__ import annotations

from argus.compat import _finder


def activate() -> None:
    """Lets ``simpler`` and ``simpler_setup`` mean ours, here and in every Python process that this one starts."""
    _finder.install()
    _finder.pass_on()


def is_active() -> bool:
    """Whether the names of the reference's packages lead to ours."""
    return _finder.is_active()


__all__ = ["activate", "is_active"]
