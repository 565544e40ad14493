"""Short texts for values: dtypes, shapes, bytes, numbers, arguments; and text made safe to show."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable

from qdqviz.ir.node import Dim, ScalarSpec, Spec, SymDim, TensorSpec
from qdqviz.ir.values import Atom, DictArg, ListArg, Ref, SliceArg, TextRef, Value

_SHORT_DTYPES = {"float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64"}
_OPEN_END = (1 << 31) - 1
"""Slices that run to the end carry the greatest 64-bit integer, some writers the greatest 32-bit one."""


def short_dtype(dtype: str) -> str:
    """`float32` -> `fp32`, `bfloat16` -> `bf16`; integers stay `int8`."""
    return _SHORT_DTYPES.get(dtype, dtype)


def is_real(dtype: str) -> bool:
    """True for floating-point and complex dtypes."""
    return dtype.startswith(("float", "bfloat", "complex"))


def dim_text(dim: Dim) -> str:
    """A size, or the expression of a symbolic one."""
    return dim.expr if isinstance(dim, SymDim) else str(dim)


def shape_text(shape: tuple[Dim, ...]) -> str:
    """`1×16×64`; a tensor without dimensions is `scalar`."""
    return "×".join(dim_text(dim) for dim in shape) if shape else "scalar"


def spec_text(spec: Spec) -> str:
    """`fp32 1×16×64`, `SymInt s0`, `(fp32 4, int64 4)`; empty where the graph says nothing."""
    if isinstance(spec, TensorSpec):
        return f"{short_dtype(spec.dtype)} {shape_text(spec.shape)}"
    if isinstance(spec, ScalarSpec):
        return f"{spec.type} {spec.text}"
    if isinstance(spec, tuple):
        return f"({', '.join(spec_text(item) or '?' for item in spec)})"
    return ""


def spec_bytes(spec: Spec) -> int | None:
    """Bytes of a value, of all parts of a multi-output value; None if any part's size is unknown."""
    if isinstance(spec, TensorSpec):
        return spec.nbytes
    if not isinstance(spec, tuple):
        return None
    parts = [spec_bytes(item) for item in spec if isinstance(item, TensorSpec | tuple)]
    known = [part for part in parts if part is not None]
    return sum(known) if parts and len(known) == len(parts) else None


def bytes_text(count: float) -> str:
    """`512 B`, `4 KiB`, `1.5 MiB`: three digits, no trailing zeros."""
    size = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1000 or unit == "GiB":
            break
        size /= 1024
    digits = 0 if abs(size) >= 100 or unit == "B" else 1 if abs(size) >= 10 else 2
    text = f"{size:.{digits}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def number_text(value: float) -> str:
    """A number in at most three significant digits; integers exactly."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.3g}"


def value_text(value: Value, name_of: Callable[[int], str] | None = None) -> str:
    """An argument as a reader wants to see it: `[1,16,64]`, `int8`, `0:8`, a node's name.

    Args:
        value: The argument.
        name_of: Gives the name of a node from its identity; without it a use of a node reads `·`.
    """
    if isinstance(value, Ref):
        return name_of(value.node) if name_of else "·"
    if isinstance(value, ListArg | tuple):
        items = value.items if isinstance(value, ListArg) else value
        return f"[{','.join(value_text(item, name_of) for item in items)}]"
    if isinstance(value, SliceArg):
        return slice_text(value.start, value.stop, value.step, name_of)
    if isinstance(value, DictArg):
        return (
            f"{{{','.join(f'{value_text(k, name_of)}: {value_text(v, name_of)}' for k, v in value.items)}}}"
        )
    if isinstance(value, Atom):
        return short_dtype(value.text) if value.kind == "dtype" else value.text
    if isinstance(value, TextRef):
        return f"text {value.id}"
    if isinstance(value, float) and not isinstance(value, bool):
        return number_text(value)
    return repr(value) if isinstance(value, str) else str(value)


def slice_text(start: Value, stop: Value, step: Value, name_of: Callable[[int], str] | None = None) -> str:
    """`0:8`, `8:`, `0:16:2`; an end at or beyond the greatest 32-bit integer is open."""
    first = "0" if start is None else value_text(start, name_of)
    is_open = stop is None or (isinstance(stop, int) and stop >= _OPEN_END)
    last = "" if is_open else value_text(stop, name_of)
    return f"{first}:{last}" + ("" if step in (None, 1) else f":{value_text(step, name_of)}")


def safe_text(text: str) -> str:
    """`text` with everything that could steer a terminal or reorder a line shown as a visible symbol.

    Control characters become their control pictures (escape is `␛`, newline `␊`), other invisible
    or direction-changing characters and lone surrogates `�`. Combining characters stay. One symbol
    replaces one character.
    """
    return text if text.isascii() and text.isprintable() else "".join(map(_safe_character, text))


def _safe_character(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if character == "\u200d":
        return character
    if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Cn", "Co", "Zl", "Zp"):
        return "�"
    return " " if unicodedata.category(character) == "Zs" else character
