"""Starts the child process that reads an exported file back, and collects its answer."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from qdqviz.errors import ExportFailedError
from qdqviz.export.report import Format
from qdqviz.load.messages import one_line

TIMEOUT = 600.0
"""Seconds that reading back and running a file may take."""

MISSING_KERNEL = re.compile(r"Missing operator: (?:\[\d+\] )?([\w:.]+)")
"""What ExecuTorch's runtime logs about an op that it has no kernel for."""

MISSING_BACKEND = re.compile(r"Backend (\w+) is not registered")
"""What it logs about a delegate whose backend it does not have."""


@dataclass(frozen=True)
class ReadBack:
    """What a fresh process made of an exported file."""

    outputs: Mapping[str, list[list[Any]]]
    """Method -> flat outputs of each call."""
    fingerprint: list[str] | None
    """The graph's fingerprint; None for a lowered file."""
    cannot_run: str | None
    """Why the runtime of this machine cannot run the file, though it is sound; None if it ran."""


def read_back(
    path: Path, file_format: Format, calls: Mapping[str, list[list[Any]]], imports: Sequence[str]
) -> ReadBack:
    """Load and run an exported file in a fresh process.

    Args:
        path: the file.
        file_format: `pt2` or `pte`.
        calls: method -> flat inputs of each call.
        imports: op libraries that the user named; the known ones are imported by themselves.

    Raises:
        ExportFailedError: it does not load, does not run, or takes longer than `TIMEOUT`.
    """
    with tempfile.TemporaryDirectory(prefix="qdqviz-") as folder:
        request, response = Path(folder, "request.pt"), Path(folder, "response.pt")
        torch.save(
            {
                "path": str(path.resolve()),
                "format": file_format,
                "calls": dict(calls),
                "imports": [_absolute(name) for name in imports],
            },
            request,
        )
        command = [sys.executable, "-m", "qdqviz.export.child", str(request), str(response)]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=TIMEOUT,
                check=False,
                env={**os.environ, "PYTHONPATH": _search_path()},
            )
        except subprocess.TimeoutExpired:
            raise ExportFailedError(f"running the written file took longer than {TIMEOUT:.0f} s") from None
        answer = torch.load(response, weights_only=True) if response.exists() else {}
    return _judge(answer, done, file_format)


def _judge(answer: dict[str, Any], done: subprocess.CompletedProcess[str], file_format: Format) -> ReadBack:
    if "outputs" in answer:
        return ReadBack(answer["outputs"], answer.get("fingerprint"), None)
    logged = f"{done.stdout}\n{done.stderr}"
    if file_format == "pte" and (missing := MISSING_KERNEL.search(logged)):
        return ReadBack({}, None, f"this machine's runtime has no kernel for {missing.group(1)}")
    if file_format == "pte" and (missing := MISSING_BACKEND.search(logged)):
        return ReadBack({}, None, f"this machine's runtime has no backend {missing.group(1)}")
    if "error" in answer:
        raise ExportFailedError(f"what was written does not read back: {answer['error']}")
    last = one_line("\n".join(reversed(logged.splitlines())))
    raise ExportFailedError(f"what was written does not read back: {_end_of(done.returncode)}: {last}")


def _end_of(status: int) -> str:
    if status >= 0:
        return f"the process that ran it ended with status {status}"
    try:
        name = signal.Signals(-status).name
    except ValueError:
        name = f"signal {-status}"
    return f"the process that ran it was ended by {name}"


def _search_path() -> str:
    """PYTHONPATH by which the child finds this same package, also in a checkout that is not installed."""
    package_parent = str(Path(__file__).resolve().parents[2])
    return os.pathsep.join(filter(None, [package_parent, os.environ.get("PYTHONPATH", "")]))


def _absolute(name: str) -> str:
    return str(Path(name).resolve()) if Path(name).is_file() else name
