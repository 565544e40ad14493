"""A time-travel debugger for PyTorch FX and ExecuTorch graph passes."""

from __future__ import annotations

__version__ = "0.1.0"
