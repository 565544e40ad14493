"""Reads an exported file back and runs it, in a process of its own: `python -m qdqviz.export.child`.

ExecuTorch's runtime ends the process on a failed assertion, and a `.pt2` has to load where none of the op
libraries of the process that wrote it happen to be imported.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from torch.utils import _pytree as pytree

from qdqviz.errors import QdqvizError
from qdqviz.export.fingerprint import fingerprint
from qdqviz.load.messages import describe_error
from qdqviz.load.oplibs import import_libraries
from qdqviz.load.pt2 import load_pt2
from qdqviz.load.quiet import quiet


def main(request_file: str, response_file: str) -> int:
    """Answer one request; both files are torch archives of plain values and tensors.

    The request has `path`, `format`, `imports`, and `calls`: method -> list of the flat inputs of each call.
    The response has `outputs`: method -> flat outputs of each call, and `fingerprint`; or `error`, one line.
    """
    request = torch.load(request_file, weights_only=True)
    try:
        with quiet():
            response = _read_pt2(request) if request["format"] == "pt2" else _run_pte(request)
    except QdqvizError as error:
        response = {"error": str(error)}
    except Exception as error:  # noqa: BLE001  whatever loading or running raises is the answer
        response = {"error": describe_error(error)}
    torch.save(response, response_file)
    return 0


def _read_pt2(request: dict[str, Any]) -> dict[str, Any]:
    import_libraries(request["imports"])
    program = load_pt2(Path(request["path"]))["forward"]
    response: dict[str, Any] = {"fingerprint": fingerprint(program), "outputs": {}}
    for method, calls in request["calls"].items():
        response["outputs"][method] = run_exported(program, calls)
    return response


def run_exported(program: Any, calls: list[list[Any]]) -> list[list[Any]]:
    """Flat outputs of an ExportedProgram for each call, one module for all so that its state carries over."""
    module = program.module(check_guards=False)
    outputs = []
    for flat in calls:
        args, kwargs = pytree.tree_unflatten(clone(flat), program.call_spec.in_spec)
        with torch.no_grad():
            outputs.append(clone(pytree.tree_leaves(module(*args, **kwargs))))
    return outputs


def clone(values: list[Any]) -> list[Any]:
    """The values with tensors copied: programs may change their inputs, and return their state."""
    return [value.detach().clone() if isinstance(value, torch.Tensor) else value for value in values]


def _run_pte(request: dict[str, Any]) -> dict[str, Any]:
    import executorch.kernels.quantized  # noqa: F401  registers the quantized kernels
    from executorch.runtime import Runtime

    program = Runtime.get().load_program(Path(request["path"]))
    outputs = {}
    for name in sorted(program.method_names):
        method = program.load_method(name)
        outputs[name] = [clone(list(method.execute(clone(flat)))) for flat in request["calls"].get(name, [])]
    return {"outputs": outputs}


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
