"""The constants that a program holds, by content: hashed once, and again only when they change."""

from __future__ import annotations

import hashlib
from typing import Any

import torch

from qdqviz.ir.node import Constant, TensorSpec
from qdqviz.record.encode import Encoder


class ConstantPool:
    """Fingerprints of tensors, and the tensors themselves for the session that materializes steps."""

    def __init__(self, encoder: Encoder, keep: bool) -> None:
        """Take the encoder; `keep` holds a copy of every tensor by fingerprint."""
        self._encoder = encoder
        self._keep = keep
        self._known: dict[int, tuple[Any, tuple[int, int], str]] = {}
        self.tensors: dict[str, torch.Tensor] = {}
        """Tensor by fingerprint, where kept."""
        self.modules: dict[str, Any] = {}
        """What is no tensor (delegates, script objects), by the target it was fetched under."""

    def tensor(self, kind: str, target: str, tensor: torch.Tensor) -> Constant:
        """The constant that `tensor` is, fetched under `target`."""
        spec = self._encoder.spec(tensor)
        assert isinstance(spec, TensorSpec)
        return Constant(kind, target, self.fingerprint(tensor), spec)

    def fingerprint(self, tensor: torch.Tensor) -> str | None:
        """Content hash over dtype, shape and bytes; None for a tensor without data (fake, meta)."""
        known = self._known.get(id(tensor))
        version = _version(tensor)
        if known is not None and known[1] == version:
            return known[2]
        found = content_hash(tensor)
        if found is None:
            return None
        self._known[id(tensor)] = (tensor, version, found)
        if self._keep and found not in self.tensors:
            self.tensors[found] = tensor.detach().clone()
        return found


def _version(tensor: torch.Tensor) -> tuple[int, int]:
    """What changes when a tensor is given other storage or is edited in place."""
    try:
        storage = tensor.data_ptr()
    except RuntimeError:  # a fake tensor has none
        storage = 0
    return storage, 0 if tensor.is_inference() else tensor._version


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
