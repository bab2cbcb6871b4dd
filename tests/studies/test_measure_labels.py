"""Every number has a name for people: what tables, plots and comparisons call it."""

import pytest

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
