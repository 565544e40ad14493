"""The Node tab: op, arguments by name, dtype, shape, quantization, where it comes from."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from qdqviz.draw.legend import ROLE_TEXTS
from qdqviz.ir.computed import ComputedSpecs
from qdqviz.ir.graph import Body
from qdqviz.ir.labels import short_name
from qdqviz.ir.node import NodeState, OpInfo, Spec
from qdqviz.ir.qparams import QParams, qparams
from qdqviz.ir.roles import role
from qdqviz.ir.text import bytes_text, number_text, safe_text, spec_bytes, spec_text, value_text
from qdqviz.ir.values import DictArg, ListArg, Ref, TextRef, Value, refs
from qdqviz.tui.model.details.difference import differing_facts
from qdqviz.tui.model.details.fact import Fact, Part, heading, plain_fact

TextOf = Callable[[int], str]
"""Gives a long text from the trace's table of texts."""

_FRAME = re.compile(r'File "(?P<file>[^"]*)", line (?P<line>\d+)(?:, in (?P<function>.*))?')


def node_facts(
    before: Body | None, after: Body, node: int, ops: Mapping[str, OpInfo], text_of: TextOf
) -> list[Fact]:
    """What there is to know about a node, with what it was before where that differs.

    Args:
        before: The graph before; None where one state is shown.
        after: The graph after.
        node: Identity of the node; one of the graphs holds it.
        ops: What is known of call targets.
        text_of: Gives long texts.
    """
    old = None if before is None else before.get(node)
    new = after.get(node)
    shown = new or old
    if shown is None:
        return [plain_fact("", "this graph has no such node", "muted")]
    title = heading(shown.name, f"title.{role(shown)}", *_presence(before, old, new))
    facts_after = [] if new is None else _facts(after, new, ops, text_of)
    if before is None or old is None:
        return [title, *facts_after]
    facts_before = _facts(before, old, ops, text_of)
    if new is None:
        return [title, *facts_before]
    return [title, *differing_facts(facts_before, facts_after)]


def _presence(before: Body | None, old: NodeState | None, new: NodeState | None) -> tuple[Part, ...]:
    if before is None or (old is not None and new is not None):
        return ()
    if old is None:
        return (Part("  + added here", "mark.added"),)
    return (Part("  - removed here", "mark.removed"),)


def _facts(body: Body, node: NodeState, ops: Mapping[str, OpInfo], text_of: TextOf) -> list[Fact]:
    """All facts about a node in one state; labels are unique."""
    made = ComputedSpecs(body).spec(node.id)
    facts = [_op(node), *_makes(made), *_stale(node.spec, made), *_arguments(body, node, ops)]
    found = qparams(node, ops)
    if found is not None:
        said = {_singular(fact.label) for fact in facts}
        facts += [fact for fact in _quantization(body, found) if fact.label not in said]
    if node.constant is not None:
        constant = node.constant
        facts.append(plain_fact("constant", f"{constant.kind} {constant.target}"))
    facts.append(Fact("read by", _links(body, body.users(node.id), "nobody")))
    return [*facts, *_origin(node, text_of)]


def _singular(label: str) -> str:
    """`scales` and `zero_points` as `scale` and `zero_point`: ops differ in how they call them."""
    return label.removesuffix("s") if label in ("scales", "zero_points") else label


def _op(node: NodeState) -> Fact:
    what = Part(f"  {ROLE_TEXTS[role(node)]}", "muted")
    target = node.op if node.op in ("placeholder", "output") else node.target
    return Fact("op", (Part(safe_text(target)), what))


def _makes(made: Spec) -> list[Fact]:
    """What comes out, as pictures show it."""
    text = spec_text(made)
    if not text:
        return []
    size = spec_bytes(made)
    more = () if size is None else (Part(f"  {bytes_text(size)}", "muted"),)
    return [Fact("makes", (Part(safe_text(text)), *more))]


def _stale(recorded: Spec, made: Spec) -> list[Fact]:
    """What `meta['val']` says, where it lags behind: it is refreshed by a retrace, or never."""
    if spec_text(recorded) == spec_text(made):
        return []
    said = Part(safe_text(spec_text(recorded)) or "nothing", "mark.changed")
    return [Fact("val says", (said, Part("  stale: no retrace has refreshed it", "muted")))]


def _arguments(body: Body, node: NodeState, ops: Mapping[str, OpInfo]) -> list[Fact]:
    """Arguments by parameter name; those left to their defaults are muted."""
    info = ops.get(node.target, OpInfo(node.target, ()))
    if node.op in ("placeholder", "get_attr"):
        return []
    facts = []
    for index, value in enumerate(node.args):
        name = info.params[index] if index < len(info.params) else f"argument {index}"
        facts.append(Fact(safe_text(name), _value(body, value)))
    facts += [Fact(safe_text(name), _value(body, value)) for name, value in node.kwargs]
    given = {fact.label for fact in facts}
    for name, value in info.defaults:
        if name not in given:
            facts.append(Fact(safe_text(name), (Part(f"{safe_text(value_text(value))}  default", "muted"),)))
    return facts


def _value(body: Body, value: Value) -> tuple[Part, ...]:
    """An argument with the nodes in it as links."""
    if isinstance(value, Ref):
        return (_link(body, value.node), *_extent(body, value.node))
    if not any(True for _ in refs(value)):
        exact = repr(value) if isinstance(value, float) else value_text(value)
        return (Part(safe_text(exact)),)
    if isinstance(value, ListArg | tuple):
        items = value.items if isinstance(value, ListArg) else value
        parts: list[Part] = [Part("[")]
        for index, item in enumerate(items):
            parts += [Part(", "), *_value(body, item)] if index else [*_value(body, item)]
        return (*parts, Part("]"))
    if isinstance(value, DictArg):
        pairs = (
            part
            for key, item in value.items
            for part in (*_value(body, key), Part(": "), *_value(body, item))
        )
        return tuple(pairs)
    return (Part(safe_text(value_text(value, lambda each: _name(body, each)))),)


def _extent(body: Body, node_id: int) -> tuple[Part, ...]:
    """The least and the greatest element of a constant, where they are known: scales of channels, say."""
    node = body.get(node_id)
    extent = None if node is None or node.constant is None else node.constant.extent
    if extent is None:
        return ()
    ends = dict.fromkeys(number_text(end) for end in extent)
    return (Part(f"  {'…'.join(ends)}", "muted"),)


def _quantization(body: Body, found: QParams) -> list[Fact]:
    """What is said of quantization beyond the arguments; labels are like those of parameters."""
    dtype = f" as {found.dtype}" if found.dtype else ""
    ends = (
        f", {value_text(found.quant_min)} to {value_text(found.quant_max)}"
        if found.quant_min is not None
        else ""
    )
    facts = [plain_fact("quantized", found.scheme.replace("_", " ") + ends + dtype)]
    for label, value in (("scale", found.scale), ("zero_point", found.zero_point)):
        if value is not None:
            facts.append(Fact(label, _value(body, value)))
    if found.axis is not None:
        facts.append(plain_fact("axis", str(found.axis)))
    if found.block is not None:
        facts.append(plain_fact("block", value_text(found.block)))
    if found.source is not None:
        source = (value_text(found.source.scale), value_text(found.source.zero_point))
        facts.append(plain_fact("input scale", f"{source[0]}, zero point {source[1]}"))
    return facts


def _origin(node: NodeState, text_of: TextOf) -> list[Fact]:
    """The module and the source line that a node comes from."""
    facts = []
    stack = meta_text(node.meta_value("nn_module_stack"), text_of).splitlines()
    if stack:
        facts.append(plain_fact("module", stack[-1].strip()))
    lines = meta_text(node.meta_value("stack_trace"), text_of).splitlines()
    places = [index for index, line in enumerate(lines) if _FRAME.search(line)]
    if places:
        last = places[-1]
        match = _FRAME.search(lines[last])
        assert match is not None
        code = lines[last + 1].strip() if last + 1 < len(lines) else ""
        where = Part(safe_text(f"{match['file']}:{match['line']}"))
        facts.append(Fact("source", (where, Part(safe_text(f"  {code}"), "muted")) if code else (where,)))
    return facts


def meta_text(value: Value, text_of: TextOf) -> str:
    """A metadata value as text; long ones come from the table of texts."""
    if value is None:
        return ""
    if isinstance(value, TextRef):
        return text_of(value.id)
    return value if isinstance(value, str) else value_text(value)


def _links(body: Body, nodes: Sequence[int], none: str) -> tuple[Part, ...]:
    if not nodes:
        return (Part(none, "muted"),)
    parts: list[Part] = []
    for node in nodes:
        parts += [Part(", "), _link(body, node)] if parts else [_link(body, node)]
    return tuple(parts)


def _link(body: Body, node: int) -> Part:
    return Part(_name(body, node), "link", node)


def _name(body: Body, node: int) -> str:
    found = body.get(node)
    return "?" if found is None else safe_text(short_name(found.name))
