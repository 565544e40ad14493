"""Runs single nodes on real values."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from qdqviz.check.control import CONTROL, SubGraph
from qdqviz.errors import NotCheckableError
from qdqviz.ir.node import NodeState
from qdqviz.ir.roles import op_name
from qdqviz.live.decode import Decoder
from qdqviz.live.store import Store
from qdqviz.load.messages import describe_error
from qdqviz.load.quiet import quiet
from qdqviz.passes.importing import pass_import

LookUp = Callable[[int], Any]
"""The value of a node, by identity."""

REFERENCES: Mapping[str, str] = {"cadence": "executorch.backends.cadence.aot.ref_implementations"}
"""Namespace of backend ops -> module that implements them for a CPU when it is imported."""

_ABOUT_SHAPES = re.compile(
    r"\b(sizes?|shapes?|dim(ension)?s?|broadcast\w*|dtypes?|types?|index|out of (range|bounds)|expand\w*)\b",
    re.I,
)


@dataclass(frozen=True)
class Missing:
    """Stands for a value that could not be computed; what is computed from it is missing likewise."""

    node: str
    """Name of the node that could not be run."""
    op: str
    """What it calls."""
    reason: str
    """Why, in one line."""
    fails: bool
    """True where the op raised; False where it has no implementation here."""

    @property
    def about_shapes(self) -> bool:
        """Whether it raised because of shapes or dtypes."""
        return self.fails and _ABOUT_SHAPES.search(self.reason) is not None


class Operations:
    """Runs the nodes of one subject."""

    def __init__(self, store: Store, subject: int, symbols: Callable[[str], Any] | None = None) -> None:
        """Take what the session holds.

        Args:
            store: Targets, constants and delegates.
            subject: The subject.
            symbols: Gives the number of a symbolic size in arguments.
        """
        self._store = store
        self._subject = subject
        self._decoder = Decoder(store.targets, symbols)

    def run(self, node: NodeState, look_up: LookUp, own: bool = False) -> Any:
        """The value of a node; a placeholder's only where it is a constant.

        Args:
            node: The node.
            look_up: The values of its inputs.
            own: Whether a constant is to be a copy, for graphs that write to their constants.

        Returns:
            The value, or a `Missing`.
        """
        try:
            if node.op in ("get_attr", "placeholder"):
                found = self._constant(node)
                return found.clone() if own and isinstance(found, torch.Tensor) else found
            args, kwargs = self.arguments(node, look_up)
        except LackingError as lacking:
            return lacking.missing
        except NotCheckableError as error:
            return Missing(node.name, node.target, str(error), fails=False)
        if node.op == "output":
            return args[0] if len(args) == 1 else args
        return self._call(node, args, kwargs)

    def arguments(self, node: NodeState, look_up: LookUp) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a node as values.

        Raises:
            LackingError: One of them is missing.
            NotCheckableError: One of them is not held by the session.
        """

        def present(identity: int) -> Any:
            value = look_up(identity)
            if isinstance(value, Missing):
                raise LackingError(value)
            return value

        args = self._decoder.value(node.args, present)
        return args, {key: self._decoder.value(value, present) for key, value in node.kwargs}

    def known_arguments(self, node: NodeState, look_up: LookUp) -> tuple[Any, ...] | None:
        """The positional arguments of a node as values; None where one of them cannot be had."""
        try:
            return self.arguments(node, look_up)[0]
        except (LackingError, NotCheckableError):
            return None

    def _call(self, node: NodeState, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        control = CONTROL.get(op_name(node.target).plain) if node.op == "call_function" else None
        try:
            with torch.no_grad(), _seeded(node):
                if control is not None:
                    return control(*args, **kwargs)
                return self._callable(node, args)(*args, **kwargs)
        except LackingError as lacking:
            return lacking.missing
        except NotCheckableError as error:
            return Missing(node.name, node.target, str(error), fails=False)
        except Exception as error:  # noqa: BLE001  whatever the op raises is the answer
            lacks = _lacks_kernel(error)
            reason = NO_KERNEL if lacks and str(error).startswith(_DISPATCHER) else describe_error(error)
            return Missing(node.name, node.target, reason, fails=not lacks)

    def _callable(self, node: NodeState, args: tuple[Any, ...]) -> Callable[..., Any]:
        if node.op == "call_function":
            found = self._store.targets.get(node.target)
            if found is None or any(isinstance(arg, SubGraph) for arg in args):
                raise NotCheckableError(f"{node.target} cannot be run here")
            return found
        if node.op == "call_method":
            return lambda first, *rest, **named: getattr(first, node.target)(*rest, **named)
        found = self._constant(node)
        if not callable(found):
            raise NotCheckableError(f"the module {node.target} is not held by this session")
        return found

    def _constant(self, node: NodeState) -> Any:
        constant = node.constant
        if constant is None and node.op == "placeholder":
            constant = self._store.lifted(node.name)
        if constant is not None:
            if constant.kind == "graph":
                return SubGraph(constant.target)
            if constant.kind == "delegate":
                found = self._store.delegates.get((self._subject, constant.target))
            elif constant.fingerprint is not None:
                found = self._store.tensor(constant)
            else:
                found = self._store.objects.get(constant.target)
            if found is not None:
                return found
        raise NotCheckableError(f"the value of {node.name} is not known")


class LackingError(Exception):
    """Carries a `Missing` out of nested calls."""

    def __init__(self, missing: Missing) -> None:
        super().__init__(missing.reason)
        self.missing = missing


NO_KERNEL = "it has no implementation for the CPU; --import the module that registers one"
"""Why an op cannot run that only backends implement."""

_DISPATCHER = "Could not run '"
"""How torch's dispatcher begins to say so, in many lines."""


def _lacks_kernel(error: Exception) -> bool:
    """Whether an op has no implementation here, other than for the dtype that it was given."""
    return isinstance(error, NotImplementedError) and "not implemented for '" not in str(error)


@contextlib.contextmanager
def _seeded(node: NodeState) -> Iterator[None]:
    """Draw the same random numbers in a node every time it runs."""
    if not any(word in node.target for word in ("rand", "dropout", "bernoulli", "multinomial", "normal")):
        yield
        return
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(node.id)
        yield


def import_references(targets: Mapping[str, Any]) -> None:
    """Import the reference implementations of the backend ops that a session has met.

    Raises:
        PassError: One of the modules cannot be imported.
    """
    for namespace, module in REFERENCES.items():
        if any(op_name(target).namespace == namespace for target in targets):
            import importlib

            with quiet(), pass_import(module):
                importlib.import_module(module)
