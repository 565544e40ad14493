"""Takes the edits that the watchers tell of to the log of the pass run that makes them."""

from __future__ import annotations

from _thread import get_ident
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch.fx import Graph, Node

from qdqviz.record.mirror import Mirror
from qdqviz.record.running import Run
from qdqviz.trace.model import LookedFor

if TYPE_CHECKING:
    from qdqviz.record.recorder import Recorder

_MOST_SEARCHES = 256
"""How many searches of whole graphs are noted of one pass run."""


class EditHearer:
    """Implements `watch.EditListener`."""

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._ids = recorder.ids
        self._graphs = recorder.graphs
        self._current = recorder.graphs.current
        self._thread = get_ident()
        self._erased: list[Node] = []
        self.watch_metadata: Callable[[bool], None] = lambda on: None
        """Takes whether metadata that is handed out may be edited by a pass now; the watcher's own."""

    def wants(self, graph: Graph) -> bool:
        """Whether edits of this graph are recorded now, on this thread."""
        # As `Recorder.listening`, without one call more: asked of every edit and every look at metadata.
        return graph in self._current and not self._recorder.held_off and get_ident() == self._thread

    # -- nodes come and go -------------------------------------------------------------------------

    def created(self, graph: Graph, node: Node) -> None:
        """A node was created and inserted."""
        body = self._graphs.current[graph]
        log = self._recorder.log(body)
        nid = self._ids.ensure(node)
        if node.op in ("get_attr", "call_module"):
            self._graphs.read_child(body, node, log, log.owners.of_creation(node))
        state = body.encode(node, nid, body.order_at(node))
        owner = log.owners.of_creation(node)
        log.edits.put(body, nid, owner, state)
        body.mirrors[nid] = Mirror(node, state)

    def created_elsewhere(self, node: Node) -> None:
        """A node was created in a graph that is no subject's (yet)."""
        recorder = self._recorder
        if recorder.runs and not recorder.retraces.active and recorder.listening:
            token = recorder.runs[-1].log.owners.current
            if token is not None:
                recorder.runs[-1].log.elsewhere[node] = token.owner

    def about_to_erase(self, graph: Graph, node: Node) -> None:
        """A node is about to be erased."""
        body = self._graphs.current[graph]
        nid = self._ids.of.get(node)
        if nid is None or nid not in body.mirrors:
            return
        log = self._recorder.log(body)
        owner = log.owners.of_erasure(node)
        log.edits.touch(body, nid, owner)
        log.erasure = (owner, tuple(node._input_nodes))

    def erased(self, graph: Graph, node: Node) -> None:
        """The node was erased."""
        body = self._graphs.current[graph]
        nid = self._ids.of.get(node)
        if nid is None or nid not in body.mirrors:
            return
        log = self._recorder.log(body)
        owner, inputs = log.erasure or (log.owners.of_erasure(node), ())
        log.edits.put_erased(body, nid, owner)
        del body.mirrors[nid]
        self._erased.append(node)
        for source in inputs:
            if not source.users:
                log.owners.note_unused(source, owner)

    def forget_erased(self) -> None:
        """Let go of erased nodes, of which decisions may have spoken while their pass ran."""
        for node in self._erased:
            self._ids.of.pop(node, None)
        self._erased.clear()

    def copied(self, copy: Node, original: Node) -> None:
        """A node was copied: a copy in another graph is the same node there."""
        if self._recorder.listening and copy.graph is not original.graph and copy not in self._ids.of:
            self._ids.same(copy, original)
            self._graphs.note_copy(copy.graph, original.graph)

    # -- nodes change ------------------------------------------------------------------------------

    def about_to_write(self, node: Node, towards: Any) -> None:
        """A field of the node is about to change."""
        body = self._graphs.current.get(node.graph)
        nid = self._ids.of.get(node)
        if body is None or nid is None or nid not in body.mirrors:
            return
        log = self._recorder.log(body)
        log.writing = log.owners.of(node, towards)
        log.edits.touch(body, nid, log.writing)

    def about_to_rename(self, node: Node) -> None:
        """A node of any graph is about to get another name, which decisions may have seen."""
        if self._recorder.runs and self._recorder.listening:
            self._recorder.runs[-1].log.observer.about_to_rename(node)

    def inputs_dropped(self, node: Node, before: tuple[Node, ...]) -> None:
        """The node's inputs changed."""
        body = self._graphs.current.get(node.graph)
        if body is None or node not in self._ids.of:
            return
        unused = [source for source in before if not source.users]
        if unused:
            log = self._recorder.log(body)
            owner = log.writing or log.owners.of(node)
            for source in unused:
                log.owners.note_unused(source, owner)

    def moved(self, node: Node) -> None:
        """A node took another place in its graph."""
        body = self._graphs.current.get(node.graph)
        nid = self._ids.of.get(node)
        if body is None or nid is None or nid not in body.mirrors:
            return
        log = self._recorder.log(body)
        log.edits.touch(body, nid, log.owners.of(node, None))
        body.replace_order(nid, node)

    def meta_read(self, graph: Graph, node: Node) -> None:
        """A node's metadata dictionary was handed out."""
        nid = self._ids.of.get(node)
        if nid is None:
            return
        run = self._recorder.runs[-1]
        body, owners = self._current[graph], run.log.owners
        token, earlier = owners.current, run.meta_reads.get(nid)
        if earlier is not None:
            owner = earlier[1]
            if token is None:
                if owner is None and owners.call is None:
                    return
            elif owner is token.owner:
                return
            if body.meta_changed(nid):
                run.log.edits.touch(body, nid, owner or owners.of_itself(node))
                run.log.edits.settle_node(nid)
        run.meta_reads[nid] = (body, None if token is None and owners.call is None else owners.of(node))

    def printing(self, graph: Graph) -> bool:
        """Torch is about to make code of a graph: its look at all the metadata is not worth noting."""
        recorder = self._recorder
        if not recorder.runs or recorder.retraces.active or not self.wants(graph):
            return False
        run = recorder.runs[-1]
        if run.log.owners.current is not None or run.log.owners.call is not None:
            return False
        body = self._current[graph]
        for nid, (holder, owner) in list(run.meta_reads.items()):
            if holder is body and owner is not None and nid in body.mirrors:
                self.meta_read(graph, body.mirrors[nid].node)
        self.watch_metadata(False)
        return True

    def printed(self) -> None:
        """The code is made."""
        self._recorder.update_reading()

    def check_metadata(self, run: Run) -> None:
        """Metadata handed out since the last time may have changed in place."""
        for nid, (body, owner) in run.meta_reads.items():
            if body.meta_changed(nid):
                node = body.mirrors[nid].node
                run.log.edits.touch(body, nid, owner or run.log.owners.of_itself(node))
        run.meta_reads.clear()

    # -- calls on whole graphs ---------------------------------------------------------------------

    def searched(self, graph: Graph, op: str, target: Any, found: int) -> None:
        """A graph was searched as a whole."""
        runs = self._recorder.runs
        if runs and runs[-1].log.owners.call is None:
            text = None if target is None else self._recorder.encoder.targets.text(target)
            looked_for = runs[-1].log.looked_for
            if len(looked_for) < _MOST_SEARCHES:
                path = self._graphs.current[graph].path
                looked_for.append(LookedFor("find_nodes", op or None, text, found, path))

    def calling(self, name: str) -> Any:
        """A named call that edits a graph begins."""
        if not self._recorder.listening or not self._recorder.runs:
            return None
        log = self._recorder.runs[-1].log
        before, log.owners.call = log.owners.call, log.owners.call or name
        return (log, before)

    def called(self, token: Any) -> None:
        """The named call is over."""
        if token is not None:
            log, before = token
            log.owners.call = before
