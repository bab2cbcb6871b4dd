"""How large the papers' data are, as their tables of sizes count them."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from babelquake.data import Dataset
from babelquake.languages import LanguagePair
from babelquake.perturb import Perturbation
from babelquake.studies.final_marks import without_duplicates
from babelquake.studies.qe.selection import judged_segments, select

SPLITS = {
    "ending_none": "final-insert",
    "ending_stop": "final-delete[mark=stop]",
    "ending_exclamation": "final-delete[mark=exclamation]",
    "ending_question": "final-delete[mark=question]",
}
"""A final mark, and the perturbation whose split of sentences it is (Jwalapuram 2023 §2.1)."""


def sizes(data: Dataset, threshold: float | None = None, endings: str | None = None, **_: Any) -> pl.DataFrame:
    """Counts as measures, by language pair.

    Segments, those judged, English words, preferences; with `threshold` those rated so or better; final marks of
    column `endings`.
    """
    rows = [
        (pair, measure, float(count))
        for (pair,), part in data.segments.group_by("language_pair", maintain_order=True)
        for measure, count in _counts(part, endings)
    ]
    if data.preferences is not None:
        rows += [(pair, "preferences", float(data.preferences.height)) for pair in data.language_pairs]
    if threshold is not None:
        chosen = select(judged_segments(data), threshold)[0]
        counts = chosen.group_by("language_pair").len().iter_rows()
        rows += [(pair, "selected", float(count)) for pair, count in counts]
    return pl.DataFrame(rows, schema=["language_pair", "measure", "value"], orient="row")


def _counts(segments: pl.DataFrame, endings: str | None) -> Iterator[tuple[str, int]]:
    yield "segments", segments.height
    yield "judged", segments["score"].count()
    pair = LanguagePair.known(segments["language_pair"][0])
    for column, spoken in (("source", pair.source), ("references", pair.target)) if pair else ():
        if spoken.code == "en":
            first = pl.col(column) if column == "source" else pl.col(column).list.first()
            yield "english_words", int(segments.select(first.str.count_matches(r"\S+").sum()).item())
    if endings is None:
        return
    texts = without_duplicates(segments)[endings].drop_nulls()
    lang = pair.source if pair else None
    for mark, change in SPLITS.items():
        applied = Perturbation(change).apply
        yield mark, sum(applied(text, lang=lang) is not None for text in texts)
