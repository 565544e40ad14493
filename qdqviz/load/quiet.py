"""Keeps the toolchain's own notices from the terminal while it is imported or at work."""

from __future__ import annotations

import contextlib
import importlib
import logging
import warnings
from collections.abc import Iterator

from qdqviz.errors import MissingDependencyError

TOOLCHAIN = ("torch", "executorch.exir", "torchao.quantization.pt2e")
"""Modules whose import prints notices that say nothing to a user of qdqviz."""


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drop warnings, and log records below an error, inside the block."""
    before = logging.root.manager.disable
    logging.disable(max(before, logging.WARNING))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


@contextlib.contextmanager
def without_notices() -> Iterator[None]:
    """Drop what torch announces about its own future inside the block; a user's warnings are shown."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="copyreg|torch|executorch|torchao")
        yield


def import_toolchain() -> None:
    """Import torch, executorch and torchao without their notices.

    Raises:
        MissingDependencyError: one of them is not installed.
    """
    with quiet():
        for name in TOOLCHAIN:
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as error:
                raise MissingDependencyError(
                    f"{error.name} is not installed: pip install 'qdqviz[executorch]'"
                ) from error
