"""Targets on the command line: what loads, and the one line that says why something does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from qdqviz.errors import QdqvizError, TargetError, UsageError
from qdqviz.load.target import load

ROOT = Path(__file__).resolve().parents[2]

MODEL = '''
"""A user's file."""
import torch
from helper import SCALE


class Net(torch.nn.Module):
    def forward(self, x):
        return torch.relu(x) * SCALE

    def example_inputs(self):
        return (torch.ones(2, 3),)


def pair():
    print("a user's print")
    return Net(), [torch.ones(4, 3)]


def exported():
    return torch.export.export(Net(), (torch.ones(2, 3),), strict=False)


def dynamo():
    return torch.export.export(Net(), (torch.ones(2, 3),), strict=True)


def methods(names=("left", "right")):
    from executorch.exir import to_edge

    return to_edge({name: exported() for name in names})


def with_forward():
    return methods(("forward", "other"))


def lowered():
    return methods().to_executorch()


def graph():
    return torch.fx.symbolic_trace(Net())


def bare():
    return torch.nn.Linear(2, 2)


def untraceable():
    class Bad(torch.nn.Module):
        def forward(self, x):
            return x if x.sum() > 0 else -x

    return Bad(), (torch.ones(2),)


def number():
    return 5


def tensor_inputs():
    return exported(), torch.ones(2)


def wants(something):
    return something


def raises():
    raise ValueError("bad \\x1b[31mshape\\n  second line")


def ends():
    raise SystemExit(3)


instance = torch.fx.symbolic_trace(Net())
constant = 7


class inner:
    build = exported
'''


@pytest.fixture
def model(tmp_path, monkeypatch):
    (tmp_path / "helper.py").write_text("SCALE = 3.0\n")
    (tmp_path / "model.py").write_text(MODEL)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "model.py"


@pytest.mark.parametrize(
    ("callable_name", "kind", "dialect", "shape"),
    [
        ("exported", "ExportedProgram", "aten", (2, 3)),
        ("dynamo", "ExportedProgram", "aten", (2, 3)),
        ("pair", "ExportedProgram", "aten", (4, 3)),
        ("Net", "ExportedProgram", "aten", (2, 3)),
        ("with_forward", "EdgeProgramManager", "edge", (2, 3)),
        ("graph", "GraphModule", "aten", None),
        ("instance", "GraphModule", "aten", None),
        ("inner.build", "ExportedProgram", "aten", (2, 3)),
    ],
)
def test_a_callable_gives_a_program_with_its_example_inputs(model, callable_name, kind, dialect, shape):
    loaded = load(f"model.py:{callable_name}")
    assert (loaded.name, loaded.kind, loaded.dialect) == (f"model.py:{callable_name}", kind, dialect)
    assert (loaded.inputs and tuple(loaded.inputs[0].shape)) == shape
    assert loaded.method == "forward"
    if loaded.kind == "ExportedProgram":
        (result,) = [loaded.program.module(check_guards=False)(*loaded.inputs)]
        assert torch.equal(result, torch.full(shape, 3.0))


def test_a_module_is_found_by_dotted_name_in_the_current_folder(model):
    assert load("model:exported").kind == "ExportedProgram"
    sys.modules.pop("model"), sys.modules.pop("helper")


def test_a_file_elsewhere_finds_the_modules_beside_it_and_leaves_the_search_path_alone(model, monkeypatch):
    monkeypatch.chdir("/")
    before = list(sys.path)
    assert load(f"{model}:exported").kind == "ExportedProgram"
    assert sys.path == before
    sys.modules.pop("helper")


def test_two_files_of_one_name_do_not_get_mixed_up(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "torch.py").write_text(
            f"import torch\ndef {name}():\n    return torch.fx.symbolic_trace(torch.nn.ReLU())\n"
        )
        assert load(f"{tmp_path / name / 'torch.py'}:{name}").kind == "GraphModule"
    assert sys.modules["torch"] is torch


def test_what_user_code_prints_does_not_reach_standard_output(model, capsys):
    load("model.py:pair")
    captured = capsys.readouterr()
    assert captured.out == "" and "a user's print" in captured.err


def test_example_inputs_of_the_file_serve_a_graph_module(tmp_path):
    (tmp_path / "m.py").write_text(
        "import torch\n"
        "def example_inputs():\n    return [torch.ones(5)]\n"
        "def build():\n    return torch.fx.symbolic_trace(torch.nn.ReLU())\n"
    )
    (value,) = load(f"{tmp_path / 'm.py'}:build").inputs
    assert value.shape == (5,)


def test_the_users_own_object_is_handed_on(model):
    loaded = load("model.py:instance")
    module = next(each for each in sys.modules.values() if getattr(each, "__file__", "") == str(model))
    assert loaded.program is module.instance


def test_inputs_by_name_are_kept_as_keywords(tmp_path):
    (tmp_path / "m.py").write_text(
        "import torch\n"
        "class Net(torch.nn.Module):\n    def forward(self, x, *, bias):\n        return x + bias\n"
        "def build():\n"
        "    return torch.export.export(Net(), (torch.ones(2),), {'bias': torch.ones(2)}, strict=False)\n"
    )
    loaded = load(f"{tmp_path / 'm.py'}:build")
    assert len(loaded.inputs) == 1 and list(loaded.keywords) == ["bias"]


def test_several_methods_need_a_choice_unless_one_is_forward(model):
    with pytest.raises(UsageError, match=r"several methods.*--method \(left, right\)"):
        load("model.py:methods")
    with pytest.raises(UsageError, match="no method 'middle': it has left, right"):
        load("model.py:methods", method="middle")
    chosen = load("model.py:methods", method="right")
    assert (chosen.methods, chosen.method) == (("left", "right"), "right")
    assert load("model.py:with_forward").method == "forward"
    assert chosen.graph_module is chosen.program.exported_program("right").graph_module


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("encodr", "no sample is called 'encodr': did you mean encoder"),
        ("quite other", "no sample is called 'quite other': samples are attention_chain"),
        ("run.qdqtrace", "run.qdqtrace is a trace, not a program: look at it with qdqviz open"),
        ("m.pte", "m.pte is lowered already"),
        ("none.pt2", "no file none.pt2"),
        ("none.py:build", "no file none.py"),
        ("none.py", "no file none.py"),
        ("model.py", r"needs a callable, model.py:NAME \(Net, pair, exported"),
        (".", "is no target"),
        ("model.onnx", "is no target"),
        ("model.py:biuld", "model.py has no 'biuld'"),
        ("model.py:expotred", "did you mean exported"),
        ("no_such_module.sub:build", "no module no_such_module"),
        ("model.py:number", "gave a int: an ExportedProgram, an EdgeProgramManager"),
        ("model.py:constant", "model.py:constant is a int: a callable or a program is needed"),
        ("model.py:bare", "a module without example inputs: return \\(module, inputs\\)"),
        ("model.py:tensor_inputs", "the example inputs of .* are a Tensor: a tuple is needed"),
        ("model.py:lowered", "already lowered by to_executorch"),
        ("model.py:wants", "called without arguments, but: missing a required argument: 'something'"),
        ("model.py:raises", r"raised ValueError: bad  ?\[31mshape \(model.py, line \d+\)"),
        ("model.py:ends", "ended the process \\(exit status 3\\)"),
        ("model.py:untraceable", "torch.export of Bad raised"),
    ],
)
def test_a_bad_target_is_one_line_that_says_why(model, target, message):
    with pytest.raises(TargetError, match=message) as caught:
        load(target)
    text = str(caught.value)
    assert "\n" not in text and "\x1b" not in text and len(text) < 500
    assert caught.value.exit_code == 2


def test_a_file_that_does_not_parse_or_import_is_one_line_and_leaves_no_module_behind(tmp_path):
    for content, message in (
        ("def build(:\n", r"raised SyntaxError: .*\(broken.py, line 1\)"),
        ("import nothing_of_this_name\n", "ModuleNotFoundError: No module named 'nothing_of_this_name'"),
        ("1 / 0\n", r"raised ZeroDivisionError: division by zero \(broken.py, line 1\)"),
    ):
        (tmp_path / "broken.py").write_text(content)
        with pytest.raises(TargetError, match=message):
            load(f"{tmp_path / 'broken.py'}:build")
    assert not [name for name in sys.modules if name.startswith("qdqviz_target_broken")]


def test_ctrl_c_in_user_code_stays_ctrl_c(tmp_path):
    (tmp_path / "m.py").write_text("def build():\n    raise KeyboardInterrupt\n")
    with pytest.raises(KeyboardInterrupt):
        load(f"{tmp_path / 'm.py'}:build")


def test_a_missing_import_library_is_named(model):
    for name, message in (("absent.py", "no file absent.py"), ("absent_lib", "no module absent_lib")):
        with pytest.raises(QdqvizError, match=message):
            load("model.py:exported", imports=[name])
    with pytest.raises(UsageError, match=r"cannot load the op library absent\.so"):
        load("model.py:exported", imports=["absent.so"])


def test_a_sample_chooses_among_its_methods(loaded_sample):
    sample = loaded_sample("avgpool")
    assert (sample.methods, sample.method) == (("float_pool", "forward"), "forward")


def test_without_torch_the_line_names_the_extra():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from qdqviz.load.target import load\nfrom qdqviz.errors import MissingDependencyError\n"
        "try:\n    load('encoder')\nexcept MissingDependencyError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "torch is not installed: pip install 'qdqviz[executorch]'"


def test_a_misspelt_target_is_refused_before_torch_is_imported():
    code = (
        "import sys\nfrom qdqviz.load.target import load\nfrom qdqviz.errors import TargetError\n"
        "try:\n    load('encodr')\nexcept TargetError:\n    print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
