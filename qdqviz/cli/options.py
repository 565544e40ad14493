"""Arguments that several subcommands share."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError

TARGET_HELP = "a sample's name, path.py:callable, package.module:callable, or a .pt2 file"


def add_target(parser: ArgumentParser, *, traces: bool = False) -> None:
    """Add TARGET and what is needed to load it.

    Args:
        parser: The command's parser.
        traces: Whether TARGET may also be a trace.
    """
    parser.add_argument(
        "target", metavar="TARGET", help=f"{TARGET_HELP}{', or a .qdqtrace' if traces else ''}"
    )
    add_loading(parser)


def add_trace(parser: ArgumentParser) -> None:
    """Add TRACE, which may also be a target together with `-p`."""
    parser.add_argument(
        "target", metavar="TRACE", help=f"a .qdqtrace; or, with -p, {TARGET_HELP}, recorded on the fly"
    )
    add_passes(parser)
    add_loading(parser)


def add_passes(parser: ArgumentParser, *, required: bool = False) -> None:
    """Add `-p PASSES`."""
    parser.add_argument(
        "-p",
        "--passes",
        metavar="PASSES",
        action="append",
        required=required,
        help="passes to run, in this order, separated by commas; may repeat (`qdqviz passes` lists them)",
    )


def add_loading(parser: ArgumentParser) -> None:
    """Add the options that say how a target is loaded."""
    parser.add_argument("--method", metavar="NAME", help="the method, where the program has several")
    parser.add_argument(
        "--import",
        dest="imports",
        metavar="MODULE",
        action="append",
        help="import this first, for the ops that it registers; may repeat",
    )


def add_json(parser: ArgumentParser) -> None:
    """Add `--json`."""
    parser.add_argument("--json", action="store_true", help="write JSON (see qdqviz/schemas)")


def add_step(parser: ArgumentParser, *, optional: bool = False, first: int = 1) -> None:
    """Add STEP, a number from `first` on."""

    def step_number(text: str) -> int:
        if not text.isdecimal() or int(text) < first:
            raise ArgumentTypeError(f"a step is a number from {first} on, not {text!r}")
        return int(text)

    parser.add_argument(
        "step",
        metavar="STEP",
        nargs="?" if optional else None,
        type=step_number,
        help="a step's number, as `qdqviz steps` lists them",
    )


def add_radius(parser: ArgumentParser) -> None:
    """Add `--radius`."""
    parser.add_argument(
        "--radius",
        metavar="N",
        type=_radius,
        default=2,
        help="how many uses away from what changed a node may be to be shown (default: 2)",
    )


def _radius(text: str) -> int:
    if not text.isdecimal():
        raise ArgumentTypeError(f"a radius is a number from 0 on, not {text!r}")
    return int(text)
