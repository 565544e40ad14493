"""Operator libraries: which module registers which namespace, and which ops nobody has registered."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from qdqviz.errors import UsageError
from qdqviz.load.messages import describe_error
from qdqviz.load.source import import_file, import_name

OP_LIBRARIES: dict[str, tuple[str, ...]] = {
    "quantized_decomposed": (
        "torch.ao.quantization.fx._decomposed",
        "executorch.exir.passes._quant_patterns_and_replacements",
    ),
    "torchao": ("torchao.quantization.quant_primitives", "torchao.ops"),
    "cadence": ("executorch.backends.cadence.aot.ops_registrations",),
    "jarvis_nn_ops": ("executorch.backends.cadence.aot.ops_registrations",),
    "et_vk": ("executorch.backends.vulkan.custom_ops_lib",),
    "dim_order_ops": ("executorch.exir.passes.dim_order_ops_registry",),
    "executorch_prim": ("executorch.exir.passes.executorch_prim_ops_registry",),
    "channels_last": ("executorch.backends.transforms.channels_last_ops",),
    "cortex_m": ("executorch.backends.cortex_m.ops.operators",),
    "et_copy": ("executorch.exir.passes._device_copy_ops_registry",),
    "llama": ("executorch.extension.llm.custom_ops.custom_ops",),
    "tosa": ("executorch.backends.arm.tosa.dialect",),
}
"""Namespace of ops -> modules that register them when imported. They are imported when a file needs them."""

OP_PREFIXES = ("torch.ops.", "executorch.exir.dialects.edge.ops.", "executorch.exir.dialects.backend.ops.")
"""How the serializers write an op: the prefix, then namespace, name and overload."""

SHARED_LIBRARIES = (".so", ".dylib", ".dll", ".pyd")
"""Suffixes of compiled op libraries, which torch.ops loads."""


def import_libraries(imports: Iterable[str]) -> None:
    """Import op libraries that the user named: dotted modules, Python files, or shared libraries.

    Raises:
        TargetError: there is no such module or file, or it raised.
        UsageError: a shared library does not load.
    """
    for name in imports:
        if name.endswith(SHARED_LIBRARIES):
            try:
                torch.ops.load_library(name)
            except OSError as error:
                raise UsageError(f"cannot load the op library {name}: {describe_error(error)}") from error
        elif name.endswith(".py"):
            import_file(Path(name))
        else:
            import_name(name)


def register(targets: Iterable[str]) -> list[str]:
    """Import the known libraries that serialized targets need; the ops that are still unknown are returned.

    Args:
        targets: what nodes call, as serialized.

    Returns:
        Names of the unknown ops as `namespace::name.overload`, sorted.
    """
    unknown = {op for op in map(_op_of, targets) if op is not None and not _is_registered(op)}
    for namespace in sorted({namespace for namespace, _, _ in unknown if namespace in OP_LIBRARIES}):
        _import_known(namespace, {op for op in unknown if op[0] == namespace})
    return sorted(f"{each[0]}::{each[1]}.{each[2]}" for each in unknown if not _is_registered(each))


def _op_of(target: str) -> tuple[str, str, str] | None:
    for prefix in OP_PREFIXES:
        parts = target.removeprefix(prefix).split(".")
        if target.startswith(prefix) and len(parts) == 3:
            return parts[0], parts[1], parts[2]
    return None


def _is_registered(op: tuple[str, str, str]) -> bool:
    found: Any = torch.ops
    for name in op:
        found = getattr(found, name, None)
        if found is None:
            return False
    return True


def _import_known(namespace: str, wanted: set[tuple[str, str, str]]) -> None:
    """Import the libraries of a namespace until all `wanted` ops are registered."""
    for module in OP_LIBRARIES[namespace]:
        if all(map(_is_registered, wanted)):
            return
        try:
            importlib.import_module(module)
        except ImportError:
            continue  # not installed here: its ops stay unknown, and the caller names them
