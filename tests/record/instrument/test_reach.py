"""Which functions a pass consists of."""

from __future__ import annotations

import functools
import sys
from types import ModuleType

import pytest

from qdqviz.record.instrument.reach import reach
from qdqviz.record.instrument.scope import Scope


def names(*roots: object, **kwargs: object) -> set[str]:
    return {function.__qualname__ for function in reach(*roots, **kwargs)}


def test_a_pass_reaches_its_methods_bases_and_helpers_and_nothing_else(module):
    code = module("""
        class Base:
            def call(self): return self.step()
        class Pass(Base):
            def step(self): return helper()
        class Other:
            def step(self): return unrelated()
        def helper(): return deeper()
        def deeper(): pass
        def unrelated(): pass
        """)
    assert names(code.Pass) == {"Base.call", "Pass.step", "helper", "deeper"}
    assert names(code.Pass()) == names(code.Pass().call) == names(code.Pass)


@pytest.mark.parametrize(
    "call",
    [
        "target()",
        "HOLDER['key'][0]()",
        "PARTIAL()",
        "CACHED()",
        "Made().method()",
        "MADE.method()",
        "MADE.cached",
        "closure()",
        "bound()",
        "wrapped()",
        "generic(3)",
        "(lambda: [target() for _ in (1,)])()",
        "(lambda: (lambda: target())())()",
    ],
)
def test_a_call_is_resolved_however_it_is_written(module, call):
    code = module(
        f"""
        import functools
        def target(): pass
        HOLDER = {{"key": [target]}}
        PARTIAL = functools.partial(functools.partial(target))
        CACHED = functools.lru_cache(target)
        class Made:
            def method(self): return target()
            @functools.cached_property
            def cached(self): return target()
        MADE = Made()
        bound = MADE.method
        def maker(inner):
            def made(): return inner()
            return made
        closure = maker(target)
        wrapped = functools.wraps(target)(lambda: None)
        @functools.singledispatch
        def generic(x): pass
        @generic.register
        def for_int(x: int): return target()
        def root(): return {call}
        """
    )
    assert "target" in names(code.root)


def test_a_module_imported_inside_a_function_is_looked_into(monkeypatch, module):
    helper = module("def check(): return inner()\ndef inner(): pass\n")
    package = ModuleType("made_package")
    package.helper = helper
    monkeypatch.setitem(sys.modules, "made_package", package)
    monkeypatch.setitem(sys.modules, "made_package.helper", helper)
    monkeypatch.setitem(sys.modules, "helper", ModuleType("helper"))  # does not hide the relative one
    absolute = module("def root():\n    from made_package.helper import check\n    return check()\n")
    dotted = module("def root():\n    import made_package.helper\n    return made_package.helper.check()\n")
    relative = module("def root():\n    from .helper import check\n    return check()\n")
    relative.__dict__["__package__"] = "made_package"
    for code in (absolute, dotted, relative):
        assert names(code.root) == {"root", "check", "inner"}


def test_the_standard_library_is_not_reached(module):
    code = module("""
        import copy, textwrap, functools
        def root(x):
            return copy.deepcopy(textwrap.dedent(x)), functools.reduce(max, x)
        """)
    assert names(code.root) == {"root"}


def test_a_pass_made_by_a_partial_or_a_lambda_is_reached(module):
    code = module("def step(n): return check(n)\ndef check(n): pass\n")
    assert names(functools.partial(code.step, 1)) == {"step", "check"}
    assert names(lambda: code.step(1)) >= {"step", "check"}


def test_looking_for_functions_runs_no_code_of_the_pass(module):
    code = module("""
        class Trap:
            def __getattr__(self, name): raise RuntimeError(name)
            def __get__(self, *args): raise RuntimeError("get")
            def __iter__(self): raise RuntimeError("iter")
            @property
            def __class__(self): raise RuntimeError("class")
        trap = Trap()
        class Pass:
            trap = Trap()
            def call(self): return trap.anything(self.trap)
        """)
    assert "Pass.call" in names(code.Pass)


@pytest.mark.parametrize(
    ("module_name", "file", "admitted"),
    [
        ("my_passes", "/home/me/my_passes.py", True),
        ("__main__", "", True),
        ("my_wheel.passes", "/venv/lib/python3.11/site-packages/my_wheel/passes.py", False),
        ("executorch.backends.cadence.aot.fuse_ops", "/x/site-packages/executorch/fuse_ops.py", True),
        ("executorch.backends.transforms.permute_pass_utils", "/x/site-packages/e/p.py", True),
        ("executorch.backends.cadence.aot.ops_registrations", "/x/site-packages/e/o.py", False),
        ("executorch.backends.cadence.aot.ref_implementations", "/x/site-packages/e/r.py", False),
        ("executorch.exir.passes.quant_fusion_pass", "/x/site-packages/e/q.py", True),
        ("executorch.exir.pass_base", "/x/site-packages/e/pass_base.py", False),
        ("executorch.exir.pass_manager", "/x/site-packages/e/pass_manager.py", False),
        ("torch.fx.subgraph_rewriter", "/x/site-packages/torch/fx/subgraph_rewriter.py", True),
        ("torch.fx.passes.utils.matcher_utils", "/x/site-packages/torch/m.py", True),
        ("torch.fx.graph", "/x/site-packages/torch/fx/graph.py", False),
        ("torch.fx.experimental.symbolic_shapes", "/x/site-packages/torch/fx/s.py", False),
        ("torchao.quantization.pt2e.utils", "/x/site-packages/torchao/u.py", True),
        ("numpy.lib", "/x/site-packages/numpy/lib.py", False),
        ("json.decoder", "/usr/lib/python3.11/json/decoder.py", False),
        ("qdqviz.record.recorder", "/work/qdqviz/record/recorder.py", False),
        ("qdqviz.passes.builtin.hoist", "/work/qdqviz/passes/builtin/hoist.py", True),
    ],
)
def test_what_counts_as_pass_code(module_name, file, admitted):
    assert Scope().admits(module_name, file) is admitted


def test_an_installed_package_of_private_passes_is_pass_code_for_its_own_passes():
    file = "/venv/lib/python3.11/site-packages/my_wheel/passes.py"
    assert Scope(frozenset({"my_wheel"})).admits("my_wheel.passes", file)
