"""Importing foreign pass code: whatever it does, nothing stays behind and one line comes out."""

from __future__ import annotations

import os
import re
import socket
import threading
import typing
from pathlib import Path

import pytest

from qdqviz.errors import PassError
from qdqviz.passes.importing import import_module
from qdqviz.passes.locate import load_from_file


def load(tmp_path: Path, source: str):
    file = tmp_path / "foreign.py"
    file.write_text(source)
    return load_from_file(str(file), "Pass")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import sys; sys.exit()", "SystemExit"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise RuntimeError('first\\nsecond')", "RuntimeError: first"),
        ("class Pass(:", "SyntaxError"),
        ("import absent.module", "the module 'absent' is missing"),
        ("class E(BaseException):\n def __str__(self): raise ValueError\nraise E", "E"),
    ],
)
def test_anything_raised_becomes_one_line(tmp_path, source, message):
    with pytest.raises(PassError) as caught:
        load(tmp_path, source)
    assert str(caught.value).endswith(message) or message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_raised_comes_with_the_users_line(tmp_path):
    with pytest.raises(PassError) as caught:
        load(tmp_path, "def half():\n    return 1 / 0\nhalf()\n")
    assert re.search(r"division by zero \(\w+\.py, line 2\)$", str(caught.value))


def test_ctrl_c_during_an_import_stays_ctrl_c(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        load(tmp_path, "raise KeyboardInterrupt")


@pytest.mark.parametrize(
    "source",
    [
        "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)",
        "import socket; socket.getaddrinfo('example.org', 80)",
        "import urllib.request; urllib.request.urlopen('http://127.0.0.1:9/', timeout=1)",
    ],
)
def test_an_import_cannot_use_the_network(tmp_path, source):
    with pytest.raises(PassError, match="may not use the network"):
        load(tmp_path, source)


def test_other_threads_keep_the_network_meanwhile(tmp_path):
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    source = (
        "import socket, threading\nok = []\n"
        f"def reach(): ok.append(socket.create_connection(('127.0.0.1', {port}), timeout=5))\n"
        "t = threading.Thread(target=reach)\nt.start(); t.join()\nPass = print\nassert ok\nok[0].close()\n"
    )
    assert load(tmp_path, source) is not None
    listener.close()


def test_nothing_stays_behind(tmp_path, monkeypatch):
    monkeypatch.delenv("EXECUTORCH_BUILDING_WHEEL", raising=False)
    before = (
        socket.socket.connect,
        socket.getaddrinfo,
        hasattr(typing, "override"),
        threading.active_count(),
    )
    load(tmp_path, "import os, typing; Pass = (os.environ['EXECUTORCH_BUILDING_WHEEL'], typing.override)")
    with pytest.raises(PassError):
        load(tmp_path, "raise ValueError")
    after = (socket.socket.connect, socket.getaddrinfo, hasattr(typing, "override"), threading.active_count())
    assert before == after
    assert "EXECUTORCH_BUILDING_WHEEL" not in os.environ


def test_what_a_module_prints_does_not_reach_standard_output(tmp_path, capsys):
    load(tmp_path, "print('chatter'); Pass = print")
    captured = capsys.readouterr()
    assert captured.out == "" and "chatter" in captured.err


def test_modules_with_prerequisites_import_on_their_own():
    assert import_module("executorch.backends.transforms.fuse_conv_with_clamp").FuseClampPass
    assert import_module("executorch.backends.cadence.aot.reorder_ops").HoistOpsCloserToDefPass
