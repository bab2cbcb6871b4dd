"""Every number has a name for people: what tables, plots and comparisons call it."""

import ast
from pathlib import Path

import pytest

from babelquake.studies import kinds
from babelquake.studies.card import STUDIES


@pytest.mark.parametrize("study", STUDIES.names())
def test_every_measure_of_a_study_has_a_label_that_no_other_has(study: str) -> None:
    labels = [kind.label for kind in STUDIES.get(study).measures]
    assert all(labels) and len(set(labels)) == len(labels)
    assert not [label for label in labels if "_" in label]


def test_derived_measures_are_called_after_what_they_derive_from() -> None:
    mt = STUDIES.get("mt")
    assert mt.label("robust") == "quality kept (ROBUST)"
    assert mt.label("robust_difference").startswith(mt.label("robust"))
    assert "changed" in mt.label("robust_changed")
    assert mt.label("from_a_package") == "from a package"


@pytest.mark.slow
def test_every_kind_that_is_asked_for_is_listed() -> None:
    """`kinds.yaml` is read when a study is imported: what a type checker cannot see is looked at here."""
    missing, asked = [], 0
    for file in Path(kinds.__file__).parents[1].rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        names = {
            name.asname or name.name: getattr(kinds, name.name)
            for node in imports
            if node.module == "babelquake.studies.kinds"
            for name in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr.isupper():
                listed = names.get(node.value.id)
                if isinstance(listed, kinds.Kinds):
                    asked += 1
                    missing += [] if node.attr.lower() in listed.by_name else [f"{file.name}: {node.attr}"]
    assert not missing and asked > 80
