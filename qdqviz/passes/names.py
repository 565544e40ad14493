"""The names of the built-in passes and pipelines, readable without importing torch."""

from __future__ import annotations

BUILTIN_MODULES: dict[str, str] = {
    "HoistOpsCloserToDefPass": "hoist",
    "SinkOpsCloserToUsePass": "sink",
    "AdvanceQuantizeOpAboveDefChainPass": "advance_chain",
    "PostponeDequantizeOpBelowUseChainPass": "postpone_dequantize",
    "AdvanceQuantizeOpAboveDefInBranchPass": "advance_branch",
    "PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView": "postpone_permute",
    "PortNodeMetaForQDQ": "port_metadata",
    "FuseDequantLinearPass": "fuse_dequant_linear",
}
"""Class name -> module below `qdqviz.passes.builtin`."""

REORDER = (
    "HoistOpsCloserToDefPass",
    "SinkOpsCloserToUsePass",
    "AdvanceQuantizeOpAboveDefChainPass",
    "PostponeDequantizeOpBelowUseChainPass",
    "AdvanceQuantizeOpAboveDefInBranchPass",
)
FUSE = ("PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView", "FuseDequantLinearPass")

BUILTIN_PIPELINES: dict[str, tuple[str, ...]] = {
    "reorder": REORDER,
    "fuse": FUSE,
    "default": ("PortNodeMetaForQDQ", *REORDER, *FUSE),
}
"""Pipeline name -> class names, in running order (`reorder` in the order of upstream's reorder list)."""

PIPELINE_SUMMARIES: dict[str, str] = {
    "reorder": "Quantize earlier and dequantize later, so that less fp32 is moved and kept alive.",
    "fuse": "Bring permutes below views, then fold weight-only dequantize and linear into one op.",
    "default": "Port metadata, then reorder, then fuse.",
}


def builtin_path(name: str) -> str:
    """Returns `package.module:Class` of a built-in pass."""
    return f"qdqviz.passes.builtin.{BUILTIN_MODULES[name]}:{name}"
