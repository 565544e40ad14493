"""The sample models: where they are, what each shows, and their modules."""

from __future__ import annotations

import ast
import difflib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from qdqviz.errors import QdqvizError, TargetError
from qdqviz.load.source import import_file


@dataclass(frozen=True)
class Sample:
    """One sample model, known from its file alone."""

    name: str
    """What the command line calls it: the file's name without `.py`."""
    path: Path
    """The module's file."""
    summary: str
    """First line of the module's docstring."""
    description: str
    """Rest of the docstring: what there is to see, and passes to try."""


def samples_folder() -> Path:
    """The folder of the sample modules: inside the package in a wheel, beside the package in a checkout.

    Raises:
        QdqvizError: neither exists.
    """
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "sample_models", package.parent / "sample_models"):
        if folder.is_dir():
            return folder
    raise QdqvizError(f"no sample_models folder in or beside {package}: install qdqviz again")


def list_samples() -> list[Sample]:
    """All samples, by name. The modules are read, not run, so torch is not imported."""
    files = sorted(samples_folder().glob("*.py"))
    return [_read(path) for path in files if not path.name.startswith("_")]


def find_sample(name: str) -> Sample:
    """The sample called `name`.

    Raises:
        TargetError: there is none; the message suggests the closest names.
    """
    samples = {sample.name: sample for sample in list_samples()}
    if name in samples:
        return samples[name]
    close = difflib.get_close_matches(name, samples, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(close)}?" if close else f"samples are {', '.join(samples)}"
    raise TargetError(f"no sample is called {name!r}: {hint}")


def sample_module(name: str) -> ModuleType:
    """Import the module of the sample called `name`: it has `build()` and `example_inputs()`.

    Raises:
        TargetError: there is no such sample, or its module fails to import.
    """
    return import_file(find_sample(name).path)


def _read(path: Path) -> Sample:
    docstring = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    summary, _, description = docstring.partition("\n")
    return Sample(path.stem, path, summary.strip(), description.strip("\n"))
