import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

from qdqviz.draw import engine as engine_module
from qdqviz.draw.engine import Cancel, LayoutCancelledError, LayoutEngine, find_engine
from qdqviz.errors import LayoutError

DOT = "digraph { n1 -> n2 }"


@pytest.fixture
def fake_engine(tmp_path, monkeypatch):
    """Put a shell script in the place of the engine."""

    def install(script):
        path = tmp_path / "engine"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setattr(engine_module, "find_engine", lambda name: path)

    return install


def test_the_engine_is_found_beside_the_running_python():
    assert find_engine() == Path(sys.executable).parent / "graphviz-pure"


def test_a_missing_engine_is_one_clear_line(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LayoutError, match="dot is not installed: install Graphviz, or use graphviz-pure"):
        find_engine("dot")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    with pytest.raises(LayoutError, match="pip install graphviz-pure"):
        find_engine()


def test_a_layout_is_remembered_and_the_oldest_forgotten(fake_engine, tmp_path):
    fake_engine(f'cat >/dev/null; echo x >>{tmp_path}/runs; echo "graph 1 1 1"; echo stop')
    engine = LayoutEngine(remembered=2)
    first = engine.layout("digraph { a }")
    assert engine.layout("digraph { a }") is first
    engine.layout("digraph { b }")
    engine.layout("digraph { c }")
    engine.layout("digraph { a }")
    assert (tmp_path / "runs").read_text().count("x") == 4


def test_an_engine_that_takes_too_long_is_ended(fake_engine):
    fake_engine("exec sleep 30")
    start = time.monotonic()
    with pytest.raises(LayoutError, match=r"longer than 0\.2 s; show fewer nodes"):
        LayoutEngine(timeout=0.2).layout(DOT)
    assert time.monotonic() - start < 5


def test_an_engine_that_fails_says_its_first_line(fake_engine):
    fake_engine('echo "syntax error in line 1" >&2; echo more >&2; exit 3')
    with pytest.raises(LayoutError, match=r"failed \(syntax error in line 1\)$"):
        LayoutEngine().layout(DOT)


def test_an_engine_that_does_not_read_its_input_is_no_crash(fake_engine):
    fake_engine("exit 0")
    with pytest.raises(LayoutError):
        LayoutEngine().layout("digraph {" + "a -> b;" * 200_000 + "}")


def test_a_layout_is_cancelled_from_another_thread(fake_engine):
    fake_engine("exec sleep 30")
    cancel = Cancel()
    threading.Timer(0.2, cancel.cancel).start()
    start = time.monotonic()
    with pytest.raises(LayoutCancelledError):
        LayoutEngine().layout(DOT, cancel)
    assert time.monotonic() - start < 5


def test_a_layout_that_is_cancelled_before_it_starts_ends_at_once(fake_engine):
    fake_engine("exec sleep 30")
    cancel = Cancel()
    cancel.cancel()
    with pytest.raises(LayoutCancelledError):
        LayoutEngine().layout(DOT, cancel)


@pytest.mark.skipif(shutil.which("dot") is None, reason="the system has no Graphviz")
def test_the_systems_graphviz_lays_out_the_same_graph(engine):
    layouts = [one.layout(DOT) for one in (engine, LayoutEngine("dot"))]
    assert all(layout.boxes[1].y < layout.boxes[2].y for layout in layouts)
