"""What a box says: the op's short name with the argument that matters, and what it makes.

`permute [0,2,1]`, `slice dim=1 0:8`, `quantize s=0.0213 z=-3`; below it `int8 1×16×64  1 KiB`.
Labels hold text from the graph as it is: make it safe (`qdqviz.ir.text.safe_text`) where it is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from qdqviz.ir.node import Constant, NodeState, OpInfo
from qdqviz.ir.qparams import NO_OPS, QParams, qparams
from qdqviz.ir.roles import Role, op_name, role
from qdqviz.ir.text import bytes_text, number_text, slice_text, spec_bytes, spec_text, value_text
from qdqviz.ir.values import Ref, Value

NameOf = Callable[[int], str]
"""Gives a node's name from its identity."""

ConstantOf = Callable[[int], "Constant | None"]
"""Gives the constant that a node stands for, from the node's identity."""

_QUIET_NAMESPACES = {
    "",
    "aten",
    "quantized_decomposed",
    "dim_order_ops",
    "torch",
    "operator",
    "_operator",
    "math",
    "builtins",
}
_NAME_PREFIXES = re.compile(r"^(aten|quantized_decomposed|cadence|dim_order_ops|torchao|et_vk)?_*(?=[a-z])")
_WORD = re.compile(r"(?<![\w.])(?<!::)\w++(?!\.\w|::)")  # no part of a dotted name: ops keep theirs
_NAME_WORDS = re.compile(r"_(default|copy|per_tensor)(?=_|$)")


@dataclass(frozen=True, slots=True)
class Shown:
    """One argument that a label shows."""

    name: str
    """Parameter name in the op's schema."""
    index: int
    """Its position, for targets without a schema."""
    prefix: str = ""
    """Text in front of it, such as `dim=`."""
    silent: tuple[str, ...] = ()
    """Texts of the values that are not worth a word, such as a stride of `1`."""


_DIM = Shown("dim", 1, "dim=")
_ONES = ("1", "[1]", "[1,1]", "[1,1,1]")
_ZEROS = ("0", "[0]", "[0,0]", "[0,0,0]")
_SHOWN: Mapping[str, tuple[Shown, ...]] = {
    "permute": (Shown("dims", 1),),
    "view": (Shown("size", 1),),
    "reshape": (Shown("shape", 1),),
    "unsafe_view": (Shown("size", 1),),
    "expand": (Shown("size", 1),),
    "repeat": (Shown("repeats", 1),),
    "transpose": (Shown("dim0", 1), Shown("dim1", 2)),
    "select": (_DIM, Shown("index", 2, "index=")),
    "cat": (_DIM,),
    "stack": (_DIM,),
    "squeeze": (_DIM,),
    "unsqueeze": (_DIM,),
    "split": (Shown("split_size", 1), Shown("dim", 2, "dim=")),
    "split_with_sizes": (Shown("split_sizes", 1), Shown("dim", 2, "dim=")),
    "chunk": (Shown("chunks", 1), Shown("dim", 2, "dim=")),
    "constant_pad_nd": (Shown("pad", 1), Shown("value", 2, "value=", ("0",))),
    "index_select": (_DIM,),
    "gather": (_DIM,),
    "flip": (Shown("dims", 1),),
    "mean": (_DIM,),
    "sum": (_DIM,),
    "amax": (_DIM,),
    "amin": (_DIM,),
    "argmax": (_DIM,),
    "softmax": (_DIM,),
    "log_softmax": (_DIM,),
    "cumsum": (_DIM,),
    "layer_norm": (Shown("normalized_shape", 1),),
    "native_layer_norm": (Shown("normalized_shape", 1),),
    "full": (Shown("size", 0), Shown("fill_value", 1, "of ")),
    "clamp": (Shown("min", 1, "min="), Shown("max", 2, "max=")),
    "hardtanh": (Shown("min_val", 1, "min="), Shown("max_val", 2, "max=")),
    "to": (Shown("dtype", 1),),
    "to_dim_order": (Shown("dtype", 1),),
    "convolution": (
        *(Shown("stride", 3, "stride=", _ONES), Shown("padding", 4, "pad=", _ZEROS)),
        *(Shown("dilation", 5, "dilation=", _ONES), Shown("groups", 8, "groups=", _ONES)),
    ),
    "conv1d": (Shown("stride", 3, "stride=", _ONES), Shown("groups", 6, "groups=", _ONES)),
    "conv2d": (
        *(Shown("stride", 3, "stride=", _ONES), Shown("padding", 4, "pad=", _ZEROS)),
        Shown("groups", 6, "groups=", _ONES),
    ),
    "max_pool2d": (Shown("kernel_size", 1), Shown("stride", 2, "stride=")),
    "max_pool2d_with_indices": (Shown("kernel_size", 1), Shown("stride", 2, "stride=")),
    "avg_pool2d": (Shown("kernel_size", 1), Shown("stride", 2, "stride=")),
    "adaptive_avg_pool2d": (Shown("output_size", 1, "to "),),
    "getitem": (Shown("", 1),),
    "sym_size": (Shown("dim", 1, "dim="),),
}
"""Which arguments a label shows, by the op's plain name."""

_SPREAD = {"permute", "view", "reshape", "expand", "repeat"}
"""Methods that take their sizes one by one."""

_ARITHMETIC = {"add", "sub", "mul", "div", "pow", "rsub", "remainder", "eq", "ne", "lt", "le", "gt", "ge"}


def op_label(
    node: NodeState,
    ops: Mapping[str, OpInfo] = NO_OPS,
    name_of: NameOf | None = None,
    constant_of: ConstantOf | None = None,
) -> str:
    """The op's short name with the argument that matters: `permute [0,2,1]`, `slice dim=1 0:8`.

    A placeholder or constant shows the name that it goes by; for quantization see `qparams_text`.
    """
    if node.op == "output":
        return "output"
    if node.op in ("placeholder", "get_attr"):
        return _constant_label(node)
    name = op_name(node.target)
    words = [_op_word(node), *_argument_words(node, name.plain, ops, name_of)]
    found = qparams(node, ops)
    if found is not None:
        words.append(qparams_text(found, name_of, constant_of))
    return " ".join(word for word in words if word)


def label_lines(
    node: NodeState,
    ops: Mapping[str, OpInfo] = NO_OPS,
    name_of: NameOf | None = None,
    constant_of: ConstantOf | None = None,
) -> tuple[str, ...]:
    """The lines of a box: what it does, then dtype, shape and bytes of what it makes."""
    first = op_label(node, ops, name_of, constant_of)
    size = spec_bytes(node.spec)
    second = spec_text(node.spec) if node.op != "output" else ""
    if second and size is not None:
        second = f"{second}  {bytes_text(size)}"
    return (first, second) if second else (first,)


def qparams_text(found: QParams, name_of: NameOf | None = None, constant_of: ConstantOf | None = None) -> str:
    """`s=0.0213 z=-3`; per channel `axis=0 s=0.0011…0.0042`; scales that ops compute by the ops' names."""
    if found.source is not None:
        own, source = (_scale_text(each, name_of, constant_of) for each in (found, found.source))
        return f"{source} → {own}"
    ranges = _extents_text(found, constant_of) if constant_of is not None else ""
    words = []
    if found.scheme == "per_channel":
        words.append(f"axis={found.axis}" if ranges else f"per channel axis={found.axis}")
    elif found.scheme == "per_channel_group":
        words.append(f"per group of {found.block[0] if found.block else '?'}")
    elif found.scheme == "per_token":
        words.append("per token")
    elif found.scheme == "affine" and found.block:
        words.append(f"block {value_text(found.block)}")
    if found.scheme in ("per_tensor", "affine") or not found.tensor_valued:
        words.append(_scale_text(found, name_of, constant_of))
    else:
        words.append(ranges)
    return " ".join(word for word in words if word)


def short_name(name: str) -> str:
    """A node's name without what every name has: `aten_view_copy_default_3` -> `view_3`."""
    bare = _NAME_WORDS.sub("", _NAME_PREFIXES.sub("", name))
    return bare or name


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Short names for nodes that are shown together; where two would read alike, both stay whole."""
    whole = list(dict.fromkeys(names))
    counts: dict[str, int] = {}
    for name in whole:
        counts[short_name(name)] = counts.get(short_name(name), 0) + 1
    return {name: short_name(name) if counts[short_name(name)] == 1 else name for name in whole}


def shortened(texts: Sequence[str]) -> list[str]:
    """Texts that are shown together with the names of nodes in them made short, save where two read alike."""
    words = {word for text in texts for word in _WORD.findall(text)}
    short = short_names(words)

    def of(found: re.Match[str]) -> str:
        name = short[found[0]]
        return found[0] if name == found[0].lstrip("_") else name

    return [_WORD.sub(of, text) for text in texts]


def _constant_label(node: NodeState) -> str:
    constant = node.constant
    if constant is None or constant.kind == "user_input":
        return "input" if node.op == "placeholder" else node.target
    return f"{constant.kind} {constant.target}"


def _op_word(node: NodeState) -> str:
    name = op_name(node.target)
    word = name.plain
    kind = role(node)
    if kind in (Role.QUANTIZE, Role.DEQUANTIZE):
        for scheme in ("_per_tensor", "_per_channel_group", "_per_channel", "_per_token", "_affine"):
            word = word.replace(scheme, "")
    elif kind is Role.DELEGATE and node.op == "call_function":
        word = "delegate"
    return (
        word
        if name.namespace in _QUIET_NAMESPACES or node.op != "call_function"
        else f"{name.namespace}.{word}"
    )


def _argument_words(
    node: NodeState, plain: str, ops: Mapping[str, OpInfo], name_of: NameOf | None
) -> Iterable[str]:
    if plain == "slice":
        dim, start, stop, step = (
            _argument(node, ops, Shown(name, index))
            for index, name in enumerate(("dim", "start", "end", "step"), 1)
        )
        return (
            f"dim={value_text(0 if dim is None else dim, name_of)}",
            slice_text(start, stop, step, name_of),
        )
    shown = ((item, _argument(node, ops, item)) for item in _SHOWN.get(plain, ()))
    texts = ((item, value_text(value, name_of)) for item, value in shown if value is not None)
    words = [
        item.prefix + (_once(text) if item.prefix else text)
        for item, text in texts
        if text not in item.silent
    ]
    if plain == "getitem" and words:
        return (f"[{words[0]}]",)
    if plain in _ARITHMETIC:
        return [number_text(value) for value in node.args if isinstance(value, int | float)]
    return words


def _argument(node: NodeState, ops: Mapping[str, OpInfo], shown: Shown) -> Value:
    """An argument by its name where the schema is known, else by position."""
    known = ops.get(node.target)
    if known is not None and shown.name in known.params:
        return known.argument(node, shown.name)
    by_name = next((value for key, value in node.kwargs if key == shown.name), None)
    if by_name is not None or (known is not None and known.params):
        return by_name
    if node.op == "call_method" and op_name(node.target).plain in _SPREAD and type(node.args[-1]) is int:
        return node.args[shown.index :]
    return node.args[shown.index] if shown.index < len(node.args) else None


def _once(text: str) -> str:
    """`[2,2]` as `2`: one word for equal sizes in all dimensions."""
    items = text[1:-1].split(",") if text.startswith("[") else []
    return items[0] if len(items) > 1 and len(set(items)) == 1 else text


def _scale_text(found: QParams, name_of: NameOf | None, constant_of: ConstantOf | None = None) -> str:
    words = []
    for letter, value in (("s", found.scale), ("z", found.zero_point)):
        if isinstance(value, Ref):
            held = _extent_text(constant_of(value.node)) if constant_of else ""
            words.append(f"{letter}={held or (short_name(name_of(value.node)) if name_of else '·')}")
        elif value is not None:
            words.append(f"{letter}={value_text(value)}")
    return " ".join(words)


def _extents_text(found: QParams, constant_of: ConstantOf) -> str:
    """The ranges of the scales and of zero points other than 0, where constants hold them."""
    held = (
        (letter, constant_of(value.node) if isinstance(value, Ref) else None)
        for letter, value in (("s", found.scale), ("z", found.zero_point))
    )
    told = ((letter, _extent_text(constant)) for letter, constant in held)
    return " ".join(f"{letter}={text}" for letter, text in told if text and (letter, text) != ("z", "0"))


def _extent_text(constant: Constant | None) -> str:
    """`0.0011…0.0042`, or one number where the smallest value is the largest; empty if not measured."""
    if constant is None or constant.extent is None:
        return ""
    low, high = constant.extent
    return number_text(low) if low == high else f"{low:.2g}…{high:.2g}"
