"""The constants that a program holds, by content: hashed once, and again only when they change."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from math import isfinite
from typing import Any

import torch

from qdqviz.ir.node import Constant, TensorSpec
from qdqviz.record.encode import Encoder

_SMALL = 4096
"""Elements up to which the smallest and largest value of a tensor are measured: scales and zero points
are that small, and weights need not be read twice."""


@dataclass(frozen=True, slots=True)
class _Content:
    """What is known of a tensor as long as its version stays."""

    tensor: torch.Tensor
    """Held, so that its id is not given to another."""
    version: tuple[int, int]
    """Its storage and edit count when it was read."""
    fingerprint: str
    """Content hash."""
    extent: tuple[float, float] | None
    """Smallest and largest value, of a small tensor of real numbers."""


class ConstantPool:
    """Fingerprints of tensors, and the tensors themselves for the session that materializes steps."""

    def __init__(self, encoder: Encoder, keep: bool) -> None:
        """Take the encoder; `keep` holds a copy of every tensor by fingerprint."""
        self._encoder = encoder
        self._keep = keep
        self._known: dict[int, _Content] = {}
        self.tensors: dict[str, torch.Tensor] = {}
        """Tensor by fingerprint, where kept."""
        self.modules: dict[str, Any] = {}
        """What is no tensor (delegates, script objects), by the target it was fetched under."""

    def tensor(self, kind: str, target: str, tensor: torch.Tensor) -> Constant:
        """The constant that `tensor` is, fetched under `target`."""
        spec = self._encoder.spec(tensor)
        assert isinstance(spec, TensorSpec)
        content = self._content(tensor)
        if content is None:
            return Constant(kind, target, None, spec)
        return Constant(kind, target, content.fingerprint, spec, content.extent)

    def fingerprint(self, tensor: torch.Tensor) -> str | None:
        """Content hash over dtype, shape and bytes; None for a tensor without data (fake, meta)."""
        content = self._content(tensor)
        return None if content is None else content.fingerprint

    def _content(self, tensor: torch.Tensor) -> _Content | None:
        known = self._known.get(id(tensor))
        version = _version(tensor)
        if known is not None and known.version == version:
            return known
        found = content_hash(tensor)
        if found is None:
            return None
        content = self._known[id(tensor)] = _Content(tensor, version, found, _extent(tensor))
        if self._keep and found not in self.tensors:
            self.tensors[found] = tensor.detach().clone()
        return content


def _version(tensor: torch.Tensor) -> tuple[int, int]:
    """What changes when a tensor is given other storage or is edited in place."""
    try:
        storage = tensor.data_ptr()
    except RuntimeError:  # a fake tensor has none
        storage = 0
    return storage, 0 if tensor.is_inference() else tensor._version


def _extent(tensor: torch.Tensor) -> tuple[float, float] | None:
    """Smallest and largest value of a tensor that has data; None for a large, empty or complex one."""
    from torch._subclasses.fake_tensor import unset_fake_temporarily

    if not 0 < tensor.numel() <= _SMALL or tensor.is_complex() or tensor.is_quantized:
        return None
    with unset_fake_temporarily(), torch.no_grad():
        try:
            low, high = (end.item() for end in torch.aminmax(tensor.detach().cpu()))
        except (RuntimeError, NotImplementedError):  # a dtype without an order, such as float8
            return None
    return (low, high) if isfinite(low) and isfinite(high) else None


def content_hash(tensor: torch.Tensor) -> str | None:
    """Hash of dtype, shape and bytes, or None where the tensor has no data of its own."""
    from torch._subclasses.fake_tensor import FakeTensor, unset_fake_temporarily

    if isinstance(tensor, FakeTensor) or tensor.device.type == "meta" or tensor.layout is not torch.strided:
        return None
    with unset_fake_temporarily(), torch.no_grad():
        digest = hashlib.blake2b(f"{tensor.dtype}{tuple(tensor.shape)}".encode(), digest_size=12)
        if tensor.numel():
            flat = tensor.detach().cpu().contiguous().flatten().view(torch.uint8)
            digest.update(memoryview(flat.numpy()))
    return digest.hexdigest()
