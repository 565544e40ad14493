import re
from itertools import combinations

import pytest

from qdqviz.draw.colour import Colour, contrast
from qdqviz.draw.theme import (
    DEFAULT_THEME,
    TINT,
    load_theme,
    load_themes,
    read_theme,
    theme_names,
    themes_folder,
)
from qdqviz.errors import ThemeError
from qdqviz.ir.roles import Role

NAMES = ["dark", "colour-blind", "high-contrast", "light"]


def wcag_contrast(one, other):
    """The ratio by the formulas of WCAG 2.2, written out again from the standard."""

    def luminance(colour):
        total = 0.0
        for channel, weight in ((colour.red, 0.2126), (colour.green, 0.7152), (colour.blue, 0.0722)):
            value = channel / 255
            total += weight * (value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4)
        return total

    lighter, darker = max(luminance(one), luminance(other)), min(luminance(one), luminance(other))
    return (lighter + 0.05) / (darker + 0.05)


def text_on_ground(theme):
    """(what, text colour, ground colour) of every text that is drawn."""
    for ground in ("background", "surface", "panel"):
        for key in ("foreground", "muted", "primary", "secondary", "accent", "ok", "warning", "error"):
            yield f"{key} on {ground}", theme.ui[key], theme.ui[ground]
    yield "foreground on selection", theme.ui["foreground"], theme.ui["selection"]
    yield "selected", theme.style("selected").foreground, theme.style("selected").background
    for role in Role:
        tint = theme.tint(role)
        yield f"{role} on its tint", theme.roles[role], tint
        yield f"detail on the tint of {role}", theme.ui["foreground"], tint
        yield f"name on the tint of {role}", theme.ui["muted"], tint
        yield f"frame of {role}", theme.roles[role], theme.background
    for mark, colour in theme.marks.items():
        yield f"mark {mark}", colour, theme.background
        yield f"mark {mark} on a panel", colour, theme.ui["panel"]
    for value, colour in theme.values.items():
        yield f"value {value}", colour, theme.background


@pytest.mark.parametrize("name", NAMES)
def test_every_text_can_be_read_on_its_ground(name):
    least = 7.0 if name == "high-contrast" else 4.5
    bad = {
        what: ratio
        for what, text, ground in text_on_ground(load_theme(name))
        if (ratio := wcag_contrast(text, ground)) < least
    }
    assert bad == {}


def test_contrast_is_that_of_the_standard():
    pairs = [
        (Colour.parse(a), Colour.parse(b))
        for a, b in [("#000", "#fff"), ("#777777", "#fff"), ("#12ab9f", "#f07")]
    ]
    for one, other in pairs:
        assert contrast(one, other) == pytest.approx(wcag_contrast(one, other))
    assert contrast(*pairs[0]) == pytest.approx(21)


def seen_by(colour, kind):
    """How a colour looks without red (protan) or green (deutan) cones: Machado, Oliveira, Fernandes 2009."""
    rows = {
        "protan": (
            (0.152286, 1.052583, -0.204868),
            (0.114503, 0.786281, 0.099216),
            (-0.003882, -0.048116, 1.051998),
        ),
        "deutan": (
            (0.367322, 0.860646, -0.227968),
            (0.280085, 0.672501, 0.047413),
            (-0.011820, 0.042940, 0.968881),
        ),
    }[kind]
    linear = [_linear(part / 255) for part in (colour.red, colour.green, colour.blue)]
    return tuple(min(1.0, max(0.0, sum(w * p for w, p in zip(row, linear, strict=True)))) for row in rows)


def _linear(value):
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def distance(one, other):
    """CIE 1976 colour difference of two linear sRGB colours (D65)."""

    def lab(linear):
        r, g, b = linear
        xyz = (
            (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
            0.2126 * r + 0.7152 * g + 0.0722 * b,
            (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
        )
        x, y, z = (value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in xyz)
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)

    return sum((p - q) ** 2 for p, q in zip(lab(one), lab(other), strict=True)) ** 0.5


def edge_colours(theme):
    """What an edge may have: the colour of what it carries, or of what the step does to it."""
    return {key: theme.values[key] for key in ("real", "integer")} | {
        key: theme.marks[key] for key in ("added", "removed")
    }


@pytest.mark.parametrize("name", NAMES)
def test_every_theme_tells_edges_apart(name):
    for (one, first), (other, second) in combinations(edge_colours(load_theme(name)).items(), 2):
        pair = [tuple(_linear(part / 255) for part in (c.red, c.green, c.blue)) for c in (first, second)]
        assert distance(*pair) > 35, (one, other)


@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_the_colour_blind_theme_keeps_apart_what_matters(kind):
    theme = load_theme("colour-blind")
    groups = [
        {key: theme.marks[key] for key in ("added", "removed", "rewired", "changed")},
        edge_colours(theme),
        {
            role: theme.roles[role]
            for role in (Role.QUANTIZE, Role.DEQUANTIZE, Role.REQUANTIZE, Role.MOVEMENT)
        },
        {key: theme.ui[key] for key in ("ok", "error")},
    ]
    for group in groups:
        for (one, first), (other, second) in combinations(group.items(), 2):
            assert distance(seen_by(first, kind), seen_by(second, kind)) > 20, (one, other)


def test_all_themes_load_and_the_default_comes_first():
    loaded, failed = load_themes()
    assert failed == {}
    assert list(loaded) == NAMES == list(theme_names())
    assert NAMES[0] == DEFAULT_THEME
    assert [theme.is_dark for theme in loaded.values()] == [True, True, True, False]


def test_the_dark_flag_says_what_the_ground_is():
    for theme in load_themes()[0].values():
        assert theme.is_dark == (theme.background.luminance < theme.ui["foreground"].luminance)


def test_the_tint_is_a_little_of_the_role():
    theme = load_theme("dark")
    black = Colour(0, 0, 0)
    assert black.mixed(Colour(255, 255, 255), TINT).red == round(255 * TINT)
    assert theme.tint(Role.QUANTIZE) != theme.background


@pytest.fixture
def broken(tmp_path):
    """Writes the dark theme with one line replaced."""

    def write(pattern, line):
        text, count = re.subn(pattern, line, (themes_folder() / "dark.toml").read_text(), count=1, flags=re.M)
        assert count == 1
        path = tmp_path / "mine.toml"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize(
    ("pattern", "line", "message"),
    [
        (r"^quantize = .*$", "", "the key roles.quantize is missing"),
        (r"^added = .*$", 'added = "green"', "marks.added = 'green' is no colour: write it as '#rrggbb'"),
        (r"^added = .*$", "added = 7", "marks.added = 7 is no colour: write it as '#rrggbb'"),
        (r"^real = .*$", 'rael = "#fff"', "unknown key values.rael: did you mean values.real?"),
        (
            *(r"^real = (.*)$", r'real = \1\nextra = "#fff"'),
            "unknown key values.extra: there are real, integer, other",
        ),
        (r"^title = .*$", "", "the key 'title' is missing"),
        (r"^title = .*$", "title = 3", "title = 3 is not a text"),
        (r"^title = ", "tittle = ", "unknown key tittle: did you mean title?"),
        (r"^dark = .*$", 'dark = "yes"', "dark = 'yes' is not true or false"),
        (r"^\[ui\]$", "[user]", "unknown key user: there are title, dark, ui, roles, marks, values"),
    ],
)
def test_a_bad_theme_file_says_which_key_is_wrong(broken, pattern, line, message):
    path = broken(pattern, line)
    with pytest.raises(ThemeError) as caught:
        load_theme(str(path))
    assert str(caught.value) == f"the theme {path}: {message}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[ui]\nbakground = "#000"', "unknown key ui.bakground: did you mean ui.background?"),
        ('colours = "all"', "unknown key colours: there are title, dark, ui, roles, marks, values"),
        ("ui = 3", "ui is a table of colours, not 3: write [ui]"),
        ('[marks]\nadded = "green"', "marks.added = 'green' is no colour: write it as '#rrggbb'"),
        ("", "the key 'title' is missing"),
        ('title = "mine"\ndark = true', "the table [ui] is missing"),
    ],
)
def test_what_is_wrong_in_a_theme_is_told_before_what_is_missing(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with pytest.raises(ThemeError) as caught:
        load_theme(str(path))
    assert str(caught.value) == f"the theme {path}: {message}"


def test_a_users_own_theme_is_loaded_by_path(broken):
    path = broken(r"^background = .*$", 'background = "#123"')
    theme = load_theme(str(path))
    assert theme.name == "mine"
    assert theme.background == Colour(0x11, 0x22, 0x33)


def test_unknown_names_files_that_are_not_there_and_no_toml_are_one_line(tmp_path):
    with pytest.raises(
        ThemeError, match="no theme 'drak': there are dark, colour-blind, high-contrast, light"
    ):
        load_theme("drak")
    with pytest.raises(ThemeError, match=r"cannot be read \(No such file or directory\)"):
        load_theme(str(tmp_path / "x.toml"))
    (tmp_path / "bad.toml").write_text("= =")
    with pytest.raises(ThemeError, match="is not TOML"):
        read_theme(tmp_path / "bad.toml")
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ThemeError, match="is not TOML"):
        read_theme(tmp_path / "binary.toml")


def test_in_a_wheel_the_themes_are_inside_the_package(tmp_path, monkeypatch):
    package = tmp_path / "qdqviz"
    (package / "draw").mkdir(parents=True)
    (package / "themes").mkdir()
    monkeypatch.setattr("qdqviz.draw.theme.__file__", str(package / "draw" / "theme.py"))
    assert themes_folder() == package / "themes"
    (package / "themes").rmdir()
    with pytest.raises(ThemeError, match="install qdqviz again"):
        themes_folder()
