"""Which backend or part of executorch a pass was written for, told by where it stands."""

from __future__ import annotations

BACKENDS = "executorch.backends."


def family_of(module: str) -> str:
    """Returns `cadence`, `xnnpack`, `transforms`, `exir`, `arm` and so on for a dotted module name."""
    parts = module.split(".")
    if module.startswith(BACKENDS):
        return parts[2]
    return parts[1] if len(parts) > 1 else parts[0]


PIPELINES: dict[str, tuple[str, str]] = {
    "cadence-reorder": (
        "executorch.backends.cadence.aot.reorder_ops:CadenceReorderOpsInGraph",
        "Cadence's own list of reordering passes.",
    ),
    "cadence-fuse": (
        "executorch.backends.cadence.aot.fuse_ops:CadenceFuseOpsInGraph",
        "Cadence's own list of fusing passes.",
    ),
    "cadence": (
        "executorch.backends.cadence.aot.passes:get_passes_in_default_order",
        "Cadence's whole pipeline at opt level 1; cadence@0 to cadence@4 for another level.",
    ),
}
"""Upstream pipelines: name -> where the list stands, and a sentence."""

CADENCE_PASS_FILTER = "executorch.backends.cadence.aot.pass_utils:create_cadence_pass_filter"
"""Upstream's function that says which passes belong to an opt level."""

DEFAULT_OPT_LEVEL = 1
"""The default of upstream's own `export_to_edge` and `lower` functions (backends/cadence/aot/compiler.py)."""
