"""Which cases of which classes run: by platform, then by selector, then by whether they are manual."""

from __future__ import annotations

from typing import Any, Iterable, Sequence


#: What the reference runs on; the simulated ones are ours.
PLATFORMS = ("a2a3", "a2a3sim", "a5", "a5sim")


class SelectionError(Exception):
    """A selector that names nothing, or nothing that runs."""


def check_platform(platform: str) -> None:
    """Raises unless tests can run on it here."""
    if platform not in PLATFORMS:
        raise ValueError(f"there is no platform '{platform}'; there are {', '.join(PLATFORMS)}")
    if not platform.endswith("sim"):
        raise ValueError(f"{platform} is hardware; Argus simulates it as {platform}sim")


def is_manual_for_platform(case: dict[str, Any], platform: str) -> bool:
    """August may name the platforms on which a case is manual."""
    manual = case.get("manual", False)
    if isinstance(manual, str):
        return manual == platform
    if isinstance(manual, (list, tuple, set, frozenset)):
        return platform in manual
    return bool(manual)


def parse_selectors(texts: Iterable[str] | str | None) -> list[tuple[str | None, str | None]]:
    """``Case``, ``Class::Case`` and ``Class::`` as pairs of class and case."""
    if texts is None:
        return []
    if isinstance(texts, str):
        texts = [texts]
    pairs = []
    for text in texts:
        left, mark, right = text.partition("::")
        pairs.append((left or None, right or None) if mark else (None, text))
    return pairs


def matches(selectors: Sequence[tuple[str | None, str | None]], class_name: str, case_name: str) -> bool:
    if not selectors:
        return True
    return any(cls in (None, class_name) and case in (None, case_name) for cls, case in selectors)


def allowed(case: dict[str, Any], platform: str, manual: str) -> bool:
    """Whether the manual mode lets a case run."""
    is_manual = is_manual_for_platform(case, platform)
    return {"exclude": not is_manual, "include": True, "only": is_manual}[manual]


def select(
    cls: Any, platform: str, selectors: Sequence[tuple[str | None, str | None]], manual: str
) -> list[dict[str, Any]]:
    """The cases of one class that run."""
    return [
        case
        for case in cls.CASES
        if platform in case.get("platforms", [])
        and matches(selectors, cls.__name__, case["name"])
        and allowed(case, platform, manual)
    ]


def check(
    classes: Sequence[Any], platform: str, selectors: Sequence[tuple[str | None, str | None]], manual: str
) -> None:
    """Raises with the reason if a selector names nothing, or if nothing is left to run."""
    names = {cls.__name__ for cls in classes}
    for cls_name, case_name in selectors:
        if cls_name is not None and cls_name not in names:
            raise SelectionError(f"--case: class '{cls_name}' not found")
        known = [cls for cls in classes if cls_name in (None, cls.__name__)]
        if case_name is not None and not any(case["name"] == case_name for cls in known for case in cls.CASES):
            where = f"in class '{cls_name}'" if cls_name else "in any class"
            raise SelectionError(f"--case: case '{case_name}' not found {where}")
    if any(select(cls, platform, selectors, manual) for cls in classes):
        return
    if not selectors:
        raise SelectionError(f"No cases matched platform={platform} (manual={manual})")
    shown = ", ".join(f"{cls or '*'}::{case or '*'}" for cls, case in selectors)
    reason = ""
    if any(select(cls, platform, selectors, "include") for cls in classes):
        if manual == "exclude":
            reason = " (matches are manual; pass --manual include or only)"
        else:
            reason = " (matches are not manual; pass --manual include or exclude)"
    raise SelectionError(f"--case: no cases matched [{shown}] for platform={platform}{reason}")
