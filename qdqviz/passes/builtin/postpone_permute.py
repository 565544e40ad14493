"""PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView: permutes and views are sorted apart.

What it does: `permute -> view` becomes `view -> permute` where the view only adds or drops a dimension of
size 1, as unsqueeze and squeeze do; a view that changes nothing goes.

Why it pays: by itself it moves nothing less. Transformers are full of view, permute, view, permute; sorted
into views and then permutes, neighbours of one kind fuse into one op, and often into none.

When it must not fire: if the view does more than add or drop a 1 (it would read the elements in another
order), or if the permuted value has other users, which would need a permute of their own.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from qdqviz.passes.builtin.graph_pass import GraphPass
from qdqviz.passes.builtin.metadata import set_value
from qdqviz.passes.builtin.ops import argument, arguments_with, op_name, source_of, tensor_input
from qdqviz.passes.builtin.placement import in_place_ops, is_changed_between
from qdqviz.passes.builtin.sizes import Size, is_static, normal_dimension, same_shape, same_size, shape_of
from qdqviz.passes.builtin.users import erase_unused_sizes, has_no_users, is_asked_for_its_shape, only_user
from qdqviz.passes.builtin.values import compute_node

PERMUTES = frozenset({"aten.permute.default", "aten.permute_copy.default"})
VIEWS = frozenset({"aten.reshape.default", "aten.view.default", "aten.view_copy.default"})


class PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView(GraphPass):
    """Moves each permute below a view that only adds or drops a size of 1, so that views meet views."""

    def rewrite(self, graph: torch.fx.Graph) -> bool:
        """Walks the graph until nothing changes; each rewrite takes a view from below a permute."""
        modified = False
        while self.sweep(graph):
            modified = True
        return modified

    def sweep(self, graph: torch.fx.Graph) -> bool:
        """Looks at every permute once."""
        modified = False
        changers = in_place_ops(graph)
        for node in graph.nodes:
            if is_no_permute(node):
                continue
            if has_no_users(node):
                continue
            if is_asked_for_its_shape(node):
                continue
            if has_several_users(node):
                continue
            view = only_user(node)
            if is_no_view(view):
                continue
            if is_changed_between(node, view, changers):
                continue
            if has_unknown_shapes(node, view):
                continue
            if is_same_shape(node, view):
                drop(view)
                modified = True
                continue
            if does_more_than_a_one(node, view):
                continue
            if has_two_symbolic_sizes(node):
                continue
            swap(node, view)
            modified = True
        return modified


def is_no_permute(node: Node) -> bool:
    """It is no permute, and this pass looks at those only."""
    return op_name(node) not in PERMUTES


def has_several_users(node: Node) -> bool:
    """The permuted value has several users: each would need a permute of its own."""
    return len(node.users) > 1


def is_no_view(user: Node) -> bool:
    """Its user is no view, so there is nothing to bring above it."""
    return op_name(user) not in VIEWS


def has_unknown_shapes(permute: Node, view: Node) -> bool:
    """The shapes are not known, so nothing tells whether the view only adds or drops a 1."""
    source = tensor_input(permute)
    return source is None or any(shape_of(node) is None for node in (source, permute, view))


def is_same_shape(permute: Node, view: Node) -> bool:
    """The view changes nothing: its input has that shape already."""
    return same_shape(shape_of(permute) or (), shape_of(view) or ())


def does_more_than_a_one(permute: Node, view: Node) -> bool:
    """The view does more than add or drop one dimension of size 1: it reads the elements in another order."""
    middle, after = shape_of(permute) or (), shape_of(view) or ()
    return extra_one(after, middle) is None and extra_one(middle, after) is None


def has_two_symbolic_sizes(permute: Node) -> bool:
    """Two sizes are symbolic, and a view can infer only one."""
    return sum(not is_static(size) for size in shape_of(permute) or ()) > 1


def extra_one(longer: tuple[Size, ...], shorter: tuple[Size, ...]) -> int | None:
    """Returns the last place where a shape has a 1 more than another that is otherwise the same."""
    if len(longer) != len(shorter) + 1:
        return None
    for place in reversed(range(len(longer))):
        rest = longer[:place] + longer[place + 1 :]
        if same_size(longer[place], 1) and same_shape(rest, shorter):
            return place
    return None


def drop(view: Node) -> None:
    """Lets the users of a view that changes nothing read what it reads."""
    view.replace_all_uses_with(source_of(view))
    view.graph.erase_node(view)


def swap(permute: Node, view: Node) -> None:
    """Puts the view right above the permute; both stay the nodes that they are."""
    sizes = [node for node in view.all_input_nodes if node is not permute]
    shape, dims = swapped_arguments(permute, view)
    view.replace_all_uses_with(permute)
    size = "shape" if op_name(view) == "aten.reshape.default" else "size"
    view.args, view.kwargs = arguments_with(view, self=source_of(permute), **{size: shape})
    permute.args, permute.kwargs = arguments_with(permute, self=view, dims=dims)
    permute.prepend(view)
    set_value(view, compute_node(view))
    set_value(permute, compute_node(permute))
    erase_unused_sizes(sizes)


def swapped_arguments(permute: Node, view: Node) -> tuple[list[int], list[int]]:
    """Returns the view's shape (symbolic sizes spelled -1) and the permute's dimensions, in the new order."""
    before, middle, after = (shape_of(node) or () for node in (source_of(permute), permute, view))
    dims = [normal_dimension(dim, len(middle)) for dim in argument(permute, "dims")]
    added = extra_one(after, middle)
    dropped = extra_one(middle, after)
    if added is not None:
        sizes, order = _with_one(before, dims, added)
    else:
        assert dropped is not None
        sizes, order = _without_one(before, dims, dropped)
    return [size if is_static(size) else -1 for size in sizes], order


def _with_one(before: tuple[Size, ...], dims: list[int], place: int) -> tuple[list[Size], list[int]]:
    """The view adds a 1 at `place`: it is added there in front of the permute, which keeps it in place."""
    shape = [*before[:place], 1, *before[place:]]
    order = [dim + 1 if dim >= place else dim for dim in dims]
    return shape, [*order[:place], place, *order[place:]]


def _without_one(before: tuple[Size, ...], dims: list[int], place: int) -> tuple[list[Size], list[int]]:
    """The view drops the 1 at `place`: it is dropped where the permute takes it from."""
    gone = dims[place]
    order = [dim - 1 if dim > gone else dim for dim in dims if dim != gone]
    return [*before[:gone], *before[gone + 1 :]], order
