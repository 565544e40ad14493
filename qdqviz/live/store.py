"""What the states of a trace only name, and a live session still holds: call targets, tensors, delegates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from qdqviz.ir.node import Constant

if TYPE_CHECKING:
    from qdqviz.record.api import Recording


@dataclass(frozen=True, slots=True)
class LiftedInput:
    """One entry of a program's input signature."""

    name: str
    """Name of the placeholder."""
    spec: Any
    """The InputSpec of torch.export."""
    constant: Constant | None
    """The constant behind it; None for what the user passes."""


@dataclass(frozen=True, slots=True)
class Signature:
    """The signature of the session's program between two passes."""

    step: int
    """Last step before this instant."""
    inputs: tuple[LiftedInput, ...]
    """Input specs in order."""
    outputs: tuple[Any, ...]
    """The OutputSpecs of torch.export in order."""


@dataclass(slots=True)
class Remembered:
    """What one node held at the pass boundaries, of the kinds that a trace keeps in short form only."""

    meta: dict[str, Any]
    """Its metadata, each key as it was first seen; `val` included."""
    args: Any = None
    """Its positional arguments as first seen, without nodes; None where a trace has all of them."""
    kwargs: Any = None
    """Its keyword arguments, likewise."""


@dataclass(frozen=True)
class Store:
    """Objects behind the texts and fingerprints of a trace."""

    targets: Mapping[str, Any]
    """Call target by its text."""
    tensors: Mapping[str, Any]
    """Tensor by fingerprint; a copy that no pass can have changed."""
    objects: Mapping[str, Any]
    """What is neither a tensor nor a graph (a script object, a module), by its target."""
    delegates: Mapping[tuple[int, str], Any]
    """Lowered module by subject and path."""
    nodes: Mapping[int, Remembered]
    """What is remembered of a node, by identity; nothing of those that came and went within one pass."""
    signatures: tuple[Signature, ...] = ()
    """Signatures at the pass boundaries, oldest first; none for a GraphModule."""

    def tensor(self, constant: Constant | None) -> Any | None:
        """The tensor that a constant was at its instant, or None if there is none."""
        if constant is None or constant.fingerprint is None:
            return None
        return self.tensors.get(constant.fingerprint)

    def lifted(self, name: str) -> Constant | None:
        """The constant behind a placeholder that the trace knows nothing of, by the latest signature."""
        for signature in reversed(self.signatures):
            for entry in signature.inputs:
                if entry.name == name:
                    return entry.constant
        return None


@dataclass
class Collector:
    """Gathers during a recording what `Store` needs and the recorder does not keep."""

    recording: Recording
    """The recording, with its constants kept."""
    signatures: list[Signature] = field(default_factory=list)
    """Signatures so far."""
    nodes: dict[int, Remembered] = field(default_factory=dict)
    """Nodes so far, by identity."""
    lowered: dict[int, Any] = field(default_factory=dict)
    """Lowered modules by object id."""
    objects: dict[str, Any] = field(default_factory=dict)
    """Script objects and other constants that are no tensors, by target."""

    def look(self, module: Any, program: Any | None) -> None:
        """Take note of a program between two passes.

        Args:
            module: Its torch.fx.GraphModule.
            program: Its ExportedProgram; None for a GraphModule.
        """
        recorder = self.recording.recorder
        if not recorder.subjects:
            recorder.subject_of(module)
        for each in module.modules():
            if type(each).__name__ == "LoweredBackendModule":
                self.lowered[id(each)] = each
            elif hasattr(each, "graph"):
                self._remember(each.graph)
        if program is not None:
            inputs = tuple(self._lifted(program, spec) for spec in program.graph_signature.input_specs)
            outputs = tuple(program.graph_signature.output_specs)
            self.signatures.append(Signature(self.recording.steps, inputs, outputs))

    def _remember(self, graph: Any) -> None:
        identities = self.recording.recorder.ids.of
        for node in graph.nodes:
            identity = identities.get(node)
            if identity is None:
                continue
            known = self.nodes.get(identity)
            if known is None:
                self.nodes[identity] = Remembered(
                    dict(node.meta), _opaque(node.args), _opaque(dict(node.kwargs))
                )
            else:
                known.meta.update((key, value) for key, value in node.meta.items() if key not in known.meta)

    def _lifted(self, program: Any, spec: Any) -> LiftedInput:
        import torch

        name, kind, target = spec.arg.name, spec.kind.name, spec.target
        if target is None:
            return LiftedInput(name, spec, None)
        value = program.state_dict.get(target)
        if value is None:
            value = program.constants.get(target)
        if isinstance(value, torch.Tensor):
            return LiftedInput(name, spec, self.recording.recorder.pool.tensor(KINDS[kind], target, value))
        self.objects[target] = value
        return LiftedInput(name, spec, Constant("object", target, None))

    def store(self) -> Store:
        """Everything that was gathered."""
        recorder = self.recording.recorder
        return Store(
            targets=recorder.encoder.targets.objects,
            tensors=recorder.pool.tensors,
            objects={**recorder.pool.modules, **self.objects},
            delegates=dict(self._delegates()),
            nodes=self.nodes,
            signatures=tuple(self.signatures),
        )

    def _delegates(self) -> Iterator[tuple[tuple[int, str], Any]]:
        for subject in self.recording.recorder.subjects:
            for body in subject.bodies.values():
                for lowered in self.lowered.values():
                    path = body.path_of(lowered)
                    if path is not None:
                        yield (subject.id, path), lowered


KINDS = {"PARAMETER": "parameter", "BUFFER": "buffer", "CONSTANT_TENSOR": "tensor", "CUSTOM_OBJ": "object"}
"""Kinds of InputSpec, and of constants in a trace."""


def _opaque(value: Any) -> Any:
    """A structure of arguments without its nodes, if something in it has no exact text; else None."""
    import torch

    plain = (
        type(None),
        bool,
        int,
        float,
        complex,
        str,
        torch.dtype,
        torch.device,
        torch.layout,
        torch.memory_format,
    )

    def strip(item: Any) -> tuple[Any, bool]:
        if isinstance(item, list | tuple):
            parts = [strip(part) for part in item]
            return [part for part, _ in parts], any(found for _, found in parts)
        if isinstance(item, dict):
            entries = {key: strip(part) for key, part in item.items()}
            return {key: part for key, (part, _) in entries.items()}, any(
                found for _, found in entries.values()
            )
        if isinstance(item, torch.fx.Node):
            return None, False
        return item, not isinstance(item, plain)

    stripped, found = strip(value)
    return stripped if found else None
