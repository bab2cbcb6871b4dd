"""The share of texts whose translation changes too much."""

import polars as pl
import pytest
from tests.studies.mt.made import tables

from babelquake.scorers import scorer
from babelquake.studies.mt.cells import Judged
from babelquake.studies.mt.results import mt_results


def test_inconsistent_is_the_share_below_the_threshold() -> None:
    judge = scorer("chrf")
    scores, translations = tables(judge)
    marks = pl.Series([None] * 6 + [74.9, 75.0, 80.0, 10.0, 100.0, 76.0])
    judged = Judged.of(scores, translations.with_columns(consistency=marks), 200, 0)
    found = mt_results(judged, [judge], 75.0)
    (row,) = [one for one in found if one.kind.name == "inconsistent"]
    assert row.value == pytest.approx(100 * 2 / 6)
    assert (row.n, row.scorer) == (6, "chrf")
