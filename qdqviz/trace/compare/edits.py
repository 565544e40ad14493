"""Compares what two rewrites do, node by node."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from qdqviz.ir.node import NodeState
from qdqviz.ir.values import Ref
from qdqviz.trace.compare.fields import field_differences
from qdqviz.trace.compare.model import Difference, Side
from qdqviz.trace.compare.pairs import Pairs
from qdqviz.trace.compare.replay import WINDOW, Edit
from qdqviz.trace.compare.signature import Leaf, TextOf, calls, content, inputs_of, leaves_of, signature

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Compared:
    """How two rewrites compare."""

    differences: tuple[Difference, ...]
    """What differs; nothing where they do the same."""
    made: tuple[tuple[int, int], ...]
    """Nodes that they made, left and right: counterparts from now on."""
    became: tuple[tuple[int, int], ...]
    """Nodes that take the place of counterparts that are gone."""
    unsettled: tuple[tuple[int, ...], tuple[int, ...]] = ((), ())
    """Nodes, left and right, that one side made, moved or erased and the other did not, or elsewhere."""


class EditComparer:
    """Compares rewrites of two traces, given which nodes are counterparts.

    "The same" is what the pass did: where an earlier difference has left other nodes around, a use of "what
    the erased node used" is the same on both sides, though these are no counterparts; so is the scale that it
    had.
    """

    def __init__(self, pairs: Pairs, left_text: TextOf, right_text: TextOf, *, lenient: bool = False) -> None:
        self.pairs = pairs
        """Counterparts so far."""
        self.texts = left_text, right_text
        """Give the long texts of either trace."""
        self.lenient = lenient
        """Whether one neighbour is enough to say that a node stands in the same place: where passes run in
        another order, the graphs around are never quite alike."""

    def compare(self, left: Sequence[Edit], right: Sequence[Edit]) -> Compared:
        """Compare what two rewrites do."""
        return _OneComparison(self, left, right).run()


class _OneComparison:
    """One comparison under way."""

    def __init__(self, comparer: EditComparer, left: Sequence[Edit], right: Sequence[Edit]) -> None:
        self._comparer = comparer
        self._pairs = comparer.pairs
        self._texts = comparer.texts
        self._left, self._right = _with_successors(left), _with_successors(right)
        self._matched: list[tuple[Edit, Edit]] = []
        self._own: dict[int, int] = {}
        """Nodes made by either rewrite, left to right."""
        self._became: dict[int, int] = {}
        """Nodes in place of counterparts that are gone, left to right."""
        self._aliases: set[tuple[int, int]] = set()
        """Nodes that stand in the same place of counterparts, though they are none themselves."""
        self._literals: set[tuple[Leaf, Leaf]] = set()
        """Other values that stand in the same place of counterparts, and differ."""

    def run(self) -> Compared:
        self._match_known()
        self._match_made()
        differences = [each for pair in self._matched for each in self._pair_differences(*pair)]
        differences += self._order_differences()
        mine, theirs = self._unmatched()
        differences += [each for edit in mine for each in self._one_sided(edit, left=True)]
        differences += [each for edit in theirs for each in self._one_sided(edit, left=False)]
        unsettled = _unsettled(differences, mine, theirs)
        return Compared(tuple(differences), tuple(self._own.items()), tuple(self._became.items()), unsettled)

    # -- who is who --------------------------------------------------------------------------------

    def _unmatched(self) -> tuple[list[Edit], list[Edit]]:
        mine = {id(one) for one, _ in self._matched}
        theirs = {id(other) for _, other in self._matched}
        return (
            [each for each in self._left if id(each) not in mine],
            [each for each in self._right if id(each) not in theirs],
        )

    def _match_known(self) -> None:
        """Match edits of counterparts, then of what stands in the same place of those."""
        by_node = {each.old.id: each for each in self._right if each.old is not None}
        for one in self._left:
            partner = None if one.old is None else self._pairs.right_of(one.old.id)
            if partner is not None and partner in by_node:
                self._match(one, by_node[partner])
        rest = self._unmatched()
        mine, theirs = ({each.old.id: each for each in side if each.old is not None} for side in rest)
        for here, there in sorted(self._aliases):
            if here in mine and there in theirs and _alike(mine[here], theirs[there]):
                self._match(mine.pop(here), theirs.pop(there))

    def _match(self, one: Edit, other: Edit) -> None:
        self._matched.append((one, other))
        if one.new and other.new and (_has_successor(one) or _has_successor(other)):
            self._became[_new(one).id] = _new(other).id
        if one.old is not None and other.old is not None:
            mine, theirs = leaves_of(one.old), leaves_of(other.old)
            for place, leaf in mine.items():
                there = theirs.get(place)
                if type(leaf) is Ref and type(there) is Ref:
                    self._aliases.add((leaf.node, there.node))
                elif there is not None and leaf != there:
                    self._literals.add((leaf, there))

    def _match_made(self) -> None:
        """Match nodes that were made: those that do the same first, then those that call the same."""
        mine = [each for each in self._unmatched()[0] if each.old is None]
        theirs = [each for each in self._unmatched()[1] if each.old is None]
        waiting: dict[Hashable, deque[Edit]] = defaultdict(deque)
        for each in theirs:
            waiting[_does(_new(each), _itself)].append(each)
        left_over = []
        for one in mine:
            found = waiting.get(_does(_new(one), self._counterpart))
            if found:
                self._match_pair_made(one, found.popleft())
            else:
                left_over.append(one)
        by_target: dict[Hashable, deque[Edit]] = defaultdict(deque)
        for each in self._unmatched()[1]:
            if each.old is None:
                by_target[calls(_new(each))].append(each)
        for one in left_over:
            others = by_target.get(calls(_new(one)))
            if others:
                self._match_pair_made(one, others.popleft())

    def _match_pair_made(self, one: Edit, other: Edit) -> None:
        self._matched.append((one, other))
        self._own[_new(one).id] = _new(other).id

    def _counterpart(self, node: int) -> int | None:
        found = self._own.get(node, self._became.get(node))
        return self._pairs.right_of(node) if found is None else found

    def _same_leaf(self, left: Leaf, right: Leaf) -> bool:
        if type(left) is Ref and type(right) is Ref:
            known = self._counterpart(left.node) == right.node
            return known or (left.node, right.node) in self._aliases
        return left == right or (left, right) in self._literals

    # -- what differs ------------------------------------------------------------------------------

    def _pair_differences(self, one: Edit, other: Edit) -> Iterator[Difference]:
        if one.new is None or other.new is None:
            if one.new is not other.new:
                yield Difference(
                    "erased",
                    one.path,
                    one.new or one.old,
                    other.new or other.old,
                    left_value=one.new is None,
                    right_value=other.new is None,
                )
            return
        yield from field_differences(one, other, self._same_leaf, self._texts)
        if self._stands_elsewhere(one, other):
            yield Difference("position", one.path, one.new, other.new, (), one.now, other.now)

    def _stands_elsewhere(self, one: Edit, other: Edit) -> bool:
        if not one.moved and not other.moved:
            return False
        if one.now is None or other.now is None:
            return True
        if one.old is not None and other.old is not None and one.moved != other.moved:
            return True
        sides = (
            self._same_neighbour(one.now.before, other.now.before),
            self._same_neighbour(one.now.after, other.now.after),
        )
        return not (any(sides) if self._comparer.lenient else all(sides))

    def _same_neighbour(self, mine: Sequence[int], theirs: Sequence[int]) -> bool:
        """Whether the nearest landmarks are counterparts; where too much has moved nobody can tell."""
        one = next((node for node in mine if self._pairs.is_landmark(left=node)), None)
        other = next((node for node in theirs if self._pairs.is_landmark(right=node)), None)
        if one is None or other is None:
            return one is other or len(mine if one is None else theirs) == WINDOW
        return self._pairs.right_of(one) == other

    def _order_differences(self) -> Iterator[Difference]:
        """Nodes that were made or moved, where they stand in another order among themselves."""
        placed = [
            (one, other)
            for one, other in self._matched
            if one.new is not None and other.new is not None and one.now and other.now
        ]
        mine = sorted(placed, key=lambda pair: (pair[0].path, _new(pair[0]).order))
        theirs = sorted(placed, key=lambda pair: (pair[1].path, _new(pair[1]).order))
        for here, there in zip(mine, theirs, strict=True):
            if here is not there and not self._stands_elsewhere(*here):
                one, other = here
                yield Difference("position", one.path, one.new, other.new, (), one.now, other.now)
                return

    def _one_sided(self, edit: Edit, *, left: bool) -> Iterator[Difference]:
        """What only one rewrite does."""
        if edit.old is None or edit.new is None:
            node = edit.new or edit.old
            yield Difference("created" if edit.old is None else "erased", edit.path, *_on(left, node))
            return
        unchanged = replace(edit, new=edit.old, now=None, was=None)
        pair = (edit, unchanged) if left else (unchanged, edit)
        other: Side = "right" if left else "left"
        text = self._texts[0 if left else 1]
        for each in field_differences(*pair, lambda one, two: one == two, (text, text)):
            nodes = _on(left, edit.new)
            yield replace(each, left=nodes[0], right=nodes[1], untouched=other)
        if edit.moved:
            nodes, spots = _on(left, edit.new), _on(left, edit.now)
            yield Difference("position", edit.path, *nodes, (), *spots, untouched=other)


def placed(edits: Iterable[Edit]) -> tuple[int, ...]:
    """The nodes that edits made, moved or erased."""
    return tuple(
        node.id
        for each in edits
        if each.was is not None or each.now is not None
        for node in (each.old, each.new)
        if node is not None
    )


def _unsettled(
    differences: Iterable[Difference], mine: Iterable[Edit], theirs: Iterable[Edit]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    left, right = list(placed(mine)), list(placed(theirs))
    for each in differences:
        if each.aspect in ("position", "erased"):
            left += [] if each.left is None else [each.left.id]
            right += [] if each.right is None else [each.right.id]
    return tuple(left), tuple(right)


def _on(left: bool, what: T | None) -> tuple[T | None, T | None]:
    """Something on one side, nothing on the other."""
    return (what, None) if left else (None, what)


def _with_successors(edits: Sequence[Edit]) -> list[Edit]:
    """The edits with every node that was made in place of an erased one, the only ones of their kind, as one.

    Passes move a node, or give it other arguments, by making another one.
    """
    gone = _singles(each for each in edits if each.new is None)
    come = _singles(each for each in edits if each.old is None)
    both = [key for key in gone if key in come]
    merged = {id(gone[key]): replace(gone[key], new=come[key].new, now=come[key].now) for key in both}
    dropped = {id(come[key]) for key in both}
    return [merged.get(id(each), each) for each in edits if id(each) not in dropped]


def _singles(edits: Iterable[Edit]) -> dict[Hashable, Edit]:
    """The edits of calls that there is one of, by what they call."""
    found: dict[Hashable, list[Edit]] = defaultdict(list)
    for each in edits:
        node = each.new or each.old
        assert node is not None
        if node.op.startswith("call_"):
            found[each.path, node.target].append(each)
    return {key: each[0] for key, each in found.items() if len(each) == 1}


def _has_successor(edit: Edit) -> bool:
    """Whether another node stands in place of an erased one."""
    return edit.old is not None and edit.new is not None and edit.old.id != edit.new.id


def _itself(node: int) -> int:
    return node


def _new(edit: Edit) -> NodeState:
    assert edit.new is not None
    return edit.new


def _does(node: NodeState, counterpart: Callable[[int], int | None]) -> Hashable:
    """What a node does, and to what."""
    leaves = leaves_of(node)
    inputs = tuple(map(counterpart, inputs_of(leaves)))
    return signature(node, leaves), content(node.constant), inputs


def _alike(one: Edit, other: Edit) -> bool:
    """Whether two edits of nodes that are there before do the same kind of thing to the same kind of node."""
    if one.old is None or other.old is None or (one.new is None) != (other.new is None):
        return False
    return calls(one.old) == calls(other.old)
