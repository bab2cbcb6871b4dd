"""Scores and translations as the study stores them, made by hand."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import polars as pl

from babelquake.runs.measures import Measure
from babelquake.runs.tables import list_column
from babelquake.scorers import MeanScorer, Questions
from babelquake.scorers.base import Array, Scorer
from babelquake.spec import Spec
from babelquake.studies.cells import Cell
from babelquake.studies.mt.cells import Judged
from babelquake.studies.mt.results import mt_cells, mt_results

REFERENCES = [
    "The committee did not approve the plan on Monday .",
    "She bought three apples and a loaf of bread at the market .",
    "Nobody knows when the next train to the city will leave .",
    "It has been raining in the north of the country for days .",
    "The minister said that taxes would fall again next year .",
    "Our neighbours painted their old house green and white .",
]
CLEAN = [
    "The committee did not approve the plan on Monday .",
    "She bought three apples and one bread at the market .",
    "No one knows when the next train to the city leaves .",
    "It has rained in the north of the country for days .",
    "The minister said taxes would fall again next year .",
    "Our neighbours have painted their old house green and white .",
]
NOISY = [
    "The committee approved the plan on Monday .",
    "She bought three apples and one bread at the market today .",
    "Nobody knows when the train to city leaves .",
    "In the north of the country it has rained for days .",
    "The minister said taxis would fall again next year .",
    "Our neighbours have painted the old house in green and white .",
]
Tables = tuple[pl.DataFrame, pl.DataFrame]


def tables(
    judge: Scorer,
    noisy: Sequence[str] = NOISY,
    system: str = "a",
    *,
    references: Sequence[str] | None = REFERENCES,
    clean: Sequence[str] = CLEAN,
    changed: Sequence[bool] | None = None,
    perturbation: str = "misspell",
    level: float | None = 0.1,
    blank: int | None = None,
) -> Tables:
    """Scores and translations of one system under one perturbation, as the study stores them."""
    n = len(clean)
    changed = changed or [True] * n
    sources = ["" if row == blank else f"source {row}" for row in range(n)]
    keys = {
        "system": [system] * n,
        "language_pair": ["de-en"] * n,
        "row": list(range(n)),
        "id": [str(row) for row in range(n)],
    }
    noise = {"perturbation": [perturbation] * n, "level": [level] * n, "replicate": [0] * n}
    schema = {"perturbation": pl.String, "level": pl.Float64, "replicate": pl.UInt32}
    translations = pl.concat(
        [
            pl.DataFrame({**keys, "source": sources, "translation": clean, "judged": clean}, strict=False),
            pl.DataFrame(
                {
                    **keys,
                    **noise,
                    "source": [text + "x" * it for text, it in zip(sources, changed, strict=True)],
                    "changed": changed,
                    "translation": noisy,
                    "judged": noisy,
                    "consistency": [80.0] * n,
                },
                schema_overrides=schema,
                strict=False,
            ),
        ],
        how="diagonal",
    )

    def rows(texts: Sequence[str], against: Sequence[str]) -> pl.Series:
        return list_column(judge.statistics(Questions(list(texts), [[text] for text in against], list(sources))))

    before = pl.DataFrame({**keys, "scorer": [judge.name] * n}, strict=False)
    after = pl.DataFrame({**keys, **noise, "scorer": [judge.name] * n}, schema_overrides=schema, strict=False)
    if references is not None:
        before = before.with_columns(statistics=rows(clean, references))
        after = after.with_columns(statistics=rows(noisy, references))
    nothing = pl.lit(None, pl.List(pl.Float64))
    if "reference" in judge.needs:
        after = after.with_columns(forward=rows(noisy, clean), backward=rows(clean, noisy))
    scores = pl.concat([before, after], how="diagonal")
    missing = [name for name in ("statistics", "forward", "backward") if name not in scores.columns]
    return scores.with_columns(**dict.fromkeys(missing, nothing)), translations


def together(parts: Sequence[Tables]) -> Tables:
    keys = ["system", "row", "perturbation", "level"]
    scores, translations = (pl.concat([part[side] for part in parts], how="diagonal") for side in (0, 1))
    return scores.unique(keys, maintain_order=True), translations.unique(keys, maintain_order=True)


def cells(judge: Scorer, *parts: Tables, resamples: int = 500) -> list[Cell]:
    """The cells of every perturbation, without those of clean translations."""
    found = mt_cells(Judged.of(*together(parts), resamples, 3), [judge])
    return [cell for cell in found if cell.place.perturbation is not None]


def measures(judge: Scorer, *parts: Tables, resamples: int = 500) -> list[Measure]:
    return mt_results(Judged.of(*together(parts), resamples, 3), [judge], 75.0)


def named(found: Sequence[Measure], **where: object) -> dict[str, Measure]:
    """Measures of all texts by name, of those at a place."""
    wanted = {"other": None, **where}
    return {one.kind.name: one for one in found if all(getattr(one, name) == value for name, value in wanted.items())}


class Constant(MeanScorer):
    """A scorer that knows its scores by the text."""

    signature = "constant"
    needs: ClassVar[frozenset[str]] = frozenset({"reference"})

    def __init__(self, scores: Mapping[str, float], *, ratio: bool = True, higher: bool = True) -> None:
        self.spec = Spec("constant")
        self.scores = scores
        self.ratio_scale = ratio  # type: ignore[misc]
        self.higher_is_better = higher  # type: ignore[misc]

    def judge(self, questions: Questions) -> Array:
        return np.array([self.scores[text.split()[0]] for text in questions.translations])


def numbered(name: str, n: int = 60) -> list[str]:
    return [f"{name} {number}" for number in range(n)]
