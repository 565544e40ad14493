"""Where a built-in pass and upstream's current one may part, by name; docs/passes.md has the table.

A difference is no excuse for whatever happens in a graph to which it applies: it says how to take it away
(from the graph, from our pass, or from upstream's result), and with all that apply taken away the two must
agree.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from math import prod
from typing import Any
from unittest import mock

import torch
from executorch.exir.dialects._ops import ops as exir_ops
from pass_structure import Structures, copy_of
from torch.fx import GraphModule, Node

from qdqviz.passes.builtin import branches, postpone_dequantize
from qdqviz.passes.builtin.data_movement import SLICES
from qdqviz.passes.builtin.hoist import HOISTABLE
from qdqviz.passes.builtin.ops import argument, is_edge_op, op_name, tensor_input
from qdqviz.passes.builtin.quantization import (
    DEQUANTIZE,
    PER_CHANNEL,
    QUANTIZE,
    QUANTIZE_PER_TENSOR,
    parameters_of,
)
from qdqviz.passes.builtin.sink import SINKABLE
from qdqviz.passes.catalogue import Catalogue

HOIST = "HoistOpsCloserToDefPass"
SINK = "SinkOpsCloserToUsePass"
CHAIN = "AdvanceQuantizeOpAboveDefChainPass"
POSTPONE = "PostponeDequantizeOpBelowUseChainPass"
BRANCH = "AdvanceQuantizeOpAboveDefInBranchPass"
PERMUTE = "PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView"
NAMES = (HOIST, SINK, CHAIN, POSTPONE, BRANCH, PERMUTE)
MOVES_ONLY = {HOIST: HOISTABLE, SINK: SINKABLE}
"""Passes whose whole effect is the order, and the ops that they move."""


def _nothing(_module: GraphModule) -> None:
    return None


@dataclass(frozen=True)
class Difference:
    """One documented difference."""

    name: str
    passes: tuple[str, ...]
    applies: Callable[[GraphModule], bool]
    """Whether it can show in a graph, told from the graph before the pass."""
    mask: Callable[[GraphModule], None] = _nothing
    """Edits the graph so that it cannot show."""
    ours: Callable[[], contextlib.AbstractContextManager[Any]] = contextlib.nullcontext
    """Makes our pass do as upstream does, for a while."""
    settle: Callable[[GraphModule], None] = _nothing
    """Edits both results so that it no longer shows."""
    theirs_again: bool = False
    """Upstream needs further runs to get where ours gets in one."""
    any_order_of_neighbours: bool = False
    """Moved ops that stand next to each other may stand in any order."""


def nodes(module: GraphModule, ops: Iterable[str]) -> list[Node]:
    wanted = set(ops)
    return [node for node in module.graph.nodes if op_name(node) in wanted]


def has(*ops: str) -> Callable[[GraphModule], bool]:
    return lambda module: bool(nodes(module, ops))


def hide(ops: Iterable[str]) -> Callable[[GraphModule], None]:
    """Replaces ops by a cast to their dtype, which no pass here knows."""

    def edit(module: GraphModule) -> None:
        for node in nodes(module, ops):
            with module.graph.inserting_before(node):
                cast = (
                    exir_ops.edge.aten._to_copy.default
                    if is_edge_op(node)
                    else torch.ops.aten._to_copy.default
                )
                opaque = module.graph.call_function(
                    cast, (tensor_input(node),), {"dtype": node.meta["val"].dtype}
                )
            opaque.meta = dict(node.meta)
            node.replace_all_uses_with(opaque)
            module.graph.erase_node(node)

    return edit


def sliced_fans(module: GraphModule) -> list[tuple[Node, list[Node]]]:
    """What a dequantize comes to stand behind, or stands behind already, and that only slices read."""
    fans = []
    for node in module.graph.nodes:
        users = list(node.users)
        if len(users) > 1 and all(op_name(user) in SLICES for user in users) and _is_below_dequantize(node):
            fans.append((node, users))
    return fans


def _is_below_dequantize(node: Node) -> bool:
    from qdqviz.passes.builtin.data_movement import MOVEMENT

    current: Node | None = node
    while current is not None and op_name(current) in MOVEMENT:
        current = tensor_input(current)
    return current is not None and op_name(current) in DEQUANTIZE


def counts_all_slices(module: GraphModule) -> bool:
    """A slice of a fan keeps everything, or makes a scalar: upstream leaves its bytes out."""
    return any(
        not tuple(user.meta["val"].shape) or user.meta["val"].numel() == node.meta["val"].numel()
        for node, users in sliced_fans(module)
        for user in users
    )


def output_reads_a_slice(module: GraphModule) -> bool:
    """A slice of a fan is a graph output: upstream does not count that as a user."""
    return any(
        reader.op == "output" for _, users in sliced_fans(module) for user in users for reader in user.users
    )


@contextlib.contextmanager
def upstream_byte_rule() -> Iterator[None]:
    def makes_more(dequantize: Node, slices: list[Node]) -> bool:
        whole = prod(dequantize.meta["val"].shape)
        sizes = [prod(part.meta["val"].shape) for part in slices if tuple(part.meta["val"].shape)]
        return bool(sum(size for size in sizes if size != whole) > whole)

    with mock.patch.object(postpone_dequantize, "makes_more_float_bytes", makes_more):
        yield


@contextlib.contextmanager
def outputs_do_not_count() -> Iterator[None]:
    def feeds_more(slices: list[Node]) -> bool:
        readers = [user for part in slices for user in part.users if user.op != "output"]
        return not all(op_name(reader) in QUANTIZE for reader in readers)

    with mock.patch.object(postpone_dequantize, "feeds_more_than_quantizes", feeds_more):
        yield


@contextlib.contextmanager
def largest_zero_point_leads() -> Iterator[None]:
    def leading(paths: branches.Paths) -> Node:
        keys = dict.fromkeys(parameters_of(quantize) for quantize in paths.quantizes)
        chosen = sorted(keys, key=lambda parameters: parameters[1]).pop()
        return next(node for node in sorted(paths.quantizes) if parameters_of(node) == chosen)

    with mock.patch.object(branches, "leading_quantize", leading):
        yield


def drop_identity_requantizes(module: GraphModule) -> None:
    for node in nodes(module, QUANTIZE_PER_TENSOR):
        back = tensor_input(node)
        if back is not None and op_name(back) in DEQUANTIZE and op_name(back) not in PER_CHANNEL:
            if parameters_of(back) != parameters_of(node):
                continue
            node.replace_all_uses_with(tensor_input(back))
            module.graph.erase_node(node)
    module.graph.eliminate_dead_code()


def has_many_quantizes(module: GraphModule) -> bool:
    return len(nodes(module, QUANTIZE_PER_TENSOR)) > 1


def has_other_parameters(module: GraphModule) -> bool:
    return len({parameters_of(node) for node in nodes(module, QUANTIZE_PER_TENSOR)}) > 1


def has_out_dtype(module: GraphModule) -> bool:
    return any("out_dtype" in node.kwargs for node in nodes(module, DEQUANTIZE))


def without_out_dtype(module: GraphModule) -> None:
    for node in nodes(module, DEQUANTIZE):
        node.kwargs = {name: value for name, value in node.kwargs.items() if name != "out_dtype"}


def views_with_symbols_inferred(module: GraphModule) -> None:
    for node in nodes(module, {"aten.view_copy.default"}):
        sizes = [size if isinstance(size, int) else -1 for size in argument(node, "size")]
        node.args = (tensor_input(node), sizes)


def has_symbolic_sizes(module: GraphModule) -> bool:
    shapes = [
        node.meta["val"].shape
        for node in module.graph.nodes
        if isinstance(node.meta.get("val"), torch.Tensor)
    ]
    return any(not isinstance(size, int) for shape in shapes for size in shape)


def has_negative_permute(module: GraphModule) -> bool:
    return any(
        dim < 0 for node in nodes(module, {"aten.permute_copy.default"}) for dim in argument(node, "dims")
    )


def count_permutes_from_the_front(module: GraphModule) -> None:
    for node in nodes(module, {"aten.permute_copy.default"}):
        dims = argument(node, "dims")
        node.args = (tensor_input(node), [dim + len(dims) if dim < 0 else dim for dim in dims])


WITH_TENSORS = {name for name in QUANTIZE | DEQUANTIZE if name.endswith(("tensor", "tensor2"))}

DIFFERENCES = (
    Difference(
        "hoists per-channel quantizes too",
        (HOIST,),
        has("quantized_decomposed.quantize_per_channel.default"),
        mask=hide({"quantized_decomposed.quantize_per_channel.default"}),
    ),
    Difference(
        "moves dynamic q/dq (.tensor overloads) too",
        (HOIST, SINK, POSTPONE),
        has(*WITH_TENSORS),
        mask=hide(WITH_TENSORS),
    ),
    Difference(
        "leaves quantizes with a computed scale in their place",
        (BRANCH,),
        has(*WITH_TENSORS),
        mask=hide(WITH_TENSORS),
    ),
    Difference(
        "follows what it hoists in one run",
        (HOIST,),
        lambda module: len(nodes(module, HOISTABLE)) > 1,
        theirs_again=True,
    ),
    Difference(
        "leaves neighbours in their order",
        (HOIST, SINK),
        lambda module: len(nodes(module, HOISTABLE | SINKABLE)) > 1,
        any_order_of_neighbours=True,
    ),
    Difference(
        "moves per-channel quantizes with their axis",
        (CHAIN,),
        has("quantized_decomposed.quantize_per_channel.default"),
        mask=hide({"quantized_decomposed.quantize_per_channel.default"}),
    ),
    Difference("goes on above a cat in the same run", (CHAIN,), has("aten.cat.default"), theirs_again=True),
    Difference(
        "moves per-channel dequantizes with their axis",
        (POSTPONE,),
        has("quantized_decomposed.dequantize_per_channel.default"),
        mask=hide({"quantized_decomposed.dequantize_per_channel.default"}),
    ),
    Difference("counts every slice's bytes", (POSTPONE,), counts_all_slices, ours=upstream_byte_rule),
    Difference("counts an output as a user", (POSTPONE,), output_reads_a_slice, ours=outputs_do_not_count),
    Difference("keeps out_dtype", (POSTPONE,), has_out_dtype, mask=without_out_dtype),
    Difference(
        "puts the most common parameters above",
        (BRANCH,),
        has_other_parameters,
        ours=largest_zero_point_leads,
    ),
    Difference(
        "requantizes only between different parameters",
        (BRANCH,),
        has_many_quantizes,
        settle=drop_identity_requantizes,
    ),
    Difference(
        "lets a view infer a symbolic size",
        (PERMUTE,),
        has_symbolic_sizes,
        settle=views_with_symbols_inferred,
    ),
    Difference(
        "counts a permute's dimensions from the front",
        (PERMUTE,),
        has_negative_permute,
        mask=count_permutes_from_the_front,
    ),
)


class Comparison:
    """Runs our pass and upstream's on copies of a graph."""

    def __init__(self) -> None:
        from qdqviz.passes.importing import import_module

        self._ours = {found.name: found for found in Catalogue().resolve(NAMES)}
        self._upstream = import_module("executorch.backends.cadence.aot.reorder_ops")

    def ours(self, name: str, module: GraphModule) -> Any:
        return self._ours[name].make()(copy_of(module))

    def theirs(self, name: str, module: GraphModule) -> GraphModule:
        return getattr(self._upstream, name)()(copy_of(module)).graph_module

    def explain(self, name: str, before: GraphModule, result: GraphModule | None = None) -> list[str]:
        """The names of the differences that show; an AssertionError where they explain too little."""
        ours = self.ours(name, before).graph_module if result is None else result
        theirs = self._theirs_if_it_works(name, before)
        if theirs is not None and self._agree(name, ours, theirs, False):
            return []
        applicable = [each for each in DIFFERENCES if name in each.passes and each.applies(before)]
        for chosen in [*([each] for each in applicable), applicable]:
            if self._agree_without(name, before, chosen):
                return [each.name for each in chosen]
        raise AssertionError(
            f"{name}: {[each.name for each in applicable]} do not explain it\n{before.graph}"
        )

    def _theirs_if_it_works(self, name: str, module: GraphModule) -> GraphModule | None:
        """Upstream's pass may well fail; then the differences have to explain that."""
        try:
            return self.theirs(name, module)
        except Exception:
            return None

    def _agree_without(self, name: str, before: GraphModule, chosen: list[Difference]) -> bool:
        masked = copy_of(before)
        with contextlib.ExitStack() as stack:
            for each in chosen:
                each.mask(masked)
                stack.enter_context(each.ours())
            ours = self.ours(name, masked).graph_module
        theirs: GraphModule | None = masked
        for _ in range(5 if any(each.theirs_again for each in chosen) else 1):
            theirs = self._theirs_if_it_works(name, theirs) if theirs is not None else None
        if theirs is None:
            return False
        for each in chosen:
            each.settle(ours)
            each.settle(theirs)
        return self._agree(name, ours, theirs, any(each.any_order_of_neighbours for each in chosen))

    def _agree(self, name: str, ours: GraphModule, theirs: GraphModule, any_order: bool) -> bool:
        structures = Structures()
        left, right = structures.of(ours), structures.of(theirs)
        if left.dataflow != right.dataflow:
            return False
        if name not in MOVES_ONLY:
            return True
        if not any_order:
            return left.nodes == right.nodes
        moved = {_short(op) for op in MOVES_ONLY[name]}
        return _in_runs(left.nodes, left.labels, moved) == _in_runs(right.nodes, right.labels, moved)


def _short(op: str) -> str:
    return op.split(".", 1)[1]


def _in_runs(order: tuple[int, ...], labels: dict[int, str], moved: set[str]) -> list[Any]:
    """The order of execution, with neighbours that are moved ops as one item in no order."""
    runs: list[Any] = []
    for number in order:
        if any(op in labels[number] for op in moved):
            if not runs or not isinstance(runs[-1], list):
                runs.append([])
            runs[-1] = sorted([*runs[-1], number])
        else:
            runs.append(number)
    return runs
