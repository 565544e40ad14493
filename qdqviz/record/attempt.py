"""An attempt while it is open, and what is left of it when it is over."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from torch.fx import Node

from qdqviz.record.owner import Owner

if TYPE_CHECKING:
    from qdqviz.record.runlog import RunLog


class Token:
    """An attempt that is open. Its owner is made when first asked for: most retraced nodes need none."""

    __slots__ = ("_log", "_owner", "nid", "node", "seen", "seq", "site", "start")

    def __init__(self, log: RunLog, node: Node, nid: int, site: int) -> None:
        self.node = node
        """The focus."""
        self.nid = nid
        """Its identity."""
        self.site = site
        """The loop that handed it out."""
        self.start = len(log.raw.codes)
        """Index of its first event in the log."""
        self.seen = len(log.raw.seen)
        """Index of the first thing that it sees."""
        self.seq = log.edits.seq
        """Time of its opening in the edit log."""
        self._log = log
        self._owner: Owner | None = None

    @property
    def owner(self) -> Owner:
        """Owner of the edits made while this is the outermost attempt."""
        if self._owner is None:
            self._owner = self._log.attempt_owner(self.node, self.nid, self.site)
        return self._owner

    @property
    def idle(self) -> bool:
        """Whether nothing was asked or edited yet."""
        return self._owner is None and len(self._log.raw.codes) == self.start


class ClosedAttempt(NamedTuple):
    """An attempt that is over; its events wait or are on the tape, in the order of the attempts."""

    owner: Owner | None
    """Its owner; None for what the pass asked outside any node."""
    events: int
    """How many events it has."""
    seq: int
    """Time of its opening in the edit log."""
    raised: bool
    """Whether an exception left it."""
