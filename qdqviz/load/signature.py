"""Keeps an ExportedProgram's signature in line with its graph."""

from __future__ import annotations

from typing import Any


def sync_signature(program: Any) -> None:
    """Make an ExportedProgram's signature name its graph's inputs and outputs, matched by position.

    A signature that lists another number of inputs or outputs than the graph has is left as it is: nothing
    tells which of them belong together.
    """
    from executorch.exir._program_utils import _get_updated_graph_signature

    inputs = [node.name for node in program.graph.nodes if node.op == "placeholder"]
    outputs = [getattr(node, "name", None) for node in program.graph.output_node().args[0]]
    named_inputs = [spec.arg.name for spec in program.graph_signature.input_specs]
    named_outputs = [spec.arg.name for spec in program.graph_signature.output_specs]
    if (len(inputs), len(outputs)) != (len(named_inputs), len(named_outputs)):
        return
    if inputs != named_inputs or any(
        name is not None and name != named for name, named in zip(outputs, named_outputs, strict=True)
    ):
        program._graph_signature = _get_updated_graph_signature(program.graph_signature, program.graph_module)
