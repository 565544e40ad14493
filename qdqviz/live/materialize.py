"""A runnable program at any step of a trace."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from qdqviz.errors import NotCheckableError
from qdqviz.ir.graph import ROOT, GraphState
from qdqviz.live.build import Builder, Built, children
from qdqviz.live.decode import Decoder
from qdqviz.live.propagate import Propagator, fake_mode_of, new_fake_mode
from qdqviz.live.signature import SignatureBuilder, constant_of
from qdqviz.live.store import Store
from qdqviz.live.symbols import Symbols
from qdqviz.load.loaded import exported_of, graph_module_of

if TYPE_CHECKING:
    from qdqviz.live.session import Session


def materialize(
    state: GraphState, session: Session, subject: int | None = None, step: int | None = None
) -> Any:
    """Build the program that a state describes.

    Node names, arguments, constants, sub-graphs and delegates are those of the state; `val` is computed anew;
    other metadata is as the trace has it, and where the trace has only a short form, as a node is remembered.
    Tensors that a program mutates are copies; others are shared between the programs of one session.

    Args:
        state: A state of the subject.
        session: The session that the state is of, recorded by `qdqviz.live.session.run`.
        subject: The subject; None for the session's program.
        step: Where the state stands in the trace, which tells signatures apart that passes have changed;
            None looks for the place by the state itself.

    Returns:
        An ExportedProgram where the subject is the session's program and that is one (or a manager of some);
        else a torch.fx.GraphModule.

    Raises:
        NotCheckableError: The session does not hold what the state names.
    """
    store = session.store
    if store is None:
        raise NotCheckableError("this session kept no constants: run it again with them to build a step")
    chosen = session.subject if subject is None else subject
    if step is None:
        step = _step_of(state, session, chosen)
    first = session.trace.first(chosen)
    program = exported_of(session.loaded.program, session.loaded.method)
    is_main = chosen in session.subjects
    decoder = Decoder(store.targets, Symbols(store).symbol)
    built = Builder(state, store, session.trace, chosen, decoder).build()
    signatures = SignatureBuilder(program, store, first.root) if is_main and program is not None else None
    _propagate(state, built, store, signatures, step)
    _recompile(built)
    if is_main:
        _take_surface(built.root, graph_module_of(session.loaded.program, session.loaded.method))
    if signatures is None:
        return built.root
    return _exported(program, built, signatures.build(state.root, step, built.nodes))


def _step_of(state: GraphState, session: Session, subject: int) -> int:
    """A step at which the subject was in this state; the last one where none fits."""
    cursor = session.trace.cursor(subject)
    for step in (0, *cursor.steps):
        if step and cursor.before(step) is state:
            return step - 1
        if cursor.at(step) is state or (step and cursor.after(step) is state):
            return step
    return session.trace.steps


def _propagate(
    state: GraphState, built: Built, store: Store, signatures: SignatureBuilder | None, step: int
) -> None:
    identity = {node: key for key, node in built.nodes.items()}

    def remembered_value(node: Any) -> Any:
        found = store.nodes.get(identity[node])
        return None if found is None else found.meta.get("val")

    def input_value(node: Any) -> Any:
        known = remembered_value(node)
        if known is not None:
            return known
        held = state.root.get(identity[node])
        if held is None:
            return None
        entry = signatures.entry(held, step) if signatures is not None else None
        return store.tensor(constant_of(held, entry))

    placeholders = [node for node in state.root if node.op == "placeholder"]
    known = [remembered_value(built.nodes[node.id]) for node in placeholders]
    if known and all(value is None for value in known):
        return
    propagator = Propagator(fake_mode_of(known) or new_fake_mode(), remembered_value)
    for path in _outer_first(state):
        propagator.run(built.modules[path], input_value)


def _outer_first(state: GraphState) -> list[str]:
    found = [ROOT]
    for path in found:
        found.extend(child for child in children(state, path) if child not in found)
    return found


def _take_surface(module: Any, loaded: Any) -> None:
    """Give a module the calling convention and the metadata of the loaded one."""
    module.graph.set_codegen(copy.deepcopy(loaded.graph._codegen))
    module.meta.update(loaded.meta)
    module.recompile()


def _recompile(built: Built) -> None:
    for module in built.modules.values():
        module.recompile()


def _exported(program: Any, built: Built, lifted: Any) -> Any:
    # The constructor verifies and edits; a step is to be shown as it is.
    result = copy.copy(program)
    result._graph_module = built.root
    result._graph_signature = lifted.signature
    result._state_dict = type(program.state_dict)(lifted.state_dict)
    result._constants = lifted.constants
    result._range_constraints = dict(program.range_constraints)
    result._module_call_graph = list(program.module_call_graph)
    return result
