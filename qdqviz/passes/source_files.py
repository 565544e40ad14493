"""Where modules lie on disk, found without importing them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
from pathlib import Path

PACKAGE = "executorch"
"""The only package whose inside is read; of every other one it is enough to know that it is installed."""


def is_installed(top_level: str) -> bool:
    """Tells whether a top-level module can be found; does not import it."""
    try:
        return importlib.util.find_spec(top_level) is not None
    except (ImportError, ValueError):
        return False


def package_root(name: str = PACKAGE) -> Path | None:
    """Returns the folder of an installed top-level package, without importing it; None if there is none."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return next((Path(folder) for folder in spec.submodule_search_locations if Path(folder).is_dir()), None)


def module_name(root: Path, file: Path) -> str:
    """Returns the dotted name of a source file below a package's root folder."""
    parts = file.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def find_source(root: Path, module: str) -> Path | None:
    """Returns the `.py` file of a dotted module below `root`; None if there is none."""
    base = root.parent.joinpath(*module.split("."))
    for candidate in (base / "__init__.py", base.with_name(base.name + ".py")):
        if candidate.is_file():
            return candidate
    return None


def module_exists(root: Path, module: str) -> bool:
    """Tells whether a dotted module below `root` is a source file, an extension or a namespace folder."""
    base = root.parent.joinpath(*module.split("."))
    if base.is_dir() or find_source(root, module) is not None:
        return True
    suffixes = importlib.machinery.EXTENSION_SUFFIXES
    return any(base.with_name(base.name + suffix).is_file() for suffix in suffixes)
