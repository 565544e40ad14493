"""Values that the metadata describes otherwise than the op computes them. Needs torch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

from qdqviz.check.rules.rule import Suspicion
from qdqviz.errors import NotCheckableError
from qdqviz.ir.graph import Body
from qdqviz.ir.node import Dim, NodeState, ScalarSpec, Spec, SymDim, TensorSpec
from qdqviz.ir.roles import Role, role
from qdqviz.live.decode import Decoder
from qdqviz.live.store import Store

STALE, MISSING = "stale-val", "lost-val"

_SKIPPED = frozenset({Role.CONTROL, Role.DELEGATE, Role.OUTPUT})
_UNKNOWN = object()


class StaleValues:
    """Compares `meta['val']` of nodes with what their ops make of their inputs as described.

    Ops run on fake tensors of the sizes that tracing saw; an unbacked size makes a value unknown.
    """

    def __init__(self, store: Store) -> None:
        self._decoder = Decoder(store.targets)
        self._mode = FakeTensorMode(allow_non_fake_inputs=True)

    def suspect(self, body: Body, nodes: Iterable[int]) -> Iterator[Suspicion]:
        """Look at nodes, and where one is described wrongly at its users as well."""
        values: dict[int, Any] = {}
        queue = sorted({node for node in nodes if node in body}, key=lambda node: body[node].order)
        seen = set(queue)
        for node in queue:
            state = body[node]
            value = self._compute(body, state, values)
            if value is _UNKNOWN:
                continue
            found = _compare(state, value, any(each.spec is not None for each in _inputs(body, state)))
            if found is None:
                continue
            values[node] = value
            yield found
            fresh = [user for user in body.users(node) if user not in seen]
            seen.update(fresh)
            queue.extend(fresh)

    def _compute(self, body: Body, node: NodeState, values: dict[int, Any]) -> Any:
        if node.op != "call_function" or role(node) in _SKIPPED or not self._decoder.knows(node.target):
            return _UNKNOWN

        def look_up(identity: int) -> Any:
            if identity not in values:
                values[identity] = self._described(body.get(identity))
            if values[identity] is _UNKNOWN:
                raise NotCheckableError("unknown")
            return values[identity]

        try:
            args = self._decoder.value(node.args, look_up)
            kwargs = {key: self._decoder.value(value, look_up) for key, value in node.kwargs}
            with self._mode, torch.no_grad():
                return self._decoder.target(node.target)(*args, **kwargs)
        except NotCheckableError:
            return _UNKNOWN
        except Exception:  # noqa: BLE001  whether the op runs is the check's question, not this rule's
            return _UNKNOWN

    def _described(self, node: NodeState | None) -> Any:
        """A fake value of what is said of a node."""
        if node is None:
            return _UNKNOWN
        constant = node.constant.spec if node.constant is not None else None
        return self._of_spec(node.spec if node.spec is not None else constant)

    def _of_spec(self, spec: Spec) -> Any:
        if isinstance(spec, tuple):
            parts = [self._of_spec(each) for each in spec]
            return _UNKNOWN if any(part is _UNKNOWN for part in parts) else tuple(parts)
        if not isinstance(spec, TensorSpec):
            return _UNKNOWN
        sizes = [_size(dim) for dim in spec.shape]
        if any(size is None for size in sizes):
            return _UNKNOWN
        with self._mode:
            return torch.empty(sizes, dtype=getattr(torch, spec.dtype))


def _inputs(body: Body, node: NodeState) -> list[NodeState]:
    return [body[each] for each in body.inputs(node.id)]


def _compare(node: NodeState, value: Any, described: bool) -> Suspicion | None:
    made = _say(value)
    if made is None:
        return None
    if node.spec is None:
        return Suspicion(MISSING, node.id, "no val", made) if described else None
    if isinstance(node.spec, ScalarSpec) or _agrees(node.spec, value):
        return None
    return Suspicion(STALE, node.id, f"val says {_say_spec(node.spec)}", made)


def _agrees(spec: Spec, value: Any) -> bool:
    if isinstance(value, list | tuple):
        return isinstance(spec, tuple) and len(spec) == len(value) and all(map(_agrees, spec, value))
    if not isinstance(value, FakeTensor):
        return True
    if not isinstance(spec, TensorSpec):
        return spec is None
    sizes = [_size(dim) for dim in spec.shape]
    same = len(sizes) == value.dim() and all(
        size is None or not isinstance(made, int) or size == made
        for size, made in zip(sizes, value.shape, strict=True)
    )
    return same and spec.dtype == str(value.dtype).removeprefix("torch.")


def _size(dim: Dim) -> int | None:
    return dim.hint if isinstance(dim, SymDim) else dim


def _say(value: Any) -> str | None:
    if isinstance(value, FakeTensor):
        return f"{str(value.dtype).removeprefix('torch.')} {[int(size) for size in value.shape]}"
    if isinstance(value, list | tuple):
        parts = [_say(each) or "None" for each in value]
        return f"({', '.join(parts)})"
    return None


def _say_spec(spec: Spec) -> str:
    if isinstance(spec, TensorSpec):
        sizes = ", ".join(size.expr if isinstance(size, SymDim) else str(size) for size in spec.shape)
        return f"{spec.dtype} [{sizes}]"
    if isinstance(spec, tuple):
        return f"({', '.join(map(_say_spec, spec))})"
    return "nothing" if spec is None else spec.text
