"""The catalogue: every pass that can be named here, found without importing any of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from qdqviz.passes.entry import PassEntry, ResolvedPass
from qdqviz.passes.families import PIPELINES, family_of
from qdqviz.passes.names import BUILTIN_MODULES, PIPELINE_SUMMARIES, builtin_path
from qdqviz.passes.needs import ImportNeeds
from qdqviz.passes.scan import ClassDefinition, find_pass_classes, read_classes
from qdqviz.passes.source_files import is_installed, package_root

OWN_FAMILY = "qdqviz"
"""Family of the built-in passes."""

OWN_PIPELINES = "qdqviz.passes.names:BUILTIN_PIPELINES"
"""Where the built-in pipelines are listed."""


class Catalogue:
    """The names of all passes: ours, the installed executorch's, and pipelines of both.

    Nothing is imported to list them: source is parsed. The scan is done once per catalogue, when first
    needed.
    """

    def __init__(self, executorch: Path | None = None) -> None:
        """Makes a catalogue of the installed executorch, or of the one whose package folder is given."""
        self._root = executorch if executorch is not None else package_root()

    def entries(self, text: str | None = None) -> list[PassEntry]:
        """Returns the entries that contain every word of `text`: ours, then pipelines, then upstream's.

        Args:
            text: Words, looked for in name, path, family and summary, whatever their case; None for all.
        """
        words = (text or "").lower().split()
        found = (*self.builtins, *self.pipelines, *self.upstream)
        return [entry for entry in found if all(word in _searchable(entry) for word in words)]

    def resolve(self, spec: str | Iterable[str]) -> list[ResolvedPass]:
        """Turns names into passes, importing them; see `qdqviz.passes.resolve.resolve`."""
        from qdqviz.passes.resolve import resolve

        return resolve(spec, self)

    @property
    def has_executorch(self) -> bool:
        """Whether there is an executorch whose passes can be named."""
        return self._root is not None

    def named(self, name: str, family: str | None = None) -> list[PassEntry]:
        """Returns the upstream passes of one class name, of one family or of all."""
        return [e for e in self.upstream if e.name == name and family in (None, e.family)]

    def suggestions(self, name: str, count: int = 3) -> list[str]:
        """Returns the names that look most like one that is unknown."""
        names = {entry.name.lower(): entry.name for entry in self.entries()}
        close = difflib.get_close_matches(name.lower(), names, n=count, cutoff=0.6)
        within = [lower for lower in sorted(names, key=len) if len(name) >= 4 and name.lower() in lower]
        return [names[lower] for lower in dict.fromkeys([*close, *within])][:count]

    @cached_property
    def builtins(self) -> list[PassEntry]:
        """The built-in passes, in the order of the default pipeline."""
        summaries = _builtin_summaries()
        missing = None if is_installed("torch") else "torch"
        return [
            PassEntry(
                name,
                "builtin",
                builtin_path(name),
                OWN_FAMILY,
                summaries[name],
                missing is None,
                missing,
            )
            for name in BUILTIN_MODULES
        ]

    @cached_property
    def pipelines(self) -> list[PassEntry]:
        """The pipelines, ours and upstream's."""
        missing = None if is_installed("torch") else "torch"
        own = [
            PassEntry(
                name,
                "pipeline",
                OWN_PIPELINES,
                OWN_FAMILY,
                summary,
                not missing,
                missing,
            )
            for name, summary in PIPELINE_SUMMARIES.items()
        ]
        return own + [self._upstream_pipeline(name, *place) for name, place in PIPELINES.items()]

    @cached_property
    def upstream(self) -> list[PassEntry]:
        """The pass classes of the installed executorch, by family and name; none if it is not installed."""
        if self._root is None:
            return []
        entries = [self._upstream_entry(found) for found in find_pass_classes(self._root)]
        return sorted(entries, key=lambda entry: (entry.family, entry.name, entry.path))

    @cached_property
    def families(self) -> frozenset[str]:
        """The families of the upstream passes."""
        return frozenset(entry.family for entry in self.upstream)

    @cached_property
    def _needs(self) -> ImportNeeds | None:
        return ImportNeeds(self._root) if self._root is not None else None

    def _missing(self, module: str) -> str | None:
        return self._needs.missing_for(module) if self._needs is not None else "executorch"

    def _upstream_entry(self, found: ClassDefinition) -> PassEntry:
        missing = self._missing(found.module)
        family = family_of(found.module)
        return PassEntry(found.name, "upstream", found.path, family, found.summary, missing is None, missing)

    def _upstream_pipeline(self, name: str, path: str, summary: str) -> PassEntry:
        module = path.partition(":")[0]
        missing = self._missing(module)
        return PassEntry(name, "pipeline", path, family_of(module), summary, missing is None, missing)


def _searchable(entry: PassEntry) -> str:
    return f"{entry.name} {entry.path} {entry.family} {entry.kind} {entry.summary}".lower()


def _builtin_summaries() -> dict[str, str]:
    """Reads the first docstring lines of the built-in passes from source: importing them needs torch."""
    folder = Path(__file__).parent / "builtin"
    root = folder.parents[1]
    files = (folder / f"{module}.py" for module in set(BUILTIN_MODULES.values()))
    read = {found.name: found.summary for file in files for found in read_classes(root, file)}
    return {name: read.get(name, "") for name in BUILTIN_MODULES}
