"""`qdqviz golden`: keep what passes do to models as small texts, and see when that changes."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from qdqviz.cli.command import Command
from qdqviz.cli.golden_files import Subject, golden_files, read_golden, record_lines, text_of
from qdqviz.cli.options import TARGET_HELP, add_json, add_loading, add_passes
from qdqviz.cli.output import Output
from qdqviz.errors import QdqvizError, UsageError


class Golden(Command):
    """Keep what passes do to models as small texts, and see when that changes.

    A golden holds the rewrites of each pass in a few words, counts, and the graph at last; node names that
    passes give do not count. `save DIR TARGET...` writes one for each target, `save DIR` all that are there
    anew; `check DIR` records everything again and exits with 1 where a golden no longer holds.

      qdqviz golden save goldens encoder model.py:build -p MyFusion
      qdqviz golden check goldens
    """

    def configure(self, parser: ArgumentParser) -> None:
        """Add what to do, DIR, TARGET, `-p` and `--json`."""
        parser.add_argument("action", metavar="save|check", choices=("save", "check"), help="what to do")
        parser.add_argument("folder", metavar="DIR", help="the folder of the goldens")
        parser.add_argument(
            "targets", metavar="TARGET", nargs="*", help=f"with save: {TARGET_HELP}; with check: only these"
        )
        add_passes(parser)
        add_loading(parser)
        add_json(parser)

    def run(self, options: Namespace, output: Output) -> int:
        """Save or check, and say for each golden what came of it."""
        folder = Path(options.folder)
        if options.action == "save":
            results = [_save(folder, each) for each in _to_save(folder, options)]
        else:
            results = [_check(each, output) for each in _to_check(folder, options)]
        if options.json:
            output.json([each.to_json() for each in results])
        else:
            _print(results, output)
        return int(any(each.status in ("differs", "failed") for each in results))


@dataclass(frozen=True)
class Result:
    """What came of one golden."""

    file: str
    """Its file."""
    subject: Subject
    """What it is about."""
    status: str
    """same, differs, failed (nothing could be recorded), written, or unchanged."""
    difference: tuple[str, ...] = ()
    """What differs, as a unified diff."""
    error: str | None = None
    """Why nothing could be recorded."""

    def to_json(self) -> dict[str, object]:
        """Its part of `golden --json` (schemas/golden.schema.json)."""
        return {
            "file": self.file,
            "target": self.subject.target,
            "passes": list(self.subject.passes),
            "status": self.status,
            "difference": list(self.difference),
            "error": self.error,
        }


def _to_save(folder: Path, options: Namespace) -> list[Subject]:
    if options.targets:
        if not options.passes:
            raise UsageError("say with -p which passes to run on the targets")
        passes, imports = tuple(options.passes), tuple(options.imports or ())
        return [Subject(each, passes, options.method, imports) for each in dict.fromkeys(options.targets)]
    if options.passes:
        raise UsageError("say which targets the passes are to run on, or leave out -p to save all anew")
    return [read_golden(each)[0] for each in golden_files(folder)]


def _to_check(folder: Path, options: Namespace) -> list[Path]:
    if options.passes or options.method or options.imports:
        raise UsageError(
            "goldens hold their passes and how to load them: leave out -p, --method and --import"
        )
    files = golden_files(folder)
    if not options.targets:
        return files
    found = [each for each in files if read_golden(each)[0].target in options.targets]
    there = {read_golden(each)[0].target for each in found}
    missing = [each for each in options.targets if each not in there]
    if missing:
        raise UsageError(f"no golden of {missing[0]} in {folder}")
    return found


def _save(folder: Path, subject: Subject) -> Result:
    lines = _recorded(subject)
    path = folder / subject.file
    if path.exists() and read_golden(path)[1] == lines:
        return Result(str(path), subject, "unchanged")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(lines), encoding="utf-8")
    except OSError as error:
        raise QdqvizError(f"cannot write {path}: {error.strerror}") from error
    return Result(str(path), subject, "written")


def _check(path: Path, output: Output) -> Result:
    subject, expected = read_golden(path)
    try:
        found = _recorded(subject)
    except QdqvizError as error:
        output.error(f"{path}: {error}")
        return Result(str(path), subject, "failed", error=str(error))
    difference = tuple(unified_diff(expected, found, "golden", "now", lineterm="", n=2))
    return Result(str(path), subject, "differs" if difference else "same", difference)


def _recorded(subject: Subject) -> list[str]:
    # What a model or a pass prints is beside the result.
    with redirect_stdout(sys.stderr):
        return record_lines(subject)


def _print(results: Sequence[Result], output: Output) -> None:
    for each in results:
        output.line(f"{each.status:9}  {each.file}")
        for line in each.difference:
            output.line(f"    {line}")
