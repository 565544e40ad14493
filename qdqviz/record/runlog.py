"""What one pass run asks and edits: attempts opened by loops, and what they ask."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch.fx import Graph, Node

from qdqviz.record.attempt import ClosedAttempt, Token
from qdqviz.record.editlog import EditLog
from qdqviz.record.encode import Encoder
from qdqviz.record.groups import focus_of_group
from qdqviz.record.identity import Identities
from qdqviz.record.instrument.raw import ASKING, UNWINDING, RawEvents, shapes
from qdqviz.record.observe import Observer
from qdqviz.record.owner import Owner
from qdqviz.record.ownership import Ownership
from qdqviz.record.steering import RunSteering
from qdqviz.trace.events import Site
from qdqviz.trace.model import LookedFor

RETRACE_SITE = -1
"""Site of the attempt that a retrace opens on each old node."""


class RunLog:
    """The log of one pass run; instrumented code writes to `raw`, watchers ask for owners.

    Implements the decision log's protocol: `raw`, `forced`, `vetoes`, `open`, `skipped`, `close`.
    """

    def __init__(self, ids: Identities, encoder: Encoder, path_of: Any) -> None:
        self.raw = RawEvents()
        """Events of the attempt that is open, and those of no attempt."""
        self.observer = Observer(encoder)
        """Takes the events of attempts that are over."""
        self.edits = EditLog()
        """Edits not yet flushed."""
        self.owners = Ownership(ids.of, path_of, self.edits)
        """Who owns an edit that happens now."""
        self.closed: list[ClosedAttempt] = []
        """Attempts that are over."""
        self.looked_for: list[LookedFor] = []
        """Whole-graph searches."""
        self.erasure: tuple[Owner, tuple[Node, ...]] | None = None
        """Owner and inputs of the node that is being erased."""
        self.writing: Owner | None = None
        """Owner of the write that is under way."""
        self.elsewhere: dict[Node, Owner] = {}
        """Nodes created in graphs that are not (yet) a subject's, by the attempt that made them."""
        self.steering: RunSteering | None = None
        """What is vetoed and forced in this run; None where nothing is."""
        self.describe: Callable[[int], Site] = _no_site
        """The site of an id."""
        self.forced: Callable[[int, bool], bool] | None = None
        """Site and outcome of a decision to the outcome that it has to have; None where nothing is forced."""
        self._ids = ids.of
        self._path_of = path_of
        self._graph: Graph | None = None
        self._path = ""
        self._latest: tuple[ClosedAttempt, int] | None = None
        self._sweeps: dict[int, Owner] = {}

    @property
    def vetoes(self) -> bool:
        """Whether anything may have to be skipped."""
        return self.steering is not None

    # -- attempts ----------------------------------------------------------------------------------

    def open(self, site: int, item: object, skippable: bool = True) -> Token | None:
        """A loop handed out `item`: open an attempt if it is a node (or holds one) and none is open."""
        if self.owners.current is not None:
            return None
        node = item if type(item) is Node else self._focus(item)
        if node is None:
            return None
        nid = self._ids.get(node)
        return None if nid is None else self._opened(node, nid, site, skippable)

    def open_run(self, node: Node, nid: int) -> Token | None:
        """A retrace is about to run the old node `node`: open an attempt if none is open."""
        return None if self.owners.current is not None else self._opened(node, nid, RETRACE_SITE, True)

    def _opened(self, node: Node, nid: int, site: int, skippable: bool) -> Token:
        token = self.owners.current = Token(self, node, nid, site)
        if self.steering is not None:
            self._steer(token.owner, skippable)
        return token

    def attempt_owner(self, node: Node, nid: int, site: int) -> Owner:
        """Owner of an attempt: that of this sweep, or a new one where the loop comes round again."""
        owner = self._sweeps.get(nid)
        if owner is None or site in owner.sites:
            if node.graph is not self._graph:  # most attempts are on one graph
                self._graph, self._path = node.graph, self._path_of(node)
            owner = self._sweeps[nid] = Owner("attempt", nid, self._path, node.name)
        owner.sites += (site,)
        return owner

    def skipped(self, token: object) -> bool:
        """Whether the item of this token must be passed over."""
        return (
            token is self.owners.current
            and self.owners.current is not None
            and self.owners.current.owner.vetoed
        )

    def _steer(self, owner: Owner, skippable: bool) -> None:
        """Veto the attempt that has just opened, or turn decisions in it, as far as that was asked for."""
        steering = self.steering
        assert steering is not None
        if skippable:
            owner.vetoed = steering.skips(owner.path, owner.name)
        else:
            steering.cannot_skip(owner.path, owner.name)
        forced = steering.forces_on(owner.path, owner.name)
        if forced:
            self.forced = lambda site, outcome: steering.outcome(forced, self.describe(site), outcome)

    def close(self, token: object) -> None:
        """The item of this token is done."""
        if token is self.owners.current and self.owners.current is not None:
            self._close(self.owners.current, raised=False)

    def close_all(self, raised: bool) -> None:
        """The run is over: close what is open, and keep what was asked outside any node."""
        left = raised
        if self.owners.current is not None:
            self._close(self.owners.current, raised)
            left = False
        elif raised:
            left = not self._mark_raised()
        if self.raw.codes:
            self.closed.append(self._reduce(None, 0, 0, 0, left))

    def _close(self, token: Token, raised: bool) -> None:
        self.owners.current = None
        self.forced = None
        if not raised and token.idle:
            return
        attempt = self._reduce(token.owner, token.start, token.seen, token.seq, raised)
        self._latest = (attempt, token.start)
        if attempt.events or raised or token.owner.vetoed:
            self.closed.append(attempt)

    def _mark_raised(self) -> bool:
        """An exception ended the run: if only unwinding came after the latest attempt, it left that."""
        if self._latest is None:
            return False
        attempt, end = self._latest
        if not UNWINDING.issuperset(shapes(self.raw.codes[end:])):
            return False
        if self.closed and self.closed[-1] is attempt:
            self.closed.pop()
        self.closed.append(attempt._replace(raised=True))
        return True

    def _reduce(self, owner: Owner | None, start: int, seen: int, seq: int, raised: bool) -> ClosedAttempt:
        codes, things = self.raw.take(start, seen)
        self.observer.take(codes, things)
        if owner is not None and not owner.asked:
            owner.asked = not ASKING.isdisjoint(shapes(codes))
        return ClosedAttempt(owner, len(codes), seq, raised)

    def _focus(self, item: Any) -> Node | None:
        """The node that an item is, or directly holds; a match or partition that it is, or holds."""
        kind = type(item)
        if kind is Node:
            return item
        if kind is tuple or kind is list:
            held = next((part for part in item if type(part) is Node), None)
            if held is not None or kind is list:  # the groups of a list are for the loop inside
                return held
            return next((focus for part in item if (focus := focus_of_group(part)) is not None), None)
        return focus_of_group(item)


def _no_site(site: int) -> Site:
    raise KeyError(site)
