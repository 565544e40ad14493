"""Imports a pass module safely: what it needs is in place, what it raises becomes one line, no network."""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import threading
import typing
from collections.abc import Iterator
from typing import Any, NoReturn

import typing_extensions

from qdqviz.errors import PassError, QdqvizError, users_line

PREREQUISITES: tuple[tuple[str, str], ...] = (
    ("executorch.", "executorch.exir"),
    ("executorch.backends.cadence.", "executorch.backends.cadence.aot.ops_registrations"),
    # Imported first on its own, this module is imported again by its own package before it is complete.
    ("executorch.backends.transforms.fuse_conv_with_clamp", "executorch.backends.vulkan"),
)
"""Prefix of a module -> what has to be imported before it."""

EXTRA_MODULES = frozenset({"torch", "executorch", "torchao"})
"""Top-level modules that the extra `executorch` brings."""

EXTRA_HINT = "pip install 'qdqviz[executorch]'"
"""What to do where one of them is missing."""

_IMPORT_LOCK = threading.RLock()


def import_module(name: str) -> Any:
    """Imports a module that holds passes.

    Around the import: `typing.override` exists on Python 3.11 (Cadence's modules want it), Qualcomm's
    package is told not to fetch its SDK, what modules print goes to standard error, and this thread cannot
    open a connection.

    Raises:
        PassError: The import raised anything; the message names the missing module if there is one.
    """
    with pass_import(name):
        for prefix, needed in PREREQUISITES:
            if name.startswith(prefix) and name != needed:
                importlib.import_module(needed)
        return importlib.import_module(name)


@contextlib.contextmanager
def pass_import(what: str) -> Iterator[None]:
    """Sets up what an import of foreign pass code needs, and turns what it raises into a PassError."""
    with _IMPORT_LOCK, _typing_override(), _no_sdk_download(), _no_network():
        try:
            with contextlib.redirect_stdout(sys.stderr):
                yield
        except (KeyboardInterrupt, QdqvizError):
            raise
        except BaseException as error:  # an import may raise anything, also SystemExit
            where = "" if isinstance(error, ModuleNotFoundError) else users_line(error.__traceback__)
            raise PassError(f"cannot import {what}: {one_line(error)}{where}") from error


def one_line(error: BaseException) -> str:
    """Returns an exception as one line: a missing module by its name, else the type and first line."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        hint = f" ({EXTRA_HINT})" if error.name.split(".")[0] in EXTRA_MODULES else ""
        return f"the module {error.name!r} is missing{hint}"
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # noqa: BLE001  an exception's own __str__ is foreign code
        lines = []
    kind = type(error).__name__
    return f"{kind}: {lines[0]}" if lines else kind


@contextlib.contextmanager
def _typing_override() -> Iterator[None]:
    if hasattr(typing, "override"):
        yield
        return
    typing.override = typing_extensions.override  # type: ignore[attr-defined, unused-ignore]
    try:
        yield
    finally:
        del typing.override  # type: ignore[attr-defined, unused-ignore]


@contextlib.contextmanager
def _no_sdk_download() -> Iterator[None]:
    """Qualcomm's package downloads an SDK on import, unless it is told that a wheel is being built."""
    name = "EXECUTORCH_BUILDING_WHEEL"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


@contextlib.contextmanager
def _no_network() -> Iterator[None]:
    """Refuses new connections on this thread; other threads go on as before."""
    thread = threading.get_ident()
    connect = socket.socket.connect
    getaddrinfo = socket.getaddrinfo

    def refuse(what: str) -> NoReturn:
        raise ConnectionRefusedError(f"importing a pass may not use the network ({what})")

    def guarded_connect(self: socket.socket, address: Any) -> None:
        if threading.get_ident() == thread and self.family != getattr(socket, "AF_UNIX", None):
            refuse(str(address))
        connect(self, address)

    def guarded_getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
        if threading.get_ident() == thread:
            refuse(str(host))
        return getaddrinfo(host, *args, **kwargs)

    socket.socket.connect = guarded_connect  # type: ignore[method-assign, assignment]
    socket.getaddrinfo = guarded_getaddrinfo
    try:
        yield
    finally:
        socket.socket.connect = connect  # type: ignore[method-assign]
        socket.getaddrinfo = getaddrinfo
