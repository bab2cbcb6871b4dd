"""What is wrong with translations of clean and perturbed sources: the table `failures` of a run."""

from typing import Any

import polars as pl

from babelquake.failures import Card, Failure, Pair, cards_for, failures_in
from babelquake.languages import Language, sides
from babelquake.studies.blocks import Block

KEYS = ("system", "language_pair", "row", "id", "perturbation", "level", "replicate")
SCHEMA: dict[str, Any] = {
    "kind": pl.String,
    "score": pl.Float64,
    "evidence": pl.String,
    "spans": pl.List(pl.List(pl.UInt32)),
}
"""What is told of each failure: its kind, how much of it there is, what was seen, and where in the translation."""


def columns_of(failures: list[Failure]) -> dict[str, list[Any]]:
    """Failures as columns of a table."""
    return {
        "kind": [failure.kind for failure in failures],
        "score": [failure.score for failure in failures],
        "evidence": [failure.evidence.encode("utf-8", "replace").decode("utf-8") for failure in failures],
        "spans": [[list(span) for span in failure.spans] for failure in failures],
    }


class Detector:
    """Looks at translations; equal ones are looked at once."""

    def __init__(self, source: Language | None, target: Language | None, cards: list[Card]) -> None:
        self.source, self.target, self.cards = source, target, cards
        self._known: dict[tuple[str | None, str], list[Failure]] = {}

    def __call__(self, source: str | None, translation: str) -> list[Failure]:
        """What is wrong with one translation."""
        found = self._known.get((source, translation))
        if found is None:
            found = failures_in(Pair(source, translation, self.source, self.target), self.cards)
            self._known[source, translation] = found
        return found


def detect(block: Block, translations: pl.DataFrame) -> pl.DataFrame:
    """The failures in a block's translations, by every detector that needs no model and serves the languages."""
    source, target = sides(block.language_pair)
    look = Detector(source, target, cards_for(source, target))
    places: list[int] = []
    found: list[Failure] = []
    for place, (text, translation) in enumerate(translations.select("source", "translation").iter_rows()):
        if text and text.strip():
            here = look(text, translation or "")
            found += here
            places += [place] * len(here)
    told = pl.DataFrame(columns_of(found), schema=SCHEMA)
    return pl.concat([translations.select(KEYS)[places], told], how="horizontal")
