"""Sort keys that leave room: a key between any two keys, so that a move touches one node only.

Keys are byte strings compared lexicographically, as in fractional indexing. A key never ends in
a zero byte, which guarantees that there is always room before it.
"""

from __future__ import annotations

_STRIDE = 1 << 16


def spread(count: int) -> list[bytes]:
    """Return `count` increasing keys with room between them, for a graph seen for the first time."""
    return [((index + 1) * _STRIDE + 0x80).to_bytes(6, "big") for index in range(count)]


def between(low: bytes | None, high: bytes | None) -> bytes:
    """Return a key strictly between `low` and `high`; None stands for the open end.

    Raises:
        ValueError: If `low` does not sort before `high`.
    """
    if low is not None and high is not None and low >= high:
        raise ValueError(f"no key between {low!r} and {high!r}")
    if high is None:
        return _after(low or b"")
    left = low or b""
    prefix = bytearray()
    index = 0
    while True:
        a = left[index] if index < len(left) else 0
        b = high[index] if index < len(high) else 256
        if b - a > 1:
            middle = (a + b) // 2
            return bytes([*prefix, middle])
        prefix.append(a)
        index += 1
        if a < b:
            return bytes(prefix) + _after(left[index:])


def _after(low: bytes) -> bytes:
    """A short key above `low` with nothing above to mind."""
    for index, byte in enumerate(low):
        if byte < 0xFF:
            return low[:index] + bytes([byte + 1]) + (b"" if index == 0 else b"\x80")
    return low + b"\x80"
