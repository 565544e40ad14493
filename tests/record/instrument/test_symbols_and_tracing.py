"""Recorded code meets torch: symbolic sizes stay symbolic, traced code is traced as before."""

from __future__ import annotations

import gc
import importlib
import sys
import typing
from types import FunctionType

import pytest
import torch
import typing_extensions
from recorded_code import Log
from torch.fx.experimental.symbolic_shapes import DimDynamic, ShapeEnv, StatelessSymbolicContext

from qdqviz.record.instrument import runtime
from qdqviz.record.instrument.compiled import IMPLEMENTS_OP, CompiledFiles
from qdqviz.record.instrument.live_code import LiveCode

SYMBOLS = """
    def values(s, t):
        kept = [s == 8, s < t, s in (t,), s or t, t and s, not_asked(s), {0: s}, (s, t)]
        chain = s != t
        for size in (s, t):
            kept.append(size)
        return kept
    def not_asked(s):
        return s
    def tests(s, t):
        found = []
        if s == t:
            found.append("equal")
        if s > 1 and not s < 2:
            found.append("large")
        while 0 <= s < 100:
            break
        assert s
        return found
    def unbacked(u, table):
        a = u or None if False else u
        b = [u, a]
        if b and table:
            return (lambda v: v)(u)
    """


def fresh_symbols() -> tuple[ShapeEnv, torch.SymInt, torch.SymInt]:
    """An environment with two symbolic sizes, 12 and 20 by their hints."""
    env = ShapeEnv()
    context = StatelessSymbolicContext(dynamic_sizes=[DimDynamic.DYNAMIC, DimDynamic.DYNAMIC])
    mode = torch._subclasses.FakeTensorMode(shape_env=env)
    fake = mode.from_tensor(torch.empty(12, 20), symbolic_context=context)
    return env, fake.shape[0], fake.shape[1]


@pytest.mark.parametrize("name", ["values", "tests"])
def test_symbolic_sizes_get_the_guards_that_plain_code_gives_them_and_no_more(module, record, name):
    code = module(SYMBOLS)
    plain_env, *plain_sizes = fresh_symbols()
    plain = getattr(code, name)(*plain_sizes)
    env, *sizes = fresh_symbols()
    recorded = record(getattr(code, name), *sizes)
    assert [str(guard.expr) for guard in env.guards] == [str(guard.expr) for guard in plain_env.guards]
    assert str(recorded) == str(plain)
    assert len(record.seen("COMPARE")) >= 3


def test_a_comparison_of_symbols_in_value_position_asks_nothing(module, record):
    code = module("def f(s):\n    return s == 8\n")
    env, size, _ = fresh_symbols()
    assert type(record(code.f, size)) is torch.SymBool
    assert env.guards == []
    assert [(event[1], event[2]) for event in record.seen("COMPARE")] == [("s == 8", None)]


def test_unbacked_sizes_pass_through_every_hook_unasked(module, record):
    code = module(SYMBOLS)
    size = ShapeEnv().create_unbacked_symint()
    assert record(code.unbacked, size, {"size": size}) is size


TRACED = """
    import torch
    def helper(x, n):
        for i in range(n):
            if i > 1 and x.shape[0] == 3:
                x = x + i
        return x.relu() if 0 < n < 5 else x
    def pattern(x):
        double = lambda y: y * 2
        parts = [double(x) for _ in (1, 2) if x.dim() == 1]
        work = [1, 2]
        while work:
            x = x + work.pop()
        return helper(x, 3) + parts[0]
    def simple(x):
        def inner(y):
            return torch.relu(y)
        return inner(x) + 1
    class Pattern(torch.nn.Module):
        def forward(self, x):
            return pattern(x)
    """


@pytest.mark.parametrize("how", ["strict", "not strict", "symbolic", "make_fx"])
def test_code_that_is_traced_while_recording_is_suspended_gives_the_plain_graph(
    module, instrumenter, monkeypatch, how
):
    code = module(TRACED)
    monkeypatch.setitem(sys.modules, code.__name__, code)  # dynamo imports what it traces

    def trace() -> str:
        example = torch.ones(3)
        if how == "symbolic":
            return torch.fx.symbolic_trace(code.simple).code
        if how == "make_fx":
            return torch.fx.experimental.proxy_tensor.make_fx(code.pattern)(example).code
        return torch.export.export(code.Pattern(), (example,), strict=how == "strict").module().code

    plain = trace()
    assert instrumenter.ensure(code.pattern) == []
    assert instrumenter.ensure(code.simple) == []
    log = Log()
    runtime.activate(log)
    try:
        with runtime.suspended():
            recorded = trace()
    finally:
        runtime.deactivate()
    assert recorded == plain
    assert log.events == []


PASS_MODULES = (
    "executorch.backends.cadence.aot.fuse_ops",
    "executorch.backends.cadence.aot.remove_ops",
    "executorch.backends.cadence.aot.reorder_ops",
    "executorch.backends.cadence.aot.replace_ops",
    "executorch.backends.cadence.aot.simplify_ops",
    "executorch.backends.transforms.permute_pass_utils",
    "executorch.backends.transforms.remove_permutes_around_elementwise_ops",
    "executorch.backends.xnnpack._passes.channels_last_tagged_reshape_pass",
    "executorch.backends.xnnpack._passes.fuse_batch_norm",
    "executorch.exir.passes.quant_fusion_pass",
    "executorch.exir.passes.spec_prop_pass",
    "torch.fx.passes.utils.matcher_utils",
    "torch.fx.subgraph_rewriter",
)


def test_every_function_of_upstreams_pass_modules_can_be_recorded(monkeypatch):
    if not hasattr(typing, "override"):  # Cadence modules need it on Python 3.11
        monkeypatch.setattr(typing, "override", typing_extensions.override, raising=False)
    importlib.import_module("executorch.backends.cadence.aot.ops_registrations")
    files = {importlib.import_module(name).__file__ for name in PASS_MODULES}
    live = LiveCode(CompiledFiles())
    runtime.install()
    functions = [
        one for one in gc.get_objects() if type(one) is FunctionType and one.__code__.co_filename in files
    ]
    held = []
    try:
        problems = set()
        for function in functions:
            problem = live.hold(function)
            if problem:
                problems.add((function.__qualname__, problem))
            else:
                held.append(function)
    finally:
        for function in held:
            live.release(function)
    assert {(name, why) for name, why in problems if why != IMPLEMENTS_OP} == set()
    assert len(held) > 250
    assert len(live.compiled.sites) > 2000
    assert all("_qdqviz_hooks_" not in function.__code__.co_names for function in functions)
