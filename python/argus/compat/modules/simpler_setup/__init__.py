"""The names of the reference's package ``simpler_setup``, answered by Argus.

The decorator ``scene_test`` has the name of a module of this package. The module is imported first and the decorator is
bound afterwards, so ``from simpler_setup import scene_test`` is the decorator and
``from simpler_setup.scene_test import ...`` still finds the module.
"""

import simpler_setup.scene_test  # noqa: F401: before the decorator takes its name
from simpler_setup.elf_parser import extract_text_section
from simpler_setup.kernel_compiler import KernelCompiler
from simpler_setup.pto_isa import ensure_pto_isa_root
from simpler_setup.runtime_builder import RuntimeBuilder, parse_platform
from simpler_setup.scene_test import (
    CallableNamespace,
    Scalar,
    SceneTestCase,
    SceneTestLevel,
    TaskArgsBuilder,
    Tensor,
    TensorArg,
    scene_level,
    scene_test,
)
from simpler_setup.torch_interop import make_chip_tensor_arg, make_tensor_arg, torch_dtype_to_datatype

__all__ = [
    "CallableNamespace",
    "KernelCompiler",
    "RuntimeBuilder",
    "Scalar",
    "SceneTestCase",
    "SceneTestLevel",
    "TaskArgsBuilder",
    "Tensor",
    "TensorArg",
    "ensure_pto_isa_root",
    "extract_text_section",
    "make_chip_tensor_arg",
    "make_tensor_arg",
    "parse_platform",
    "scene_level",
    "scene_test",
    "torch_dtype_to_datatype",
]


def __getattr__(name: str):
    from argus.compat.missing import attribute

    return attribute(__name__, name)
