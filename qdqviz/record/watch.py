"""The patches on torch.fx, all in one place: put on by a `with`, taken off at its end.

They sit on the classes, so that every graph is seen: creation, erasure, arguments, inputs, moves,
names, targets and metadata. What they see goes to the recorder; what they wrap behaves as before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any, Protocol

from torch.fx import Graph, GraphModule, Node
from torch.fx.node import _NodeBase

_ABSENT = object()


class EditListener(Protocol):
    """What the watchers tell of edits; each call says that the edit has happened or is about to."""

    watch_metadata: Callable[[bool], None]
    """Set by the watcher: takes whether metadata that is handed out may be edited by a pass now."""

    def wants(self, graph: Graph) -> bool:
        """Whether edits of this graph are recorded now, on this thread."""

    def created(self, graph: Graph, node: Node) -> None:
        """A node was created and inserted."""

    def created_elsewhere(self, node: Node) -> None:
        """A node was created in a graph that is not recorded (yet)."""

    def about_to_erase(self, graph: Graph, node: Node) -> None:
        """A node is about to be erased."""

    def erased(self, graph: Graph, node: Node) -> None:
        """The node was erased."""

    def about_to_write(self, node: Node, towards: Any) -> None:
        """A field of the node is about to change; `towards` holds its new inputs, if known."""

    def about_to_rename(self, node: Node) -> None:
        """A node of any graph is about to get another name."""

    def inputs_dropped(self, node: Node, before: tuple[Node, ...]) -> None:
        """The node's inputs changed; `before` are the old ones."""

    def moved(self, node: Node) -> None:
        """A node took another place in its graph."""

    def meta_read(self, graph: Graph, node: Node) -> None:
        """A node's metadata dictionary was handed out and may change in place."""

    def printing(self, graph: Graph) -> bool:
        """Torch is about to make code of a graph, which reads metadata; whether `printed` is to follow."""

    def printed(self) -> None:
        """The code is made."""

    def copied(self, copy: Node, original: Node) -> None:
        """A node was copied, usually into another graph."""

    def searched(self, graph: Graph, op: str, target: Any, found: int) -> None:
        """A graph was searched as a whole."""

    def calling(self, name: str) -> Any:
        """A named call that edits a graph begins; returns what `called` takes."""

    def called(self, token: Any) -> None:
        """The named call is over."""


class Patches:
    """Attributes replaced on classes, and put back in reverse order."""

    def __init__(self) -> None:
        self._undo = ExitStack()

    def wrap(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Replace `owner.name` by what `make` gives for the original."""
        own = vars(owner).get(name, _ABSENT)
        original = getattr(owner, name) if own is _ABSENT else own
        self.set(owner, name, make(original))

    def set(self, owner: Any, name: str, value: Any) -> None:
        """Set `owner.name`, or shadow what it inherits."""
        own = vars(owner).get(name, _ABSENT)
        if own is _ABSENT:
            self._undo.callback(delattr, owner, name)
        else:
            self._undo.callback(setattr, owner, name, own)
        setattr(owner, name, value)

    def undo(self) -> None:
        """Put everything back."""
        self._undo.close()


@contextmanager
def watching_edits(listener: EditListener) -> Iterator[None]:
    """Watch every edit of every torch.fx graph until the block ends."""
    patches = Patches()
    try:
        _watch_graphs(patches, listener)
        _watch_nodes(patches, listener)
        _watch_fields(patches, listener)
        yield
    finally:
        patches.undo()


def _watch_graphs(patches: Patches, to: EditListener) -> None:
    def create_node(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Graph, *args: Any, **kwargs: Any) -> Node:
            node: Node = original(self, *args, **kwargs)
            if to.wants(self):
                to.created(self, node)
            else:
                to.created_elsewhere(node)
            return node

        return wrapper

    def erase_node(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Graph, to_erase: Node) -> None:
            if not to.wants(self) or to_erase.graph is not self or to_erase._erased:
                return original(self, to_erase)
            to.about_to_erase(self, to_erase)
            original(self, to_erase)
            to.erased(self, to_erase)
            return None

        return wrapper

    def node_copy(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Graph, node: Node, *args: Any, **kwargs: Any) -> Node:
            copy: Node = original(self, node, *args, **kwargs)
            to.copied(copy, node)
            return copy

        return wrapper

    def find_nodes(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Graph, **kwargs: Any) -> Any:
            found = original(self, **kwargs)
            if to.wants(self):
                to.searched(self, kwargs.get("op", ""), kwargs.get("target"), len(found))
            return found

        return wrapper

    def python_code(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Graph, *args: Any, **kwargs: Any) -> Any:
            if not _prints_plainly(self) or not to.printing(self):
                return original(self, *args, **kwargs)
            try:
                return original(self, *args, **kwargs)
            finally:
                to.printed()

        return wrapper

    def named(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            token = to.calling(original.__name__)
            try:
                return original(*args, **kwargs)
            finally:
                to.called(token)

        return wrapper

    patches.wrap(Graph, "create_node", create_node)
    patches.wrap(Graph, "erase_node", erase_node)
    patches.wrap(Graph, "node_copy", node_copy)
    patches.wrap(Graph, "find_nodes", find_nodes)
    patches.wrap(Graph, "python_code", python_code)
    for name in ("eliminate_dead_code", "_clear_nodes"):
        patches.wrap(Graph, name, named)


def _prints_plainly(graph: Graph) -> bool:
    """Whether the code of a graph is made by torch alone, which leaves metadata as it is."""
    codegen = graph._codegen
    return type(codegen).__module__ == "torch.fx.graph" and codegen._body_transformer is None


def _watch_nodes(patches: Patches, to: EditListener) -> None:
    def update(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Node, args: Any, kwargs: Any) -> Any:
            graph = self.graph
            if not to.wants(graph) or self._erased:
                return original(self, args, kwargs)
            before = tuple(self._input_nodes)
            to.about_to_write(self, (args, kwargs))
            result = original(self, args, kwargs)
            to.inputs_dropped(self, before)
            return result

        return wrapper

    def replace(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Node, old: Node, new: Node) -> Any:
            if not to.wants(self.graph):
                return original(self, old, new)
            to.about_to_write(self, new)
            result = original(self, old, new)
            to.inputs_dropped(self, (old,))
            return result

        return wrapper

    def prepend(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Node, moved: Node) -> Any:
            result = original(self, moved)
            if to.wants(self.graph):
                to.moved(moved)
            return result

        return wrapper

    def set_field(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Node, name: str, value: Any) -> None:
            if name in _FIELDS:
                if name == "name":
                    to.about_to_rename(self)
                if to.wants(getattr(self, "graph", None)):
                    to.about_to_write(self, None)
            original(self, name, value)

        return wrapper

    patches.wrap(Node, "_update_args_kwargs", update)
    patches.wrap(Node, "_replace_input_with", replace)
    patches.wrap(Node, "_prepend", prepend)
    patches.wrap(Node, "__setattr__", set_field)


_FIELDS = frozenset({"target", "name", "op"})


def _watch_fields(patches: Patches, to: EditListener) -> None:
    """Data descriptors over the C members that Python code may write directly."""
    get_meta = _NodeBase.__dict__["meta"].__get__

    def read_meta(self: Node) -> Any:
        graph = self.graph
        if to.wants(graph):
            to.meta_read(graph, self)
        return get_meta(self)

    def over(name: str) -> property:
        member = _NodeBase.__dict__[name]
        put = member.__set__

        def write(self: Node, value: Any) -> None:
            if to.wants(getattr(self, "graph", None)):
                to.about_to_write(self, None)
            put(self, value)

        return property(member.__get__, write)

    def watch_metadata(on: bool) -> None:
        # Another property each time, and no test in the one: a retrace reads metadata all the time.
        if (vars(Node)["meta"] is watched) is not on:
            Node.meta = watched if on else unwatched

    unwatched = over("meta")
    watched = unwatched.getter(read_meta)
    for name, field in (("meta", unwatched), ("_args", over("_args")), ("_kwargs", over("_kwargs"))):
        patches.set(Node, name, field)
    to.watch_metadata = watch_metadata


def owning_graph_replaced(patches: Patches, replaced: Callable[[GraphModule, Graph], None]) -> None:
    """Tell when a graph module is given another graph."""
    original = GraphModule.__dict__["graph"]

    def put(self: GraphModule, graph: Graph) -> None:
        original.__set__(self, graph)
        replaced(self, graph)

    patches.set(GraphModule, "graph", property(original.fget, put))
