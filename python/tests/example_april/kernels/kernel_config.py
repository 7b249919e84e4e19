"""Sources and how they run."""

from pathlib import Path

from simpler.task_interface import ArgDirection as D

HERE = Path(__file__).resolve().parent
KERNEL = HERE.parents[3] / "tests/conformance/scenes/wrong_golden/kernels/aiv/add.cpp"

ORCHESTRATION = {"source": str(HERE / "two_sums.cpp"), "function_name": "aicpu_orchestration_entry", "signature": [D.IN, D.IN, D.OUT]}
KERNELS = [{"func_id": 0, "source": str(KERNEL), "core_type": "aiv", "signature": [D.IN, D.IN, D.OUT]}]
RUNTIME_CONFIG = {"runtime": "aicpu_build_graph", "aicpu_thread_num": 4, "block_dim": 3}
