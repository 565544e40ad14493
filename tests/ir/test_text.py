import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qdqviz.ir.node import ScalarSpec, SymDim, TensorSpec
from qdqviz.ir.text import bytes_text, safe_text, spec_bytes, spec_text, value_text
from qdqviz.ir.values import Atom, DictArg, ListArg, Ref, SliceArg


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1, "1 B"),
        (999, "999 B"),
        (1000, "0.98 KiB"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (12345, "12.1 KiB"),
        (10**6, "977 KiB"),
        (1024 * 1024, "1 MiB"),
        (5 * 1024**3, "5 GiB"),
        (5000 * 1024**3, "5000 GiB"),
        (-2048, "-2 KiB"),
    ],
)
def test_bytes_read_in_three_digits(count, text):
    assert bytes_text(count) == text


def test_specs_read_short():
    assert spec_text(TensorSpec("int8", (1, SymDim("s0", 4)))) == "int8 1×s0"
    assert spec_text(TensorSpec("float64", ())) == "fp64 scalar"
    assert spec_text(ScalarSpec("SymInt", "s0")) == "SymInt s0"
    assert spec_text((TensorSpec("bool", (2,)), None)) == "(bool 2, ?)"
    assert spec_text(None) == ""


def test_bytes_of_several_outputs_add_up_unless_one_is_unknown():
    known = TensorSpec("float32", (2, 3))
    assert spec_bytes((known, (known, None))) == 48
    assert spec_bytes((known, TensorSpec("float32", (SymDim("u0", None),)))) is None
    assert spec_bytes(ScalarSpec("int", "3")) is None


def test_arguments_read_like_source():
    value = ListArg(
        (
            1,
            0.5,
            None,
            "a",
            True,
            (Ref(3),),
            SliceArg(None, 4, None),
            DictArg((("k", 1),)),
            Atom("dtype", "float16"),
        )
    )
    assert value_text(value, lambda node: f"n{node}") == "[1,0.5,None,'a',True,[n3],0:4,{'k': 1},fp16]"
    assert value_text(Ref(3)) == "·"


def test_controls_become_visible_symbols():
    assert safe_text("a\x1b[31mb\nc\td\x7f") == "a␛[31mb␊c␉d␡"
    assert safe_text("\u202eabc\u2066\u200b\u2028") == "�abc���"
    assert safe_text("\x9b31m") == "�31m"
    assert safe_text("\ud800") == "�"
    assert safe_text("日本 e\u0301 [bold] ×") == "日本 e\u0301 [bold] ×"


@given(st.text(alphabet=st.characters()))
def test_safe_text_has_no_controls_and_keeps_its_length(text):
    shown = safe_text(text)
    assert len(shown) == len(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in shown)
    assert not any(
        unicodedata.bidirectional(character)
        in ("RLO", "LRO", "RLE", "LRE", "PDF", "RLI", "LRI", "FSI", "PDI")
        for character in shown
    )
    assert safe_text(shown) == shown
