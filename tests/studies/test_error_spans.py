"""Which variants have their error spans kept."""

import math

import polars as pl

from babelquake.studies.execution import MOST_MARKED, _most_moved


def test_answers_without_a_score_take_no_place_from_those_that_have_one() -> None:
    rows = [{"row": row, "perturbation": None, "score": math.nan if row == 3 else 0.0} for row in range(4)]
    rows += [{"row": row % 4, "perturbation": f"p{row:03}", "score": math.nan} for row in range(2 * MOST_MARKED)]
    rows += [{"row": 1, "perturbation": "small", "score": -1.0}, {"row": 2, "perturbation": "large", "score": -5.0}]
    rows += [{"row": 3, "perturbation": "from nothing", "score": -2.0}]
    schema = {"row": pl.UInt32, "perturbation": pl.String, "score": pl.Float64}
    scores = pl.DataFrame(rows, schema).with_columns(level=pl.lit(None, pl.Float64), replicate=pl.lit(0, pl.UInt32))
    assert _most_moved(scores)["perturbation"].to_list() == ["large", "small", "from nothing"]
