"""What share of the words a perturbation really changed."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.engine import Engine
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt
from babelquake.studies.variants import changed_words


@pytest.mark.parametrize(
    ("clean", "changed", "counts"),
    [
        ("a b c d", "a x c d", (1, 4)),
        ("a b c d", "a c d", (1, 4)),
        ("a b c d", "a b b c d", (0, 4)),
        ("猫が好き", "犬が好き", (1, 4)),
        ("", "x", (0, 0)),
    ],
)
def test_words_are_counted(clean: str, changed: str, counts: tuple[int, int]) -> None:
    assert changed_words(clean, changed) == counts


def test_a_level_of_5_per_cent_changes_a_word_of_every_short_sentence(tmp_path: Path) -> None:
    """`keyboard-typo` follows its paper: at least one word in every sentence, however low the level."""
    sources = [f"Der Zug {number} kommt heute spät." for number in range(12)]
    table = pl.DataFrame({"source": sources, "reference": sources, "language_pair": ["de-en"] * 12})
    quick = {"data": table, "suite": "keyboard-typo[level=0.05]", "resamples": 100, "engine": Engine(quiet=True)}
    for study in (
        lambda out: mt(systems=[list], scorers=["chrf"], out=out, **quick),
        lambda out: metric(scorers=["chrf"], side="source", out=out, **quick),
    ):
        run = study(tmp_path / str(len(list(tmp_path.iterdir()))))
        (share,) = run.measures.filter(measure="achieved_words")["value"]
        assert share == pytest.approx(100 / 6, abs=0.5)
