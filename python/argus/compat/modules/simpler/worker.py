"""A Worker: one simulated chip, the callables registered with it, and memory on it."""

from __future__ import annotations

import ctypes
from typing import Any

from argus.compat.missing import Missing
from simpler._chip_worker import ChipWorker
from simpler.callable_identity import CallableHandle
from simpler.task_interface import MAX_REGISTERED_CALLABLE_IDS, Buffer, CallConfig, ChipCallable, RunTiming
from simpler_setup.torch_interop import complete_torch


class Worker:
    """Runs callables on one simulated chip.

    ``register`` and ``malloc`` return numbers, as in June, that have what August's objects have.
    """

    def __init__(self, level: int = 2, **config: Any) -> None:
        if int(level) != 2:
            raise Missing(f"a Worker of level {int(level)} drives several chips; Argus simulates one, which is level 2")
        complete_torch()
        self.level = int(level)
        self._config = dict(config)
        self.platform = config.get("platform")
        self.runtime = config.get("runtime")
        self.device_id = config.get("device_id", 0)
        self._chip_worker: Any = None
        self._waiting: dict[int, ChipCallable] = {}
        self._memory: dict[int, Any] = {}
        self._closed = False
        if not self.platform:
            raise ValueError("a Worker of level 2 needs a platform, such as 'a2a3sim'")

    # Life

    def init(self, prewarm_config: CallConfig | None = None) -> None:
        if prewarm_config is not None:
            prewarm_config.validate()
        if self._chip_worker is not None:
            return
        self._chip_worker = ChipWorker(str(self.platform), self.runtime)
        for slot, callable_ in sorted(self._waiting.items()):
            self._chip_worker.prepare(slot, callable_)
        self._waiting.clear()

    def close(self) -> None:
        if self._chip_worker is not None:
            self._chip_worker.close()
        self._chip_worker = None
        self._memory.clear()
        self._closed = True

    finalize = close

    def __enter__(self) -> Worker:
        self.init()
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def _chip(self) -> Any:
        if self._chip_worker is None:
            state = "was closed" if self._closed else "has no chip yet: call init() first"
            raise RuntimeError(f"this Worker {state}")
        return self._chip_worker

    # Callables

    def register(self, callable_: ChipCallable) -> CallableHandle:
        """A number for a callable; before or after init."""
        if not isinstance(callable_, ChipCallable):
            raise TypeError(f"a Worker of level {self.level} registers a ChipCallable, not {type(callable_).__name__}")
        taken = self._waiting if self._chip_worker is None else self._chip_worker.slots
        free = next((slot for slot in range(MAX_REGISTERED_CALLABLE_IDS) if slot not in taken), None)
        if free is None:
            raise RuntimeError(
                f"no room for another callable: MAX_REGISTERED_CALLABLE_IDS is {MAX_REGISTERED_CALLABLE_IDS}"
            )
        if self._chip_worker is None:
            self._waiting[free] = callable_
        else:
            self._chip_worker.prepare(free, callable_)
        return CallableHandle(free)

    def unregister(self, handle: int) -> None:
        if self._chip_worker is None and self._waiting.pop(int(handle), None) is not None:
            return
        self._chip()._unregister_slot(int(handle))

    def prepare_callable(self, cid: int, callable_: ChipCallable) -> None:
        """Puts a callable at a number of the caller's choice."""
        if not isinstance(callable_, ChipCallable):
            raise TypeError(f"prepare_callable takes a ChipCallable, not {type(callable_).__name__}")
        self._chip().prepare(int(cid), callable_, "prepare_callable")

    def unregister_callable(self, cid: int) -> None:
        self._chip()._unregister_slot(int(cid))

    def _resolve_handle(self, handle: int) -> CallableHandle:
        return CallableHandle(handle)

    @property
    def aicpu_dlopen_count(self) -> int:
        return int(self._chip().aicpu_dlopen_count)

    @property
    def host_dlopen_count(self) -> int:
        return int(self._chip().host_dlopen_count)

    @property
    def run_stream_set_create_count(self) -> int:
        return int(self._chip().run_stream_set_create_count)

    # Runs

    def run(self, handle: int, args: Any = None, config: CallConfig | None = None) -> RunTiming | None:
        """Runs a registered callable to its end. June's callables tell how long it took, August's do not."""
        __tracebackhide__ = True
        chip = self._chip()
        timing = chip.run(int(handle), args, config)
        return None if chip.slots[int(handle)].generation == "august" else timing

    # Memory

    def malloc(self, nbytes: int) -> Buffer:
        self._chip()
        nbytes = int(nbytes)
        if nbytes <= 0:
            raise ValueError(f"malloc takes a number of bytes above 0, not {nbytes}")
        memory = ctypes.create_string_buffer(nbytes)
        address = ctypes.addressof(memory)
        self._memory[address] = memory
        return Buffer(address, nbytes)

    def free(self, pointer: int) -> None:
        if self._memory.pop(int(pointer), None) is None:
            raise RuntimeError(f"0x{int(pointer):x} is no memory of this Worker")

    def copy_to(self, destination: int, source: Any, nbytes: int | None = None) -> None:
        """Host to device: an address and a number of bytes, or a tensor."""
        address, nbytes = _host(source, nbytes)
        self._check(int(destination), nbytes)
        ctypes.memmove(int(destination), address, nbytes)

    def copy_from(self, destination: Any, source: int, nbytes: int | None = None) -> None:
        """Device to host."""
        address, nbytes = _host(destination, nbytes)
        self._check(int(source), nbytes)
        ctypes.memmove(address, int(source), nbytes)

    def _check(self, pointer: int, nbytes: int) -> None:
        """Device memory is only touched where this Worker has some."""
        for base, memory in self._memory.items():
            if base <= pointer < base + len(memory):
                if pointer + nbytes > base + len(memory):
                    room = base + len(memory) - pointer
                    raise RuntimeError(f"{nbytes} bytes at 0x{pointer:x} go beyond their memory, which has {room} left")
                return
        raise RuntimeError(f"0x{pointer:x} is no memory of this Worker")


def _host(place: Any, nbytes: int | None) -> tuple[int, int]:
    if hasattr(place, "data_ptr"):
        if not place.is_contiguous():
            raise ValueError("a tensor must be contiguous to be copied")
        size = place.numel() * place.element_size()
        return place.data_ptr(), size if nbytes is None else int(nbytes)
    if nbytes is None:
        raise TypeError("a copy from an address needs the number of bytes")
    return int(place), int(nbytes)


def __getattr__(name: str):
    from argus.compat.missing import attribute

    return attribute(__name__, name)
