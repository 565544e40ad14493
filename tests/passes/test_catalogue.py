"""The catalogue finds passes without importing them, and knows what cannot be imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from qdqviz.passes.catalogue import Catalogue
from qdqviz.passes.names import BUILTIN_MODULES, BUILTIN_PIPELINES

FAMILIES = (
    "cadence",
    "xnnpack",
    "vulkan",
    "nxp",
    "transforms",
    "exir",
    "arm",
    "qualcomm",
    "mediatek",
    "openvino",
)


def in_child(code: str) -> str:
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert child.returncode == 0, child.stderr[-2000:]
    return child.stdout


def test_listing_imports_neither_torch_nor_executorch():
    code = (
        "import sys; from qdqviz.passes.catalogue import Catalogue; n = len(Catalogue().entries());"
        "tops = {m.split('.')[0] for m in sys.modules};"
        "print(n, sorted(tops & {'torch', 'executorch', 'torchao', 'numpy'}))"
    )
    count, _, imported = in_child(code).strip().partition(" ")
    assert int(count) > 300
    assert imported == "[]"


def test_families_of_upstream_are_found(catalogue):
    assert set(FAMILIES) <= catalogue.families


def test_every_cadence_pass_that_registers_itself_is_found(catalogue):
    """Upstream's own registry, filled by importing its modules, is the independent list."""
    import qdqviz.passes.importing as importing

    passes = importing.import_module("executorch.backends.cadence.aot.passes")
    registry = importing.import_module("executorch.backends.cadence.aot.pass_utils").ALL_CADENCE_PASSES
    assert passes is not None and len(registry) > 60
    known = {entry.path for entry in catalogue.upstream}
    # A decorator may stand above a class of another module; both names are then upstream's.
    missing = [
        c
        for c in registry
        if f"{c.__module__}:{c.__qualname__}" not in known and c.__module__.startswith("executorch")
    ]
    assert missing == []


def test_passes_derived_through_an_aliased_import_are_found(catalogue):
    paths = [e.path for e in catalogue.named("PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView")]
    assert (
        "executorch.backends.cadence.aot.reorder_ops:PostponePermuteOpBelowSqueezeOrUnsqueezeLikeView"
        in paths
    )
    assert len(paths) == 2


def test_abstract_and_private_classes_are_no_passes(catalogue):
    names = {entry.name for entry in catalogue.upstream}
    assert "RemoveOrReplacePassInterface" not in names
    assert not [name for name in names if name.startswith("_")]
    assert {"ExportPass", "PassBase"}.isdisjoint(names)


def test_missing_modules_are_named(catalogue):
    by_family = {}
    for entry in catalogue.upstream:
        by_family.setdefault(entry.family, set()).add(entry.missing)
    assert by_family["cadence"] == {None}
    assert by_family["xnnpack"] == {None}
    assert "eiq_neutron_sdk" in by_family["nxp"] and None in by_family["nxp"]
    assert all((entry.missing is None) == entry.importable for entry in catalogue.upstream)


def test_what_is_called_importable_is_imported_by_a_fresh_process_and_the_rest_is_not(catalogue):
    """The answer read from source against real imports of one module per family and state."""
    chosen = {
        (e.family, e.importable): e.path.partition(":")[0] for e in catalogue.upstream if e.family in FAMILIES
    }
    code = (
        "import sys, json\nfrom qdqviz.passes.importing import import_module\n"
        "from qdqviz.errors import PassError\n"
        "out = {}\n"
        "for name in json.loads(sys.argv[1]):\n"
        "    try:\n        import_module(name)\n        out[name] = None\n"
        "    except PassError as error:\n        out[name] = str(error)\n"
        "print('RESULT' + json.dumps(out))"
    )
    child = subprocess.run(
        [sys.executable, "-c", code, json.dumps(list(chosen.values()))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    results = json.loads(child.stdout.rpartition("RESULT")[2])
    assert {name: results[name] is None for name in results} == {
        name: importable for (_, importable), name in chosen.items()
    }
    assert all("\n" not in text for text in results.values() if text)


def test_entries_are_searched_by_words_in_any_case(catalogue):
    found = catalogue.entries("CADENCE postponedequantize")
    assert [entry.qualified for entry in found] == ["cadence:PostponeDequantizeOpBelowUseChainPass"]
    assert catalogue.entries("xyzzy cadence") == []


def test_builtin_entries_come_first_with_their_docstrings(catalogue):
    entries = catalogue.entries()
    assert [entry.name for entry in entries[: len(BUILTIN_MODULES)]] == list(BUILTIN_MODULES)
    assert all(entry.kind == "builtin" for entry in entries[: len(BUILTIN_MODULES)])
    names = {entry.name for entry in entries if entry.kind == "pipeline"}
    assert names == {*BUILTIN_PIPELINES, "cadence", "cadence-reorder", "cadence-fuse"}


def test_a_package_of_ones_own_is_scanned_by_derivation_only(tmp_path: Path):
    root = tmp_path / "executorch"
    (root / "backends" / "mine").mkdir(parents=True)
    (root / "backends" / "mine" / "a.py").write_text(
        "import absent_thing\nfrom x import Root as R\n"
        "class Root(ExportPass):\n    '''Says what.\n\n    More.'''\n"
        "class Middle(R): pass\nclass Leaf(pkg.Middle[int]): pass\nclass PassThrough(object): pass\n"
    )
    (root / "backends" / "mine" / "broken.py").write_text("class Broken(ExportPass:\n")
    found = {e.name: e for e in Catalogue(root).upstream}
    assert set(found) == {"Root", "Middle", "Leaf"}
    assert found["Root"].summary == "Says what."
    assert found["Leaf"].missing == "absent_thing" and found["Leaf"].importable is False


def test_without_executorch_only_our_own_names_remain(monkeypatch, tmp_path: Path):
    monkeypatch.setattr("qdqviz.passes.catalogue.package_root", lambda: None)
    bare = Catalogue()
    assert bare.upstream == []
    assert {entry.name for entry in bare.entries() if entry.importable is False} == {
        "cadence",
        "cadence-reorder",
        "cadence-fuse",
    }
