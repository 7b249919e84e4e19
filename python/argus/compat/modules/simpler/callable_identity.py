"""What ``Worker.register`` returns."""

from __future__ import annotations


class CallableHandle(int):
    """A registered callable: a number, as June has it, that also says which slot it lies in."""

    @property
    def slot_id(self) -> int:
        return int(self)

    def __repr__(self) -> str:
        return f"CallableHandle({int(self)})"
