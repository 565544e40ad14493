"""Call targets as text, and back: the text is what a trace holds, the object what a session keeps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from qdqviz.ir.node import OpInfo
from qdqviz.ir.values import Value


def target_text(target: Any) -> str:
    """The text of a call target.

    `aten.view.default` for an aten overload, `edge.aten.view_copy.default` for its edge dialect,
    `higher_order.cond`, `operator.getitem`; strings (placeholders, attributes) stand for themselves.
    """
    if type(target) is str:
        return target
    if isinstance(target, torch._ops.OpOverload):
        return str(target)
    inner = getattr(target, "_op", None)
    if isinstance(inner, torch._ops.OpOverload):
        return f"edge.{inner}"
    if isinstance(target, torch._ops.HigherOrderOperator):
        return f"higher_order.{target.__name__}"
    if isinstance(target, torch._ops.OpOverloadPacket):
        return str(target)
    module = getattr(target, "__module__", None) or "builtins"
    name = getattr(target, "__qualname__", None) or getattr(target, "__name__", None) or type(target).__name__
    if module == "torch":
        name = name.removeprefix("_VariableFunctionsClass.")  # where torch keeps its C functions
    return f"{'operator' if module == '_operator' else module}.{name}"


class Targets:
    """The call targets that a recording has met."""

    def __init__(self, default: Callable[[Any], Value]) -> None:
        """Take the encoder of default values."""
        self._default = default
        self._texts: dict[int, tuple[Any, str]] = {}
        self._overloads: dict[str, str] = {}
        self.objects: dict[str, Any] = {}
        """Target object by text."""
        self.new_ops: list[OpInfo] = []
        """Infos not yet written to the trace."""

    def text(self, target: Any) -> str:
        """The target's text; the first time its schema is noted as well."""
        if type(target) is str:
            return target
        known = self._texts.get(id(target))
        if known is not None:
            return known[1]
        if type(target) is torch._ops.OpOverload:  # copies of programs hold copies of them
            text = self._overloads.get(target.name())
            if text is not None:
                return text
            text = self._overloads[target.name()] = str(target)
        else:
            text = target_text(target)
            self._texts[id(target)] = (target, text)
        if text not in self.objects:
            self.objects[text] = target
            self.new_ops.append(self._info(target, text))
        return text

    def _info(self, target: Any, text: str) -> OpInfo:
        schema = getattr(target, "_schema", None)
        arguments = getattr(schema, "arguments", None)
        if arguments is None:
            return OpInfo(text, ())
        params = tuple(str(argument.name) for argument in arguments)
        defaults = tuple(
            (str(a.name), self._default(a.default_value)) for a in arguments if a.has_default_value()
        )
        return OpInfo(text, params, defaults, bool(getattr(schema, "is_mutable", False)))
