"""What only a process of its own can show: what is imported, a missing torch, a pipe that closes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys

import pytest

HEAVY = ("torch", "executorch", "torchao", "textual", "rich", "sqlite3", "rpds", "numpy")

RUN = """
import json, sys
from qdqviz.cli.main import run
codes = [run(json.loads(each)) for each in sys.argv[1:]]
sys.stdout.flush()
loaded = [name for name in {heavy!r} if name in sys.modules]
print(json.dumps({{"codes": codes, "loaded": loaded}}))
"""

BLOCK = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "executorch", "torchao"):
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Blocker())
"""


def report(process, *commands, prelude: str = "", heavy=HEAVY):
    code = (prelude + RUN).format(heavy=heavy)
    done = process(*(json.dumps([str(word) for word in command]) for command in commands), code=code)
    assert done.stdout, done.stderr
    return json.loads(done.stdout.splitlines()[-1]), done


def test_help_imports_nothing_heavy(process):
    found, _ = report(process, ["--help"])
    assert found == {"codes": [0], "loaded": []}


def test_reading_a_trace_imports_no_torch(process, trace, tmp_path):
    found, _ = report(
        process,
        ["steps", trace],
        ["show", trace, 1],
        ["live", trace, "--json"],
        ["draw", trace, 1, "-o", tmp_path / "a.svg"],
        ["open", trace],
        ["samples"],
        ["passes", "FuseMMWithAdd"],
        ["doctor"],
        heavy=("torch", "executorch", "torchao"),
    )
    assert found == {"codes": [0] * 8, "loaded": []}


def test_where_torch_is_not_installed_traces_open_and_the_rest_names_the_extra(process, trace):
    works = [["steps", trace], ["show", trace, 1], ["samples"], ["doctor"]]
    found, done = report(process, *works, ["run", "slices", "-p", "reorder"], prelude=BLOCK, heavy=())
    assert found["codes"] == [0, 0, 0, 0, 1]
    (line,) = done.stderr.splitlines()
    assert line.startswith("qdqviz: error: ") and "torch" in line and "qdqviz[executorch]" in line


def test_a_reader_that_closes_the_pipe_hears_nothing_more(trace, process):
    environ = os.environ | {"PYTHONPATH": os.getcwd()}
    command = [sys.executable, "-m", "qdqviz", "steps", str(trace)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, env=environ) as child:
        child.stdout.close()
        err = child.stderr.read()
    assert (child.returncode, err) == (0, b"")


def test_record_runs_a_script_as_python_does(process, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, atexit\n"
        "atexit.register(print, 'bye')\n"
        "print(__name__, __file__, sys.argv, sys.path[0])\n"
        "def fail():\n"
        "    raise ValueError('as it is')\n"
        "fail()\n"
    )
    plain = subprocess.run([sys.executable, str(script), "--quiet", "x"], capture_output=True, text=True)
    recorded = process("--quiet", "record", "-o", tmp_path / "t.qdqtrace", script, "--quiet", "x")
    assert (recorded.stdout, recorded.stderr) == (plain.stdout, plain.stderr)
    assert recorded.returncode == plain.returncode == 1
    assert (tmp_path / "t.qdqtrace").exists()


SLOW = """
import time
from torch.fx.passes.infra.pass_base import PassBase, PassResult

class Slow(PassBase):
    def call(self, graph_module):
        for node in graph_module.graph.nodes:
            if node.op == "call_function":
                node.kwargs = {**node.kwargs, "seen": 1}
        print("waiting", flush=True)
        time.sleep(60)
        return PassResult(graph_module, True)
"""

MODEL = """
import operator, torch

def build():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_function(operator.neg, (x,)))
    return torch.fx.GraphModule(torch.nn.Module(), graph)
"""


def heed_interrupts():
    """What runs in the background of a shell ignores them, and so would its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_an_interrupt_from_the_keyboard_keeps_the_trace(tmp_path, qdqviz):
    (tmp_path / "slow.py").write_text(SLOW)
    (tmp_path / "model.py").write_text(MODEL)
    environ = os.environ | {"PYTHONPATH": os.getcwd(), "OMP_NUM_THREADS": "1"}
    command = [
        sys.executable,
        "-m",
        "qdqviz",
        "run",
        "model.py:build",
        "-p",
        "slow.py:Slow",
        "-o",
        "t.qdqtrace",
    ]
    pipe = subprocess.PIPE
    options = {"env": environ, "cwd": tmp_path, "text": True, "preexec_fn": heed_interrupts}
    with subprocess.Popen(command, stdout=pipe, stderr=pipe, **options) as child:
        waiting = iter(child.stderr.readline, "waiting\n")
        assert not any("error" in line for line in waiting)
        child.send_signal(signal.SIGINT)
        said = child.stderr.read()
    assert child.returncode == 130
    assert said == "qdqviz: error: interrupted; the 1 rewrite until then is in t.qdqtrace\n"
    assert "neg" in qdqviz("steps", tmp_path / "t.qdqtrace").out


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_and_lists_of_passes(tmp_path, qdqviz):
    (tmp_path / "qdqviz").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m qdqviz "$@"\n')
    (tmp_path / "qdqviz").chmod(0o755)
    (tmp_path / "completion").write_text(qdqviz("completion", "bash").out)
    ask = (
        f"source {tmp_path}/completion; compopt() {{ :; }}\n"
        'COMP_WORDS=(qdqviz do); COMP_CWORD=1; _qdqviz; echo "${COMPREPLY[@]}"\n'
        "COMP_WORDS=(qdqviz run encoder -p cadence-reorder,cadence-f); COMP_CWORD=4; _qdqviz\n"
        'echo "${COMPREPLY[@]}"\n'
    )
    environ = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": os.getcwd()}
    done = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, env=environ)
    assert done.stdout.splitlines() == ["doctor", "cadence-reorder,cadence-fuse"], done.stderr
