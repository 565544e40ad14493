"""Runs lowered programs in ExecuTorch's runtime, in this process: `python run_ptes.py FOLDER`.

The folder holds `inputs.pt` and `*.pte`; the outputs of each go to a `.out.pt` of the same name.
"""

import sys
from pathlib import Path

import executorch.kernels.quantized  # noqa: F401
import torch
from executorch.runtime import Runtime

folder = Path(sys.argv[1])
for file in sorted(folder.glob("*.pte")):
    method = Runtime.get().load_program(file).load_method("forward")
    outputs = method.execute(torch.load(folder / "inputs.pt", weights_only=True))
    torch.save([output.clone() for output in outputs], file.with_suffix(".out.pt"))
