"""Workers without a scene: memory, limits, and how long a run took."""

import ctypes
import re
import sys
from pathlib import Path

import pytest
from _task_interface import MAX_REGISTERED_CALLABLE_IDS, RunTiming
from simpler.task_interface import ArgDirection, CallConfig, ChipCallable, ChipStorageTaskArgs, ContinuousTensor, CoreCallable, DataType
from simpler.worker import Worker
from simpler_setup.elf_parser import extract_text_section
from simpler_setup.kernel_compiler import KernelCompiler
from simpler_setup.log_config import configure_logging
from simpler_setup.pto_isa import ensure_pto_isa_root

RUNTIME = "tensormap_and_ringbuffer"
SOURCES = Path(__file__).resolve().parents[4] / "tests/conformance/scenes/worker_direct/june/kernels"
both = pytest.mark.platforms(["a2a3sim", "a5sim"])


@both
@pytest.mark.device_count(1)
def test_hello_worker(st_platform, st_device_ids):
    worker = Worker(level=2, device_id=int(st_device_ids[0]), platform=st_platform, runtime=RUNTIME)
    worker.init()
    pointer = worker.malloc(4096)
    assert pointer != 0
    worker.free(pointer)
    worker.close()


@both
@pytest.mark.parametrize("size", [4096, 65536, 12345])
def test_memory_comes_back_as_it_was_sent(st_platform, st_device_ids, size):
    with Worker(level=2, device_id=0, platform=st_platform, runtime=RUNTIME) as worker:
        first, second = worker.malloc(size), worker.malloc(size)
        assert first != second
        sent = (ctypes.c_uint8 * size)(*(n * 7 % 251 for n in range(size)))
        back = (ctypes.c_uint8 * size)()
        worker.copy_to(first, ctypes.addressof(sent), size)
        worker.copy_from(ctypes.addressof(back), first, size)
        assert bytes(back) == bytes(sent)
        worker.free(first)
        worker.free(second)


def callable_for(platform):
    compiler = KernelCompiler(platform=platform)
    root = ensure_pto_isa_root(clone_protocol="https")
    include = [*compiler.get_orchestration_include_dirs(RUNTIME), str(compiler.project_root / "src" / "common")]
    kernel = compiler.compile_incore(str(SOURCES / "aiv/blend.cpp"), core_type="aiv", pto_isa_root=root, extra_include_dirs=include)
    if not platform.endswith("sim"):
        kernel = extract_text_section(kernel)
    orchestration = compiler.compile_orchestration(runtime_name=RUNTIME, source_path=str(SOURCES / "orchestration/blend_orch.cpp"))
    signature = [ArgDirection.IN, ArgDirection.IN, ArgDirection.OUT]
    core = CoreCallable.build(signature=signature, binary=kernel)
    return ChipCallable.build(signature=signature, func_name="blend_entry", config_name="", binary=orchestration, children=[(0, core)])


def arguments(worker):
    args = ChipStorageTaskArgs()
    for _ in range(3):
        args.add_tensor(ContinuousTensor.make(worker.malloc(512), (8, 16), DataType.FLOAT32))
    args.add_scalar(ctypes.c_float(2.0))
    return args


@both
def test_a_run_tells_how_long_it_took(st_platform):
    configure_logging("error")
    worker = Worker(level=2, device_id=0, platform=st_platform, runtime=RUNTIME)
    cid = worker.register(callable_for(st_platform))
    assert isinstance(cid, int)
    worker.init()
    timing = worker.run(cid, arguments(worker), CallConfig())
    assert isinstance(timing, RunTiming)
    assert timing.host_wall_us > 0 and timing.device_wall_us > 0
    assert timing.host_wall_ns >= timing.device_wall_ns > 0
    assert "host" in str(timing)
    worker.close()


@both
def test_only_chip_callables_are_registered_and_only_so_many(st_platform):
    worker = Worker(level=2, device_id=0, platform=st_platform, runtime=RUNTIME)
    with pytest.raises(TypeError):
        worker.register(lambda: None)
    made = callable_for(st_platform)
    for _ in range(MAX_REGISTERED_CALLABLE_IDS):
        worker.register(made)
    with pytest.raises(RuntimeError, match="MAX_REGISTERED_CALLABLE_IDS"):
        worker.register(made)


@both
def test_what_is_missing_is_refused_by_name(st_platform):
    worker = Worker(level=2, device_id=0, platform=st_platform, runtime=RUNTIME)
    with pytest.raises(RuntimeError, match=re.escape("call init() first")):
        worker.malloc(16)
    worker.init()
    with pytest.raises(RuntimeError, match="no callable 5"):
        worker.run(5, ChipStorageTaskArgs(), CallConfig())
    config = CallConfig()
    config.enable_dump_tensor = True
    with pytest.raises(ValueError, match="output_prefix"):
        config.validate()
    worker.close()


if __name__ == "__main__":
    sys.exit(pytest.main([__file__, *sys.argv[1:]]))
