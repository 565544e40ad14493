"""Rebuilds the signature and the held tensors of an ExportedProgram for any state of its graph."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    SymIntArgument,
    TensorArgument,
)

from qdqviz.errors import NotCheckableError
from qdqviz.ir.graph import Body
from qdqviz.ir.node import Constant, NodeState
from qdqviz.live.store import LiftedInput, Signature, Store

_INPUT_KINDS = {
    "parameter": InputKind.PARAMETER,
    "buffer": InputKind.BUFFER,
    "tensor": InputKind.CONSTANT_TENSOR,
    "object": InputKind.CUSTOM_OBJ,
}


@dataclass(frozen=True)
class Lifted:
    """What a rebuilt program holds besides its graph."""

    signature: Any
    """The ExportGraphSignature."""
    state_dict: dict[str, Any]
    """Parameters and persistent buffers by target."""
    constants: dict[str, Any]
    """Other constants by target."""


class SignatureBuilder:
    """Rebuilds signatures of one program."""

    def __init__(self, program: Any, store: Store, first: Body) -> None:
        """Take the program as it was loaded, the session's objects, and its first outermost graph."""
        self._program = program
        self._store = store
        self._known = _by_identity(first, store.signatures[0].inputs) if store.signatures else {}

    def build(self, body: Body, step: int, nodes: dict[int, Any]) -> Lifted:
        """The signature and the tensors of a state.

        Args:
            body: The outermost graph of the state.
            step: The step at which it stands.
            nodes: Built torch.fx.Node by identity, with `val` in its metadata.

        Raises:
            NotCheckableError: A constant is not held by the session.
        """
        around = self._around(step)
        inputs: list[Any] = []
        state_dict: dict[str, Any] = {}
        constants: dict[str, Any] = {}
        for node in body:
            if node.op != "placeholder":
                continue
            entry = self._entry(node, around)
            inputs.append(_input_spec(node, entry, nodes[node.id]))
            target = inputs[-1].target
            if target is not None:
                held = state_dict if self._is_state(inputs[-1], target) else constants
                held[target] = self._held(node, entry)
        outputs = self._outputs(body, around, nodes)
        mutated = {spec.target for spec in outputs if spec.kind is OutputKind.BUFFER_MUTATION}
        for target in mutated & set(state_dict):
            state_dict[target] = state_dict[target].detach().clone()
        return Lifted(ExportGraphSignature(inputs, outputs), state_dict, constants)

    def _around(self, step: int) -> tuple[Signature, ...]:
        """The signature right before the step, the one right after, then all others."""
        known = self._store.signatures
        before = [each for each in known if each.step <= step]
        after = [each for each in known if each.step > step]
        return (*before[-1:], *after, *before[-2::-1])

    # -- inputs ------------------------------------------------------------------------------------

    def entry(self, node: NodeState, step: int) -> LiftedInput | None:
        """What the program's signature said of a placeholder, nearest in time to `step`."""
        return self._entry(node, self._around(step))

    def _entry(self, node: NodeState, around: Sequence[Signature]) -> LiftedInput | None:
        for name in (node.name, node.target):
            for signature in around:
                for entry in signature.inputs:
                    if entry.name == name:
                        return entry
        return self._known.get(node.id)

    def _is_state(self, spec: Any, target: str) -> bool:
        if spec.kind is InputKind.PARAMETER:
            return True
        return spec.kind is InputKind.BUFFER and target not in self._program.constants

    def _held(self, node: NodeState, entry: LiftedInput | None) -> Any:
        constant = constant_of(node, entry)
        assert constant is not None
        original = self._original(constant.target)
        if constant.fingerprint is None:
            found = self._store.objects.get(constant.target, original)
        elif self._is_original(constant):
            found = original
        else:
            found = self._store.tensor(constant)
            if found is not None and constant.kind == "parameter":
                found = torch.nn.Parameter(found, requires_grad=False)
        if found is None:
            raise NotCheckableError(
                f"the constant {constant.target} of {node.name} is not held by this session"
            )
        return found

    def _original(self, target: str) -> Any:
        found = self._program.state_dict.get(target)
        return self._program.constants.get(target) if found is None else found

    def _is_original(self, constant: Constant) -> bool:
        first = self._store.signatures[0].inputs if self._store.signatures else ()
        return any(entry.constant == constant for entry in first)

    # -- outputs -----------------------------------------------------------------------------------

    def _outputs(self, body: Body, around: Sequence[Signature], nodes: dict[int, Any]) -> list[Any]:
        output = next(node for node in reversed(body.in_order()) if node.op == "output")
        values = nodes[output.id].args[0]
        values = list(values) if isinstance(values, list | tuple) else [values]
        fitting = next((each for each in around if len(each.outputs) == len(values)), None)
        specs: list[Any] = list(fitting.outputs if fitting is not None else around[0].outputs)
        specs += [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(""), None)] * (len(values) - len(specs))
        return [_output_spec(spec, value) for spec, value in zip(specs, values, strict=False)]


def constant_of(node: NodeState, entry: LiftedInput | None) -> Constant | None:
    """The constant behind a placeholder: as the trace has it, else as the signature has it."""
    known = node.constant
    if known is not None and known.kind != "user_input":
        return known
    return entry.constant if entry is not None else None


def _by_identity(body: Body, inputs: Sequence[LiftedInput]) -> dict[int, LiftedInput]:
    placeholders = [node for node in body if node.op == "placeholder"]
    by_name = {entry.name: entry for entry in inputs}
    return {node.id: by_name[node.name] for node in placeholders if node.name in by_name}


def _input_spec(state: NodeState, entry: LiftedInput | None, node: Any) -> Any:
    constant = constant_of(state, entry)
    if entry is not None:
        return replace(entry.spec, arg=_argument(entry.spec.arg, node))
    if constant is None:
        return InputSpec(InputKind.USER_INPUT, _argument(TensorArgument(""), node), None)
    kind = _INPUT_KINDS[constant.kind]
    persistent = True if kind is InputKind.BUFFER else None
    return InputSpec(kind, TensorArgument(state.name), constant.target, persistent)


def _output_spec(spec: Any, value: Any) -> Any:
    return replace(spec, arg=_argument(spec.arg, value))


def _argument(known: Any, value: Any) -> Any:
    """The argument of a spec for another node: of the same class, unless the value says another."""
    if not isinstance(value, torch.fx.Node):
        return ConstantArgument("", value)
    if isinstance(known, ConstantArgument):
        if value.op == "placeholder":
            return ConstantArgument(value.name, known.value)
        known = TensorArgument("")
    if isinstance(value.meta.get("val"), torch.SymInt):
        return SymIntArgument(value.name)
    if isinstance(known, TensorArgument | SymIntArgument):
        return TensorArgument(value.name)
    return replace(known, name=value.name)
