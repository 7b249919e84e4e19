"""A run in steps: prepared, launched, waited for, finished; and its spans in the log."""

import pytest
import torch
from simpler.task_interface import CallConfig, ChipStorageTaskArgs
from simpler.worker import Worker
from simpler_setup.scene_test import _build_l2_ref_args
from simpler_setup.tools.strace_timing import group_invocations, parse_spans

from ..vector.test_vector_example import TestVectorExample as Vector


@pytest.mark.platforms(["a2a3sim", "a5sim"])
def test_steps_of_a_run(st_platform, capfd):
    case = Vector()
    args = case.generate_args({"a": 2.0, "b": 3.0})
    chip_args, _ = _build_l2_ref_args(args, case.CALLABLE["orchestration"]["signature"])
    assert isinstance(chip_args, ChipStorageTaskArgs)
    worker = Worker(level=2, device_id=0, platform=st_platform, runtime="tensormap_and_ringbuffer")
    worker.init()
    made = case.compile_chip_callable(st_platform)
    handle = worker.register(made)
    chip, slot = worker._chip_worker, worker._resolve_handle(handle).slot_id
    assert chip.pipeline_depth == chip.runtime_slot_count == len(set(chip.runtime_buffer_addrs)) == 2
    run = chip._prepare_native_run_with_pipeline_lease(slot, chip_args, 0, 7, config=CallConfig())
    assert run.generation == 7 and chip.run_stream_set_create_count == 0 and not args.f.any()
    with pytest.raises(RuntimeError, match="unfinished native run|owns the runner|active predecessor"):
        chip._prepare_native_run_with_pipeline_lease(slot, chip_args, 1, 8, config=CallConfig())
    with pytest.raises(RuntimeError, match="unregister_callable failed"):
        chip._unregister_slot(slot)
    with pytest.raises(RuntimeError, match="register_callable failed"):
        worker.register(made)
    chip._finalize_native_run(run)
    with pytest.raises(RuntimeError, match="stale|wrong phase|finalized"):
        chip._launch_native_run(run)
    capfd.readouterr()
    again = chip._prepare_native_run_with_pipeline_lease(slot, chip_args, 1, 8, config=CallConfig())
    assert again.run_epoch != run.run_epoch
    chip._launch_native_run(again)
    chip._wait_native_run(again)
    assert chip._poll_native_run(again) is True
    chip._finalize_native_run(again)
    assert torch.equal(args.f, torch.full((128 * 128,), 47.0, dtype=torch.float32))
    assert chip.run_stream_set_create_count == worker.run_stream_set_create_count == 1
    assert chip.retained_temp_addr(0) != chip.retained_temp_addr(1) != 0
    assert chip.arena_bank_gm_heap_base(0) != 0 and chip.arena_bank_gm_heap_base(1) == 0
    (run_spans,) = group_invocations(parse_spans(capfd.readouterr().err.splitlines()))
    spans = run_spans.by_name()
    assert spans["chip.run"].attrs == {"run_epoch": str(again.run_epoch), "slot_id": "1", "generation": "8"}
    assert spans["chip.run"].dur > 0 and spans["chip.run.runner_run.device_wall"].dur > 0
    worker.close()
