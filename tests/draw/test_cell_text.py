import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from qdqviz.draw.text import _NARROW, center, cut, cut_middle, cut_words, graphemes, pad, width, wrapped
from qdqviz.ir.text import safe_text


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("permute", 10, "permute"),
        ("permute", 7, "permute"),
        ("permute", 6, "permu…"),
        ("permute", 1, "…"),
        ("permute", 0, ""),
        ("日本語", 6, "日本語"),
        ("日本語", 5, "日本…"),
        ("日本語", 4, "日…"),
        ("e\u0301e\u0301e\u0301", 2, "e\u0301…"),
    ],
)
def test_text_is_cut_to_columns_with_an_ellipsis(text, columns, shown):
    assert cut(text, columns) == shown


@given(st.text(), st.integers(1, 30))
def test_a_text_in_lines_keeps_all_words_that_fit(text, columns):
    lines = wrapped(text, columns)
    assert all(cell_len(line) <= columns for line in lines)
    short = [word for word in text.split(" ") if cell_len(word) <= columns]
    assert [word for word in " ".join(lines).split(" ") if "…" not in word] == [
        word for word in short if "…" not in word
    ]


def test_names_are_cut_in_the_middle_because_they_differ_at_their_ends():
    assert cut_middle("dequantize_per_channel_12", 15) == "dequant…nnel_12"
    assert cut_middle("dequantize_12", 15) == "dequantize_12"
    assert cut_middle("dequantize_12", 3) == "de…"


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [
        ("remove relu", 20, "remove relu"),
        ("dequantize_per_channel below permute", 26, "dequan…annel below permute"),
        ("quantize_per_tensor_1 above permute_copy_9", 26, "quan…or_1 above permu…py_9"),
        ("x" * 30, 9, "xxxx…xxxx"),
        ("a b c d e f", 6, "a b c…"),
    ],
)
def test_of_a_title_the_names_are_cut_so_that_the_other_words_stay(text, columns, shown):
    assert cut_words(text, columns) == shown and width(shown) <= columns


def test_combining_characters_without_a_base_get_one():
    assert list(graphemes("\u0301a")) == [("◌\u0301", 1), ("a", 1)]


@given(st.text(max_size=30).map(safe_text), st.integers(0, 20))
def test_whatever_the_text_it_fills_exactly_the_columns(text, columns):
    assert width(cut(text, columns)) <= columns
    assert width(cut_middle(text, columns)) <= columns
    assert width(center(text, columns)) == columns
    assert width(pad(text, columns)) == columns


@given(st.text(max_size=30).map(safe_text))
def test_the_widths_of_its_characters_add_up(text):
    assert all(wide in (1, 2) for _, wide in graphemes(text))


def test_what_is_taken_for_narrow_is_narrow():
    narrow = [chr(code) for code in range(0x20, 0x2900) if _NARROW.fullmatch(chr(code))]
    assert len(narrow) > 1000
    assert {cell_len(character) for character in narrow} == {1}
