"""Hypothesis strategies for source text of small functions whose every step leaves a mark."""

from __future__ import annotations

import textwrap

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d")
"""Parameters of the function; what they are bound to is drawn by the test."""

ATOMS = (*NAMES, *NAMES, "x", "x", "None", "True", "False", "0", "1", "'s'", "[]", "(1, a)", "g()")

EXPRESSIONS = (
    "f(EXPR)",
    "(not EXPR)",
    "(EXPR and EXPR)",
    "(EXPR or EXPR)",
    "(EXPR and EXPR or EXPR)",
    "(\nEXPR\nand\nEXPR\n)",
    "(not (EXPR or EXPR))",
    "(not (\nEXPR and\n not EXPR))",
    "(EXPR == EXPR)",
    "(EXPR\n!=\nEXPR)",
    "(EXPR < EXPR)",
    "(EXPR is EXPR)",
    "(EXPR is not EXPR)",
    "(EXPR in EXPR)",
    "(EXPR not in EXPR)",
    "(EXPR in (EXPR, EXPR))",
    "(EXPR < EXPR <= EXPR)",
    "(EXPR\n== EXPR\n!= EXPR\n< EXPR)",
    "(not EXPR < EXPR < EXPR)",
    "(EXPR if EXPR else EXPR)",
    "(\nEXPR\nif\nEXPR\nelse\nEXPR)",
    "[y for y in (EXPR, EXPR) if EXPR]",
    "[y for y in\n (EXPR, x)\n if EXPR\n if y or EXPR]",
    "{y: EXPR for y in (0, 1) if EXPR}",
    "any(EXPR for y in (1, 2) if EXPR)",
    "all([EXPR, EXPR])",
    "any((EXPR, *EXPR))",
    "(x := EXPR)",
    "(lambda y: EXPR or y)(EXPR)",
    "(lambda: [x, EXPR])()",
    "f'{f(x) is None}'",
    "sorted((EXPR, EXPR), key=lambda y: y is EXPR)",
    "next((y for y in (0, 1, 2) if EXPR), EXPR)",
    "list(map(f, (EXPR, EXPR)))",
    "next(filter(lambda y: EXPR, [EXPR, x]), EXPR)",
    "max((EXPR, EXPR), key=lambda y: EXPR or 0)",
    "isinstance(EXPR, int)",
    "(not isinstance(EXPR, (int, str)))",
    "f(EXPR).name.startswith(EXPR)",
    "f(*[EXPR], **{'k': EXPR})",
)

SIMPLE = (
    "x = EXPR",
    "f(EXPR)",
    "assert EXPR, f('message')",
    "return EXPR",
    "f(EXPR)",
    "x, *z = (EXPR, EXPR)",
    "f(sorted(locals()), EXPR)",
    "d[EXPR] = 1",
    "x += f(1)",
    "pass",
    "del x",
    "raise KeyError(x)",
    "return",
    "BREAK",
    "CONTINUE",
    "YIELD",
)

NESTED = (
    "if EXPR:\nBODY",
    "if EXPR:\nBODY\nelif EXPR:\nBODY\nelse:\nBODY",
    "if (\nEXPR):\nBODY\nelse:\nBODY",
    "for y in (EXPR, EXPR):\nBODY\nelse:\nBODY",
    "for i, (y, *z) in enumerate([EXPR, (1, 2)]):\nBODY",
    "for y in f(\nEXPR):\nBODY",
    "for y in h(EXPR, 3):\nBODY",
    "n# = 0\nwhile (n# := n# + 1) < 3 and EXPR:\nBODY\nelse:\nBODY",
    "work# = [EXPR, EXPR]\nwhile work#:\n    y = work#.pop()\nBODY",
    "work# = [EXPR, EXPR]\nn# = 0\nwhile n# < len(work#):\n    y = work#[n#]\n    n# += 1\nBODY",
    "try:\nBODY\nexcept KeyError:\nBODY",
    "try:\nBODY\nexcept (KeyError, TypeError) as e:\n    f(e.args)\nBODY\nelse:\nBODY\nfinally:\nBODY",
    "try:\nBODY\nfinally:\nBODY",
    "with suppress(KeyError):\nBODY",
    "match EXPR:\n    case 0 | None:\n        x = 0\n    case [y, *_] if EXPR:\n        x = y\nx = f(x)",
    "match EXPR:\n    case bool() if EXPR:\n        return x\n    case y:\n        x = f(y)",
    "def inner(y=EXPR):\n    nonlocal x\nBODY\nx = 1\ninner()",
    "def inner():\n    yield from f((EXPR, 1))\n    x = yield EXPR\n    return x\nx = list(inner())",
    "class Local:\n    __flag = EXPR\n    def ask(me):\n        return me.__flag or EXPR\nx = Local().ask()",
)


@st.composite
def functions(draw: st.DrawFn) -> str:
    """Source of `def function(a, b, c, d)`, perhaps a generator; it terminates."""
    budget = draw(st.integers(2, 14))
    loops = 0

    def pick(choices: tuple[str, ...]) -> str:
        return draw(st.sampled_from(choices))

    def expression(depth: int) -> str:
        if depth == 0 or draw(st.integers(0, 3)) == 0:
            return pick(ATOMS)
        return fill(pick(EXPRESSIONS), depth - 1)

    def statement(depth: int) -> str:
        nonlocal budget, loops
        budget -= 1
        loops += 1
        nests = depth > 0 and budget > 0 and draw(st.booleans())
        # Each loop has variables of its own: sharing them, two nested ones would never end.
        return fill(pick(NESTED if nests else SIMPLE).replace("#", str(loops)), depth)

    def fill(template: str, depth: int) -> str:
        while "EXPR" in template:
            template = template.replace("EXPR", expression(min(depth, 2)), 1)
        while "BODY" in template:
            count = draw(st.integers(1, 2))
            block = "\n".join(statement(depth - 1) for _ in range(count))
            template = template.replace("BODY", textwrap.indent(block, "    "), 1)
        return template

    body = ""
    while budget > 0:
        drawn = statement(2)
        if draw(st.booleans()):  # go on after an exception, so that more than the first statement is run
            drawn = f"try:\n{textwrap.indent(drawn, '    ')}\nexcept Exception as e:\n    f(lines(e))"
        body += drawn + "\n"
    yields = "yield f(x)" if draw(st.booleans()) else "f(x)"
    body = "x = a\n" + _place_jumps(body, yields) + "return x\n"
    return "def function(a, b, c, d):\n    'A docstring.'\n" + textwrap.indent(body, "    ")


def _place_jumps(body: str, yields: str) -> str:
    """Replace jumps by what is allowed where they stand."""
    lines = body.split("\n")
    for index, line in enumerate(lines):
        word = line.strip()
        if word in ("BREAK", "CONTINUE"):
            keep = _in_loop(lines, index)
            lines[index] = line.replace(word, word.lower() if keep else "pass")
        elif word == "YIELD":
            lines[index] = line.replace(word, yields)
    return "\n".join(lines)


def _in_loop(lines: list[str], index: int) -> bool:
    """Whether the innermost statements around are a loop's body."""
    depth = len(lines[index]) - len(lines[index].lstrip())
    for line in reversed(lines[:index]):
        indent = len(line) - len(line.lstrip())
        if line.strip() and indent < depth:
            depth = indent
            if line.strip().startswith(("for ", "while ")):
                return True
            if line.strip().startswith(("def ", "class ")):
                return False
    return False
