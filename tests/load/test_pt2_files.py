"""`.pt2` files: both serializers, op libraries, and files that are damaged or would run code."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import torch
from executorch import exir
from torch.ao.quantization.fx import _decomposed  # noqa: F401

from qdqviz.errors import TargetError
from qdqviz.load.archive import read_archive
from qdqviz.load.oplibs import register
from qdqviz.load.pt2 import load_pt2
from qdqviz.load.sizes import is_size
from qdqviz.load.target import load

ROOT = Path(__file__).resolve().parents[2]
PARAMETERS = (0.05, 3, -128, 127, torch.int8)

OP_LIBRARY = """
import torch
library = torch.library.Library("qdqviz_test_ops", "DEF")
library.define("twice(Tensor x) -> Tensor")
library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")
torch.library.register_fake("qdqviz_test_ops::twice", lambda x: torch.empty_like(x))
"""


class Quantized(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.bias = torch.nn.Buffer(torch.arange(3.0))

    def forward(self, x):
        ops = torch.ops.quantized_decomposed
        q = ops.quantize_per_tensor.default(x + self.bias, *PARAMETERS)
        return ops.dequantize_per_tensor.default(q, *PARAMETERS).permute(1, 0)


def inputs():
    return (torch.linspace(-2, 2, 12).view(4, 3),)


def aten():
    return torch.export.export(Quantized(), inputs(), strict=False)


def edge():
    return exir.to_edge(
        aten(), compile_config=exir.EdgeCompileConfig(_check_ir_validity=False)
    ).exported_program()


def rewritten(path, target, change):
    """Copies a zip archive with `change(name, content)` for the content of each member."""
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(target, "w") as copy:
        for name in source.namelist():
            copy.writestr(name, change(name, source.read(name)))
    return target


@pytest.fixture
def aten_file(tmp_path):
    torch.export.save(aten(), tmp_path / "a.pt2")
    return tmp_path / "a.pt2"


@pytest.fixture
def edge_file(tmp_path):
    exir.save(edge(), str(tmp_path / "e.pt2"))
    return tmp_path / "e.pt2"


def test_an_aten_and_an_edge_file_load_with_dialect_and_example_inputs(aten_file, edge_file):
    wanted = Quantized()(*inputs())
    for file, dialect in ((aten_file, "aten"), (edge_file, "edge")):
        loaded = load(str(file))
        assert (loaded.name, loaded.kind, loaded.dialect) == (file.name, "ExportedProgram", dialect)
        assert torch.equal(loaded.inputs[0], inputs()[0])
        assert torch.equal(loaded.program.module(check_guards=False)(*loaded.inputs), wanted)


def test_a_fresh_process_finds_the_op_libraries_by_itself(aten_file, edge_file, tmp_path):
    from qdqviz.load.apply import apply_passes
    from qdqviz.load.copying import copy_program
    from qdqviz.passes.importing import import_module

    replace = import_module(
        "executorch.backends.cadence.aot.replace_ops"
    ).ReplacePT2QuantWithCadenceQuantPass()
    cadence = tmp_path / "cadence.pt2"
    exir.save(apply_passes(copy_program(edge()), [replace]), str(cadence))
    assert "cadence" in " ".join(read_archive(cadence).targets)
    code = (
        "import sys; from qdqviz.load.target import load\n"
        "for file in sys.argv[1:]:\n"
        "    loaded = load(file)\n"
        "    print(loaded.program.module(check_guards=False)(*loaded.inputs).sum().item())"
    )
    files = [str(file) for file in (aten_file, edge_file, cadence)]
    done = subprocess.run(
        [sys.executable, "-c", code, *files], cwd=ROOT, capture_output=True, text=True, check=True
    )
    wanted = Quantized()(*inputs()).sum().item()
    assert [float(line) for line in done.stdout.split()] == pytest.approx([wanted] * 3)


def test_an_unknown_op_is_named_and_import_makes_it_known(tmp_path):
    (tmp_path / "own_ops.py").write_text(OP_LIBRARY)
    writer = (
        "import sys, torch\nsys.path.insert(0, '.')\nimport own_ops\nfrom executorch import exir\n"
        "class Net(torch.nn.Module):\n"
        "    def forward(self, x):\n        return torch.ops.qdqviz_test_ops.twice(x) + 1\n"
        "program = torch.export.export(Net(), (torch.ones(2),), strict=False)\n"
        "torch.export.save(program, 'aten.pt2')\n"
        "config = exir.EdgeCompileConfig(_check_ir_validity=False)\n"
        "exir.save(exir.to_edge(program, compile_config=config).exported_program(), 'edge.pt2')\n"
    )
    reader = (
        "from qdqviz.load.target import load\nfrom qdqviz.errors import QdqvizError\n"
        "def attempt(file, **options):\n"
        "    try:\n"
        "        loaded = load(file, **options)\n"
        "        print(loaded.program.module(check_guards=False)(*loaded.inputs).tolist())\n"
        "    except QdqvizError as error:\n        print(type(error).__name__, error)\n"
        "attempt('aten.pt2')\nattempt('edge.pt2')\n"
        "attempt('aten.pt2', imports=['own_ops'])\nattempt('edge.pt2')\n"
    )
    subprocess.run([sys.executable, "-c", writer], cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run(
        [sys.executable, "-c", reader],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    *refusals, one, other = done.stdout.splitlines()
    for refusal, dialect in zip(refusals, ("aten", "edge"), strict=True):
        assert refusal.startswith(f"TargetError {dialect}.pt2 uses the op qdqviz_test_ops::twice.default")
        assert "--import MODULE" in refusal
    assert one == other == "[3.0, 3.0]"


def test_ops_are_told_from_other_targets():
    targets = ["torch.ops.aten.add.Tensor", "_operator.getitem", "torch.ops.higher_order.cond"]
    edge_op = "executorch.exir.dialects.edge.ops.no_such_space.op.default"
    assert register(targets) == []
    assert register([*targets, edge_op, "torch.ops.aten.no_such_op.out"]) == [
        "aten::no_such_op.out",
        "no_such_space::op.default",
    ]


def test_an_edge_program_written_by_torch_export_is_refused_with_the_remedy(tmp_path):
    torch.export.save(edge(), tmp_path / "wrong.pt2")
    with pytest.raises(TargetError, match=r"edge ops.*executorch\.exir\.save"):
        load_pt2(tmp_path / "wrong.pt2")


def test_several_programs_in_one_package_are_methods(tmp_path):
    from torch.export.pt2_archive._package import package_pt2

    package_pt2(str(tmp_path / "two.pt2"), exported_programs={"encode": aten(), "decode": aten()})
    with pytest.raises(Exception, match=r"--method \(decode, encode\)"):
        load(str(tmp_path / "two.pt2"))
    assert load(str(tmp_path / "two.pt2"), method="decode").kind == "ExportedProgram"


def test_damaged_and_foreign_files_are_one_line(aten_file, edge_file, tmp_path):
    content = aten_file.read_bytes()
    bad = {
        "empty": b"",
        "text": b"not a zip",
        "cut": content[: len(content) // 2],
    }
    for name, data in bad.items():
        file = tmp_path / f"{name}.pt2"
        file.write_bytes(data)
        with pytest.raises(TargetError, match="no complete zip archive"):
            load(str(file))
    with zipfile.ZipFile(tmp_path / "other.pt2", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(TargetError, match="holds no exported program"):
        load(str(tmp_path / "other.pt2"))
    for source in (aten_file, edge_file):
        broken = rewritten(source, tmp_path / "json.pt2", lambda n, c: b"{" if n.endswith("json") else c)
        with pytest.raises(TargetError, match="cannot be read"):
            load(str(broken))
    newer = rewritten(edge_file, tmp_path / "newer.pt2", lambda n, c: b"99.1" if n == "version" else c)
    with pytest.raises(TargetError, match=r"newer\.pt2 does not load: RuntimeError: Serialized version"):
        load(str(newer))
    with pytest.raises(TargetError, match="cannot be read"):
        (tmp_path / "folder.pt2").mkdir()
        load(str(tmp_path / "folder.pt2"))


class Bomb:
    """Unpickling one creates a file."""

    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return open, (self.path, "w")


@pytest.mark.parametrize("protocol", ["torch", "plain"])
def test_pickled_code_in_a_file_is_refused_and_never_run(aten_file, tmp_path, protocol):
    trap = tmp_path / "exploded"
    buffer = io.BytesIO()
    payload = ((Bomb(trap),), {})
    torch.save(payload, buffer) if protocol == "torch" else buffer.write(pickle.dumps(payload))
    armed = rewritten(
        aten_file, tmp_path / "armed.pt2", lambda n, c: buffer.getvalue() if n.endswith("model.pt") else c
    )
    with pytest.raises(TargetError, match="pickled objects other than tensors"):
        load(str(armed))
    assert not trap.exists()


def test_pickled_weights_and_objects_are_refused(aten_file, tmp_path):
    trap = tmp_path / "exploded"
    buffer = io.BytesIO()
    torch.save(Bomb(trap), buffer)

    def pickle_the_weight(name, content):
        if name.endswith("weights_config.json"):
            config = json.loads(content)
            for each in config["config"].values():
                each["use_pickle"] = True
            return json.dumps(config)
        return buffer.getvalue() if name.endswith("weights/weight_0") else content

    with pytest.raises(TargetError, match="weight_0 holds pickled objects"):
        load(str(rewritten(aten_file, tmp_path / "w.pt2", pickle_the_weight)))
    with zipfile.ZipFile(aten_file, "a") as archive:
        archive.writestr("a/data/constants/opaque_obj_0", buffer.getvalue())
    with pytest.raises(TargetError, match="opaque_obj_0 is a pickled object"):
        load(str(aten_file))
    assert not trap.exists()


def test_compiled_code_is_refused(aten_file):
    with zipfile.ZipFile(aten_file, "a") as archive:
        archive.writestr("a/data/aotinductor/model/x.so", b"")
    with pytest.raises(TargetError, match="compiled code"):
        load(str(aten_file))


@pytest.mark.parametrize("expression", ["__import__('os').getcwd()", "exec(chr(49))", "s0.func", "open(s0)"])
@pytest.mark.parametrize("layout", ["torch", "exir"])
def test_a_symbolic_size_that_is_code_is_refused(tmp_path, expression, layout):
    batch = torch.export.Dim("batch", min=2, max=64)
    program = torch.export.export(Quantized(), inputs(), dynamic_shapes=({0: batch},), strict=False)
    file = tmp_path / "dynamic.pt2"
    torch.export.save(program, file) if layout == "torch" else exir.save(program, str(file))
    assert load(str(file)).kind == "ExportedProgram"

    def poison(name, content):
        if not name.endswith(".json") or b"expr_str" not in content:
            return content

        def replace(value):
            if isinstance(value, dict):
                return {k: expression if k == "expr_str" else replace(v) for k, v in value.items()}
            return [replace(item) for item in value] if isinstance(value, list) else value

        return json.dumps(replace(json.loads(content)))

    with pytest.raises(TargetError, match="is no symbolic size"):
        load(str(rewritten(file, tmp_path / "poisoned.pt2", poison)))


def test_an_input_whose_name_is_code_is_refused(edge_file, tmp_path):
    def rename(name, content):
        return (
            content.replace(b'{"name": "x"}', b'{"name": "x=print(1)"}')
            if name.endswith(".json")
            else content
        )

    with pytest.raises(TargetError, match="is no name of an input"):
        load(str(rewritten(edge_file, tmp_path / "renamed.pt2", rename)))


@pytest.mark.parametrize(
    "text",
    [
        "s77",
        "2*s0 + 1",
        "Max(1, u0)",
        "((s0//2))",
        "Mod(s0, 4)",
        "floor(s0/2)",
        "-9223372036854775808",
        "Symbol('s77', positive=True, integer=True)",
        "Add(Mul(Integer(2), Symbol('s77', integer=True)), Float('1.5', precision=53))",
        "Piecewise((1, s0 > 2), (0, True))",
    ],
)
def test_sizes_that_sympy_writes_are_accepted(text):
    assert is_size(text)


@pytest.mark.parametrize(
    "text",
    [
        "eval('1')",
        "Symbol('x').name",
        "[1][0]",
        "Symbol(chr(49))",
        "__import__",
        "S('f(1)')",
        "lambda: 1",
        "(x:=1)",
        "",
        "1 +",
    ],
)
def test_whatever_could_run_is_no_size(text):
    assert not is_size(text)
