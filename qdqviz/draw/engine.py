"""Runs the layout engine as a subprocess: with a timeout, cancellable, and with a memory of answers."""

from __future__ import annotations

import shutil
import subprocess
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Literal

from qdqviz.draw.layout import Layout, parse_plain
from qdqviz.errors import LayoutError

EngineName = Literal["graphviz-pure", "dot"]
"""`graphviz-pure` is the wheel that is installed with qdqviz; `dot` is the system's Graphviz."""


class LayoutCancelledError(LayoutError):
    """The layout was cancelled while it ran."""


class Cancel:
    """Cancels a layout that runs in another thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """True once `cancel` was called."""
        return self._cancelled

    def cancel(self) -> None:
        """End the layout, now or when it starts. Any thread may call this, any number of times."""
        with self._lock:
            self._cancelled = True
            if self._process is not None:
                self._process.kill()

    def _attach(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._process = process
            if self._cancelled:
                process.kill()

    def _detach(self) -> None:
        with self._lock:
            self._process = None


def find_engine(name: EngineName = "graphviz-pure") -> Path:
    """The engine's executable: beside the running Python, else on the PATH.

    Raises:
        LayoutError: If it is not there.
    """
    if name == "graphviz-pure":
        suffix = ".exe" if sys.platform == "win32" else ""
        for folder in (Path(sys.executable).parent, Path(sys.prefix, "Scripts" if suffix else "bin")):
            beside = folder / f"{name}{suffix}"
            if beside.is_file():
                return beside
    found = shutil.which(name)
    if found is None:
        remedy = (
            "pip install graphviz-pure"
            if name == "graphviz-pure"
            else "install Graphviz, or use graphviz-pure"
        )
        raise LayoutError(f"the layout engine {name} is not installed: {remedy}")
    return Path(found)


class LayoutEngine:
    """Lays out DOT texts. Safe to use from several threads.

    Attributes:
        name: Which engine.
        timeout: Seconds that one layout may take.
    """

    def __init__(
        self, name: EngineName = "graphviz-pure", *, timeout: float = 20.0, remembered: int = 128
    ) -> None:
        """Make an engine; nothing runs yet.

        Args:
            name: Which executable to run.
            timeout: Seconds that one layout may take.
            remembered: How many answers are kept, the least recently used one goes first.
        """
        self.name: EngineName = name
        self.timeout = timeout
        self._remembered = remembered
        self._answers: OrderedDict[str, Layout] = OrderedDict()
        self._lock = threading.Lock()

    def layout(self, dot: str, cancel: Cancel | None = None) -> Layout:
        """The layout of a DOT text whose nodes are named `n<number>`.

        Raises:
            LayoutCancelledError: If `cancel` was used.
            LayoutError: If the engine is missing, fails, or takes longer than the timeout.
        """
        with self._lock:
            if dot in self._answers:
                self._answers.move_to_end(dot)
                return self._answers[dot]
        answer = parse_plain(self.run(dot, "plain", cancel).decode("utf-8", "replace"))
        with self._lock:
            self._answers[dot] = answer
            while len(self._answers) > self._remembered:
                self._answers.popitem(last=False)
        return answer

    def run(self, dot: str, output: str, cancel: Cancel | None = None) -> bytes:
        """What the engine writes for `-T<output>`.

        Raises:
            LayoutCancelledError: If `cancel` was used.
            LayoutError: If the engine is missing, fails, or takes longer than the timeout.
        """
        command = [str(find_engine(self.name)), f"-T{output}"]
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe)
        except OSError as error:
            raise LayoutError(f"the layout engine {self.name} does not start ({error.strerror})") from error
        with process:
            if cancel is not None:
                cancel._attach(process)
            try:
                out, err = process.communicate(dot.encode("utf-8", "replace"), timeout=self.timeout)
            except subprocess.TimeoutExpired as error:
                process.kill()
                process.communicate()
                hint = "show fewer nodes (a smaller radius)"
                raise LayoutError(f"the layout took longer than {self.timeout:g} s; {hint}") from error
            except BaseException:
                process.kill()
                raise
            finally:
                if cancel is not None:
                    cancel._detach()
        if cancel is not None and cancel.cancelled:
            raise LayoutCancelledError("the layout was cancelled")
        if process.returncode:
            lines = err.decode("utf-8", "replace").split("\n")
            raise LayoutError(f"the layout engine {self.name} failed ({lines[0] or process.returncode})")
        return out
