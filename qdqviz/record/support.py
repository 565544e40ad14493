"""Hook on what asks whether nodes may join a partition, node by node, in torch's own code."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch.fx.passes.infra.partitioner import CapabilityBasedPartitioner

from qdqviz.record.runlog import RETRACE_SITE, RunLog
from qdqviz.record.watch import Patches


@contextmanager
def watching_support(log: Callable[[], RunLog | None]) -> Iterator[None]:
    """Open an attempt on each node that a `CapabilityBasedPartitioner` asks about, until the block ends.

    Its loops are torch's and not recorded; whether a node is supported is decided by the pass.

    Args:
        log: Gives the log of the pass run that is recorded now; None where none is.
    """
    patches = Patches()

    def is_node_supported(original: Any) -> Any:
        @functools.wraps(original)
        def wrapper(self: Any, node: Any) -> Any:
            current = log()
            token = current.open(RETRACE_SITE, node, False) if current is not None else None
            try:
                return original(self, node)
            finally:
                if current is not None and token is not None:
                    current.close(token)

        return wrapper

    try:
        patches.wrap(CapabilityBasedPartitioner, "_is_node_supported", is_node_supported)
        yield
    finally:
        patches.undo()
