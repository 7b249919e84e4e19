"""One simulated chip and its slots for callables: what is behind a Worker."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import mmap
import os
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass, field
from typing import Any

from argus.compat import artefacts, engine, outcome
from argus.compat.generation import remember
from simpler.task_interface import MAX_REGISTERED_CALLABLE_IDS, CallConfig, ChipCallable, RunTiming

from argus import _native

#: Runs are counted over all chips of the process: its log is one.
_numbers = itertools.count(1)


class OrchestrationImage:
    """A host orchestration in memory under a name of its own, as long as it is registered: programs look for it in the
    list of this process's mappings."""

    def __init__(self, binary: bytes) -> None:
        handle, self.path = tempfile.mkstemp(prefix="orch_so_", suffix=".so")
        with os.fdopen(handle, "r+b") as file:
            file.write(binary)
            file.flush()
            mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        # Also when a test forgets to close its Worker.
        self.close = weakref.finalize(self, _let_go, mapped, self.path)


def _let_go(mapped: mmap.mmap, path: str) -> None:
    mapped.close()
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


@dataclass
class Slot:
    """A callable that can be run."""

    callable: ChipCallable
    program: Any
    runs: int = 0
    image: OrchestrationImage | None = None

    @property
    def generation(self) -> str:
        return self.callable.generation

    @property
    def is_host_built(self) -> bool:
        return self.program.runtime == "host_build_graph"


@dataclass
class NativeRun:
    """A run in steps: prepared, launched, finished."""

    slot: int
    args: Any
    config: CallConfig
    slot_id: int
    generation: int
    run_epoch: int
    phase: str = "prepared"
    thread: threading.Thread | None = None
    error: list[BaseException] = field(default_factory=list)


class _Abilities:
    supports_concurrent_native_prepare = False


class ChipWorker:
    """Callables by slot, and runs of them one after the other."""

    pipeline_depth = 2
    runtime_slot_count = 2
    _impl = _Abilities()

    def __init__(self, platform: str, runtime: str | None) -> None:
        self.platform = platform
        self.runtime = runtime
        self.device = _native.SimulatedDevice(platform)
        self.slots: dict[int, Slot] = {}
        self.aicpu_dlopen_count = 0
        self.host_dlopen_count = 0
        self.run_stream_set_create_count = 0
        self._epoch = 0
        self._active: NativeRun | None = None
        self._memory = [ctypes.create_string_buffer(64) for _ in range(2 * self.runtime_slot_count + 1)]
        self._used_slots: set[int] = set()

    def close(self) -> None:
        for slot in self.slots.values():
            if slot.image is not None:
                slot.image.close()
        self.slots.clear()

    # Slots

    def prepare(self, slot: int, callable_: ChipCallable, what: str = "register_callable") -> None:
        """Loads a callable into a slot that is free."""
        if not 0 <= slot < MAX_REGISTERED_CALLABLE_IDS:
            raise RuntimeError(
                f"{what} failed with code -5: slot {slot} is not below MAX_REGISTERED_CALLABLE_IDS, "
                f"{MAX_REGISTERED_CALLABLE_IDS}"
            )
        if slot in self.slots:
            raise RuntimeError(f"{what} failed with code -5: slot {slot} is taken")
        if self._active is not None:
            raise RuntimeError(f"{what} failed with code -5: an unfinished native run owns the runner")
        remember(callable_.generation)
        name = getattr(callable_.scene, "name", None) or callable_.func_name
        made = Slot(callable_, engine.program(callable_, name))
        if self.runtime and made.program.runtime != self.runtime:
            raise RuntimeError(
                f"{what} failed with code -5: the callable is for {made.program.runtime}, the Worker for {self.runtime}"
            )
        self.slots[slot] = made
        # August loads an orchestration when it is prepared, June one of the device at its first run.
        if made.is_host_built:
            self.host_dlopen_count += 1
            made.image = OrchestrationImage(callable_.binary)
        elif made.generation == "august":
            self.aicpu_dlopen_count += 1

    def _register_callable_at_slot(self, slot: int, callable_: ChipCallable) -> None:
        self.prepare(int(slot), callable_)

    def _unregister_slot(self, slot: int) -> None:
        if self._active is not None:
            raise RuntimeError("unregister_callable failed with code -5: an unfinished native run owns the runner")
        found = self.slots.pop(int(slot), None)
        if found is None:
            raise RuntimeError(f"unregister_callable failed with code -5: there is nothing in slot {slot}")
        if found.image is not None:
            found.image.close()

    # Runs

    def run(self, slot: int, args: Any, config: CallConfig | None) -> RunTiming:
        __tracebackhide__ = True
        if self._active is not None:
            raise RuntimeError("run failed with code -5: an unfinished native run owns the runner")
        return self._run(slot, args, config)

    def _run(
        self, slot: int, args: Any, config: CallConfig | None, attributes: dict[str, int] | None = None
    ) -> RunTiming:
        __tracebackhide__ = True
        found = self.slots.get(slot)
        if found is None:
            raise RuntimeError(f"run failed with code -5: there is no callable {slot}; register it first")
        config = CallConfig() if config is None else config
        config.validate()
        remember(found.generation)
        if found.runs == 0 and not found.is_host_built and found.generation != "august":
            self.aicpu_dlopen_count += 1
        found.runs += 1
        if attributes is None:
            # A run without a lease takes the first slot.
            self._used_slots.add(0)
        self.run_stream_set_create_count = 1
        began = time.monotonic_ns()
        tensors = [] if args is None else [args.tensor(index) for index in range(args.tensor_count())]
        scalars = [] if args is None else [args.scalar(index) for index in range(args.scalar_count())]
        given = [
            (tensor.name or f"arg{index}", tensor.dtype.name, list(tensor.shapes), _bytes_of(tensor))
            for index, tensor in enumerate(tensors)
        ]
        plan = artefacts.Plan(found.callable, config, self.platform, has_timing_slots(found.callable))
        bound = time.monotonic_ns()
        settings = self._settings(found, config)
        answer = self.device.run(found.program, given, scalars, settings, plan.capture(), plan.journal())
        ended = time.monotonic_ns()
        for tensor, after in zip(tensors, answer["tensors"]):
            if after is not None:
                ctypes.memmove(tensor.data, after, len(after))
        plan.write(answer)
        done = time.monotonic_ns()
        if found.generation == "august":
            outcome.spans((began, bound, ended, done), answer, next(_numbers), plan.slot_windows(), attributes or {})
        plan.close()
        outcome.check(answer, found.generation)
        return RunTiming(max(done - began, answer["device_ns"]), max(answer["device_ns"], 1))

    def _settings(self, slot: Slot, config: CallConfig) -> dict[str, Any]:
        threads = config._values["aicpu_thread_num"]
        if threads is None:
            threads = 0 if slot.generation == "august" else 3
        rings = {name: config.runtime_env.rings(name) or outcome.ring_variable(name) for name in outcome.RING_VARIABLES}
        timeout = os.environ.get("SIMPLER_SCHEDULER_TIMEOUT_MS", "")
        return {
            "block_dim": config.block_dim or None,
            "control_threads": threads or None,
            **rings,
            "complete_hazards": artefacts.complete_hazards(),
            "timeout_ms": int(timeout) if timeout.isdigit() and int(timeout) else None,
        }

    def _run_slot(self, slot: int, args: Any, config: CallConfig | None = None) -> None:
        self.run(int(slot), args, config)

    # Runs in steps

    def _run_slot_with_pipeline_lease(
        self, slot: int, args: Any, slot_id: int, generation: int, config: CallConfig | None = None
    ) -> None:
        run = self._prepare_native_run_with_pipeline_lease(slot, args, slot_id, generation, config=config)
        try:
            self._launch_native_run(run)
            self._wait_native_run(run)
        finally:
            self._finalize_native_run(run)

    def _prepare_native_run_with_pipeline_lease(
        self, slot: int, args: Any, slot_id: int, generation: int, config: CallConfig | None = None
    ) -> NativeRun:
        if self._active is not None:
            raise RuntimeError("prepare failed with code -5: an unfinished native run owns the runner")
        if int(slot) not in self.slots:
            raise RuntimeError(f"prepare failed with code -5: there is nothing in slot {slot}")
        self._epoch += 1
        self._used_slots.add(int(slot_id))
        self._active = NativeRun(int(slot), args, config or CallConfig(), int(slot_id), int(generation), self._epoch)
        return self._active

    def _expect(self, run: NativeRun, *phases: str) -> None:
        if run is not self._active or run.phase not in phases:
            raise RuntimeError(f"native run failed with code -5: stale run or wrong phase, it is {run.phase}")

    def _launch_native_run(self, run: NativeRun) -> None:
        self._expect(run, "prepared")

        def work() -> None:
            try:
                told = {"run_epoch": run.run_epoch, "slot_id": run.slot_id, "generation": run.generation}
                self._run(run.slot, run.args, run.config, told)
            except BaseException as error:  # noqa: BLE001: raised again where it is waited for
                run.error.append(error)

        run.thread = threading.Thread(target=work, name="argus-native-run")
        run.phase = "launched"
        run.thread.start()

    def _poll_native_run(self, run: NativeRun) -> bool:
        self._expect(run, "launched")
        assert run.thread is not None
        return not run.thread.is_alive()

    def _wait_native_run(self, run: NativeRun) -> None:
        self._expect(run, "launched")
        assert run.thread is not None
        run.thread.join()
        if run.error:
            raise run.error[0]

    def _finalize_native_run(self, run: NativeRun) -> None:
        self._expect(run, "prepared", "launched")
        if run.thread is not None:
            run.thread.join()
        run.phase = "finalized"
        self._active = None

    # What tests look at

    @property
    def runtime_buffer_addrs(self) -> list[int]:
        return [ctypes.addressof(memory) for memory in self._memory[: self.runtime_slot_count]]

    def retained_temp_addr(self, slot: int) -> int:
        index = int(slot) % self.runtime_slot_count
        return ctypes.addressof(self._memory[self.runtime_slot_count + index]) if slot in self._used_slots else 0

    def arena_bank_gm_heap_base(self, bank: int) -> int:
        return ctypes.addressof(self._memory[-1]) if int(bank) == 0 else 0


def has_timing_slots(callable_: ChipCallable) -> bool:
    """Whether the orchestration asks for the time of some of its tasks."""
    return any("set_task_timing_slot" in text for _, text in callable_.binary.sources)


def _bytes_of(tensor: Any) -> bytes:
    size = tensor.nbytes()
    if size and not tensor.data:
        raise ValueError(f"a tensor of {size} bytes has no address")
    return ctypes.string_at(tensor.data, size) if size else b""
