"""What suggested errors change, on made-up annotators of whom it is known."""

import json

import numpy as np
import polars as pl
from scipy.stats import kstest

from babelquake.studies.human.people import suggestion_effects, suggestions_taken

SPAN = {"start_i": 0, "end_i": 3, "severity": "minor"}


def ratings(seed: int, effect: float, segments: int = 40, people: int = 3, held_back: float = 0.3) -> pl.DataFrame:
    """Everybody judges every segment; where suggestions are shown the score moves, and the suggested word is marked."""
    draw = np.random.default_rng(seed)
    rows = []
    for person in range(people):
        for segment in range(segments):
            shown = bool(draw.random() >= held_back)
            there = segment % 2 == 0
            moved = effect if shown and there else 0.0
            marks = [SPAN] if there and draw.random() < (0.8 if shown and effect else 0.3) else []
            suggested = [{**SPAN, "by": "number", "why": "", **({"accepted": bool(marks)} if shown else {})}]
            rows.append(
                {
                    "annotator": f"a{person}",
                    "hit": "1",
                    "item": f"s{segment}",
                    "segment": f"s{segment}",
                    "system": "A",
                    "type": "SYSTEM",
                    "raw": 60.0 + 15 * person + moved + draw.normal(0, 8),
                    "seconds": 20.0 + draw.normal(0, 3),
                    "spans": json.dumps(marks),
                    "suggested": shown,
                    "suggestions": json.dumps(suggested if there else []),
                }
            )
    return pl.DataFrame(rows)


def test_an_effect_is_found_where_it_is_and_nowhere_else() -> None:
    found = {(row["about"], row["outcome"]): row for row in suggestion_effects(ratings(1, -10.0)).to_dicts()}
    score = found["something suggested", "score"]
    assert score["low"] < -10.0 < score["high"] < 0 and score["p_corrected"] < 0.01
    assert found["something suggested", "marked_there"]["p_corrected"] < 0.01
    assert found["nothing suggested", "score"]["p_corrected"] > 0.05
    assert found["something suggested", "seconds"]["p_corrected"] > 0.05


def test_p_values_are_even_where_suggestions_do_nothing() -> None:
    found = [suggestion_effects(ratings(seed, 0.0, 24, 2)) for seed in range(40)]
    scores = [table.filter(about="something suggested", outcome="score")["p"][0] for table in found]
    assert kstest(scores, "uniform").pvalue > 0.01


def test_an_annotator_who_is_stricter_and_saw_more_suggestions_is_not_an_effect() -> None:
    frame = ratings(5, 0.0)
    strict = pl.col("annotator") == "a0"
    skewed = frame.with_columns(
        suggested=pl.when(strict).then(pl.col("segment").str.ends_with("2").not_()).otherwise("suggested"),
        raw=pl.when(strict).then(pl.col("raw") - 40).otherwise("raw"),
    )
    row = suggestion_effects(skewed).filter(about="nothing suggested", outcome="score").to_dicts()[0]
    assert abs(row["difference"]) < 5 and row["p"] > 0.05


def test_what_became_of_suggestions_is_counted() -> None:
    (row,) = suggestions_taken(ratings(1, -10.0)).to_dicts()
    assert row["shown"] == row["accepted"] + row["dropped"] + row["left"] > 20


def test_ratings_without_suggestions_have_no_such_tables() -> None:
    frame = ratings(1, 0.0).drop("suggested")
    assert suggestion_effects(frame).is_empty() and suggestions_taken(frame).is_empty()
