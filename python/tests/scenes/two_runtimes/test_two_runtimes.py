"""Classes of two runtimes in one file: as a program they run in groups, each with a Worker of its own."""

import importlib.util
from pathlib import Path

from simpler_setup import SceneTestCase

SCENES = Path(__file__).resolve().parents[4] / "tests/conformance/scenes"


def scene(name, cls):
    spec = importlib.util.spec_from_file_location(f"two_runtimes_{name}", SCENES / name / f"test_{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, cls)


TestChainElementwise = scene("chain_elementwise", "TestChainElementwise")
TestLegacyGraph = scene("legacy_graph", "TestLegacyGraph")


if __name__ == "__main__":
    SceneTestCase.run_module(__name__)
