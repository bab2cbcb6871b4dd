"""The figures over all perturbations."""

from typing import Any

import numpy as np
import pytest
from tests.studies.mt.made import CLEAN, NOISY, measures, named, tables

from babelquake.scorers import scorer


def test_the_overall_figures_are_means_over_perturbations() -> None:
    judge = scorer("chrf")
    kinds: list[dict[str, Any]] = [{"perturbation": "misspell"}, {"perturbation": "case"}]
    parts = [
        tables(judge, noisy, system, **kind)
        for system, texts in (("frail", (NOISY, [text[:20] for text in CLEAN])), ("sturdy", (CLEAN, CLEAN)))
        for kind, noisy in zip(kinds, texts, strict=True)
    ]
    found = measures(judge, *parts)
    each = [one.value for one in found if one.kind.name == "robust" and one.system == "frail"]
    frail, sturdy = (named(found, system=name, perturbation=None) for name in ("frail", "sturdy"))
    assert frail["overall_robust"].value == pytest.approx(np.mean(each))  # type: ignore[arg-type]
    assert frail["overall_robust"].low < frail["overall_robust"].value < frail["overall_robust"].high  # type: ignore[operator]
    assert (sturdy["overall_robust"].value, sturdy["overall_rank"].value) == (100, 1)
    assert frail["overall_rank"].value == 2
    (difference,) = [one for one in found if one.kind.name == "overall_robust_difference"]
    assert difference.value == pytest.approx(frail["overall_robust"].value - 100)  # type: ignore[operator]
    assert difference.p == 2**-5 and difference.verdict == "significant"
