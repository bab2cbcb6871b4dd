"""What the probes say of a QE model – drops, MPP − MAP, flags (Kanojia 2021 §6) – and how models rank by it.

Per segment a model has its clean score and its score under each probe, averaged over replicates; a drop is the mean
loss over the segments that a probe applies to. All means are of the same resamples, so differences are paired.

The paper ranks without human labels by MPP − MAP, the difference of score drops: the more negative, the better (§6.3,
Figure 2). That is right for models that all score from 0 to 1; models whose scales differ can be ranked only in units
of their own, so the same difference in standard deviations of the model's own scores stands beside it, and each ranking
has its own τ with Pearson's.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from math import factorial
from typing import Any

import numpy as np
import polars as pl

from babelquake.runs.info import Flag
from babelquake.runs.info import Probe as Meant
from babelquake.runs.measures import Kind, Measure
from babelquake.scorers.base import Array, Scorer
from babelquake.stats.agreement import rank_agreement, tau_b
from babelquake.stats.bootstrap import Resampled, resampled_sums
from babelquake.stats.families import ALPHA, corrected
from babelquake.stats.parallel import in_parallel
from babelquake.stats.pvalues import Alternative
from babelquake.stats.resampling import by_unit, marks_of, short
from babelquake.stats.testing import Test, difference_test
from babelquake.studies.cells import Cell, Families, Place, Scored, mean_of, measured
from babelquake.studies.kinds import qe as kinds
from babelquake.studies.segment_units import Rows

Probe = tuple[str, float | None]
"""A perturbation's label and its level."""


def probed_models(
    scored: Scored,
    probes: Mapping[str, Meant],
    unprobed: Collection[str] = (),
    part: tuple[str, Rows] | None = None,
) -> Iterator["Probed"]:
    """Every model on every language pair, on all cores. Of `unprobed` models, which know clean texts only, the mean.

    `part` is the name and the rows of a part of the segments that alone is meant.
    """
    pairs = scored.sums.select("language_pair").unique(maintain_order=True).collect()["language_pair"].to_list()

    def make(at: tuple[Scorer, str | None]) -> Probed:
        scorer, pair = at
        here = scored.by(scorer).filter(pl.col("language_pair").eq_missing(pl.lit(pair, pl.String)))
        if scorer.name in unprobed:
            here = here.filter(pl.col("perturbation").is_null())
        if part is not None:
            here = here.filter(pl.col("row").is_in(pl.Series(part[1]).implode()))
        place = Place(pair, scorer.name, group=part and part[0])
        return Probed(here.drop("statistics").collect(), scorer, place, probes, scored)

    yield from in_parallel(make, [(scorer, pair) for scorer in scored.scorers for pair in pairs], len(scored.keys))


def probe_results(models: Iterable["Probed"]) -> list[Measure]:
    """Mean scores (Table 4), drops per probe (Figures 1, 3–6), discrimination; parts of the data in families apart."""
    families = Families()
    measures = [measure for model in models if model.n for measure in model.measures(families)]
    families.judge()
    return measures


class Probed:
    """One model on one language pair: per segment its clean score and its drop under each probe."""

    def __init__(
        self, table: pl.DataFrame, scorer: Scorer, place: Place, probes: Mapping[str, Meant], scored: Scored
    ) -> None:
        self.place, self.probes, self.seed = place, probes, scored.seed
        self.sign = scorer.sign
        clean = table.filter(pl.col("perturbation").is_null()).select("row", pl.col("score").alias("clean"))
        noisy = table.filter(pl.col("perturbation").is_not_null() & pl.col("score").is_not_nan()).join(clean, on="row")
        present = noisy.select("perturbation", "level").unique(maintain_order=True).rows()
        self.cells: list[Probe] = [cell for label in probes for cell in present if cell[0] == label]
        rows = clean["row"].to_numpy()
        columns = np.zeros((len(rows), 2 + 4 * len(self.cells) + 2))
        columns[:, 0], columns[:, 1] = clean["clean"].to_numpy(), 1
        order = np.argsort(rows)
        for number, (label, level) in enumerate(self.cells):
            here = (pl.col("perturbation") == label) & pl.col("level").eq_missing(pl.lit(level, pl.Float64))
            some = noisy.filter(here)
            at = order[np.searchsorted(rows[order], some["row"].to_numpy())]
            lost = self.sign * (some["clean"] - some["score"]).to_numpy()
            really = some["changed"].to_numpy()
            first = 2 + 4 * number
            columns[at, first], columns[at, first + 1] = lost, 1
            columns[at, first + 2], columns[at, first + 3] = lost * really, really
        columns[:, -2:] = self._ordered(columns)
        self.n = len(rows)
        self.keys, self.columns = by_unit(scored.keys[rows], columns)
        self.total = self.columns.sum(axis=0)
        drawn = (self.columns, scored.resamples, scored.seed, self.keys)
        self.drawn = resampled_sums(*drawn) if self.n else np.zeros((0, 0))

    def _ordered(self, columns: Array) -> Array:
        """Per segment, whether it loses more to harmful changes than to harmless ones, and whether it has both."""
        means = []
        for meaning in ("altering", "preserving"):
            at = [2 + 4 * n for n, cell in enumerate(self.cells) if self.probes[cell[0]].meaning == meaning]
            with np.errstate(invalid="ignore"):
                means.append(columns[:, at].sum(axis=1) / columns[:, [place + 1 for place in at]].sum(axis=1))
        harmful, harmless = means
        right = np.where(harmful == harmless, 0.5, harmful > harmless)
        both = np.isfinite(harmful + harmless)
        return np.column_stack([right * both, both])

    def mean(self, at: int) -> Resampled:
        """The mean of a column pair."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return Resampled(float(self.total[at] / self.total[at + 1]), self.drawn[:, at] / self.drawn[:, at + 1])

    def drop(self, cell: Probe, *, changed: bool = False) -> Resampled:
        """Mean loss of score under a probe, over the segments it applies to, or really changed."""
        return self.mean(self._column(cell, changed))

    def count(self, cell: Probe, *, changed: bool = False) -> int:
        """How many segments that is."""
        return int(self.total[self._column(cell, changed) + 1])

    def contributions(self, weights: Mapping[Probe, float], *, changed: bool = False) -> Array:
        """What each segment contributes to a weighted sum of drops."""
        found = np.zeros(len(self.columns))
        for cell, weight in weights.items():
            at = self._column(cell, changed)
            found += weight * self.columns[:, at] / self.total[at + 1]
        return found

    def _column(self, cell: Probe, changed: bool = False) -> int:
        return 2 + 4 * self.cells.index(cell) + 2 * changed

    def _test(
        self,
        drawn: Resampled,
        weights: Mapping[Probe, float],
        alternative: Alternative = "two-sided",
        *,
        changed: bool = False,
    ) -> Test:
        """The test of a weighted sum of drops, over the segments that any of its probes applies to."""
        applies = np.zeros(len(self.columns), dtype=np.bool_)
        for cell in weights:
            applies |= self.columns[:, self._column(cell, changed) + 1] > 0
        parts = self.contributions(weights, changed=changed)[applies]
        return difference_test(drawn, parts, keys=self.keys[applies], seed=self.seed, alternative=alternative)

    def title(self, cell: Probe) -> str:
        """A probe in plain words, with its level where there are several."""
        label, level = cell
        several = sum(label == other for other, _ in self.cells) > 1
        return self.probes[label].title + (f" at {level:g}" if several and level is not None else "")

    def of_meaning(self, meaning: str) -> list[Probe]:
        """The probes of a kind that could be scored."""
        return [
            cell
            for cell in self.cells
            if self.probes[cell[0]].meaning == meaning and np.isfinite(self.drop(cell).value)
        ]

    def average(self, cells: Sequence[Probe]) -> Resampled | None:
        """The mean drop over some probes."""
        return mean_of([self.drop(cell) for cell in cells]) if cells else None

    @property
    def ordered_right(self) -> Resampled:
        """The percentage of segments that lose more to harmful changes than to harmless ones."""
        share = self.mean(-2)
        return Resampled(100 * share.value, 100 * share.values)

    def discrimination(self) -> Cell | None:
        """The mean drop under meaning-altering probes less that under preserving ones."""
        harmless, harmful = self.of_meaning("preserving"), self.of_meaning("altering")
        kept, changed = self.average(harmless), self.average(harmful)
        if kept is None or changed is None:
            return None
        cell = Cell(self.place, self.keys, self.n)
        weights = _weights(harmful, harmless)
        cell.numbers["discrimination"] = changed - kept
        cell.contributions["discrimination"] = self.contributions(weights)
        cell.tests["discrimination"] = self._test(changed - kept, weights)
        cell.marks = short(marks_of(self.columns))
        return cell

    def measures(self, families: Families) -> Iterator[Measure]:
        """MPP and MAP scores are the clean mean less the mean drop, so they share their segments."""
        clean, where = self.mean(0), self.place.columns
        yield measured(kinds.SCORE_MT, clean, self.n, **where)
        kept, changed = (self.average(self.of_meaning(meaning)) for meaning in ("preserving", "altering"))
        for kind, loss in ((kinds.SCORE_MPP, kept), (kinds.SCORE_MAP, changed)):
            if loss is not None:
                shown = Resampled(clean.value - self.sign * loss.value, clean.values - self.sign * loss.values)
                yield measured(kind, shown, self.n, **where)
        for cell in [*self.of_meaning("preserving"), *self.of_meaning("altering"), *self.of_meaning("depends")]:
            count, really = self.count(cell), self.count(cell, changed=True)
            for only in (False, True) if 0 < really < count else (False,):
                drawn, n = self.drop(cell, changed=only), really if only else count
                place = replace(self.place, perturbation=cell[0], level=cell[1], only_changed=only)
                measure = measured(place.kind(kinds.DROP), drawn, n, changed=really, **place.columns)
                measure.note = Cell(place, self.keys, n, really).few_changed
                families.add(place.asked("drop"), measure, self._test(drawn, {cell: 1.0}, changed=only))
                yield measure
        if (found := self.discrimination()) is not None:
            drawn = found.numbers["discrimination"]
            measure = measured(kinds.DISCRIMINATION, drawn, self.n, **where)
            families.add(self.place.asked("discrimination"), measure, found.tests["discrimination"])
            yield measure
            yield measured(kinds.MPP_MINUS_MAP, Resampled(-drawn.value, -drawn.values), self.n, **where)
            if both := int(self.total[-1]):
                yield measured(kinds.ORDERED_RIGHT, self.ordered_right, both, **where)

    def flags(self) -> Iterator[Flag]:
        """Meaning-altering probes that cost not significantly more than the meaning-preserving ones do on average.

        And those that even cost less than a single harmless change. One-sided; each of the two questions is a family of
        the model's probes. What cannot be tested is not flagged: also a probe whose own drop cannot, however many
        segments the harmless ones apply to.
        """
        harmless, harmful = self.of_meaning("preserving"), self.of_meaning("altering")
        drops = corrected([self._test(self.drop(cell), {cell: 1.0}, "greater") for cell in harmful])
        harmful = [cell for cell, outcome in zip(harmful, drops, strict=True) if outcome.testable]
        average = self.average(harmless)
        if average is None:
            return
        against = [(cell, other) for cell in harmful for other in harmless]
        seen = corrected(
            [self._test(self.drop(cell) - average, _weights([cell], harmless), "greater") for cell in harmful]
        )
        dearer = corrected(
            [
                self._test(self.drop(other) - self.drop(cell), {other: 1.0, cell: -1.0}, "greater")
                for cell, other in against
            ]
        )
        where = partial(Flag, language_pair=self.place.language_pair, scorer=self.place.scorer)
        for cell, outcome in zip(harmful, seen, strict=True):
            if outcome.testable and outcome.p_corrected is not None and outcome.p_corrected >= ALPHA:
                yield where(perturbation=cell[0], text=f"does not see: {self.title(cell)}")
            worse = [
                other
                for (mine, other), found in zip(against, dearer, strict=True)
                if mine == cell and found.testable and found.p_corrected is not None and found.p_corrected < ALPHA
            ]
            if worse:
                costliest = max(worse, key=lambda other: self.drop(other).value)
                text = f"{self.title(cell)} costs less than {self.title(costliest)}"
                yield where(perturbation=cell[0], text=text)


def _weights(more: Sequence[Probe], less: Sequence[Probe]) -> dict[Probe, float]:
    """Mean over some probes less the mean over others, as weights."""
    weights = {cell: 1 / len(more) for cell in more}
    for cell in less:
        weights[cell] = weights.get(cell, 0.0) - 1 / len(less)
    return weights


RANKS: dict[str, tuple[Kind, Kind | None]] = {
    "discrimination_standardised": (kinds.RANK_DISCRIMINATION, kinds.RANK_AGREEMENT),
    "discrimination": (kinds.RANK_MPP_MINUS_MAP, kinds.RANK_AGREEMENT_RAW),
    "pearson": (kinds.RANK_PEARSON, None),
}
"""The measure a ranking goes by, the ranking, and its agreement with the ranking by Pearson."""


def standardised(measures: Sequence[Measure], spreads: Mapping[tuple[str | None, str], float]) -> list[Measure]:
    """Discrimination in standard deviations of the model's own scores of unperturbed translations."""
    found = []
    for measure in measures:
        spread = spreads.get((measure.language_pair, measure.scorer or ""), 0.0)
        if measure.kind.name == "discrimination" and spread > 0:
            value, sd, low, high = (
                None if number is None else number / spread
                for number in (measure.value, measure.sd, measure.low, measure.high)
            )
            kind = kinds.DISCRIMINATION_STANDARDISED
            found.append(replace(measure, kind=kind, value=value, sd=sd, low=low, high=high))
    return found


def rivalries(models: Sequence[Probed], spreads: Mapping[tuple[str | None, str], float]) -> list[Measure]:
    """How much better one model tells harmful from harmless changes than another, in standard deviations of each.

    Paired, for every two models on the same segments of a language pair; each two are their own family, so that a
    model more changes no verdict.
    """
    kind, families = kinds.DISCRIMINATION_STANDARDISED.difference(), Families()
    for one, other in combinations(filter(None, (_in_spreads(model, spreads) for model in models)), 2):
        pair, names = one.place.language_pair, (one.place.scorer, other.place.scorer)
        if pair != other.place.language_pair or not np.array_equal(one.keys, other.keys):
            continue
        place: dict[str, Any] = {"language_pair": pair, "scorer": names[0], "other": names[1]}
        family = (pair, " − ".join(names), "discrimination of two models")
        families.compare(family, kind, (one, other), "discrimination", **place)
    return families.judge()


def _in_spreads(model: Probed, spreads: Mapping[tuple[str | None, str], float]) -> Cell | None:
    """A model's discrimination in standard deviations of its scores."""
    cell, spread = model.discrimination(), spreads.get((model.place.language_pair, model.place.scorer), 0.0)
    if cell is None or not spread > 0:
        return None
    cell.numbers = {
        name: Resampled(drawn.value / spread, drawn.values / spread) for name, drawn in cell.numbers.items()
    }
    cell.contributions = {name: parts / spread for name, parts in cell.contributions.items()}
    return cell


Drawn = Mapping[tuple[str, str | None, str], Array]
"""What a measure of a model is on every resample, by measure, language pair and model."""


def resampled_values(
    models: Sequence[Probed], spreads: Mapping[tuple[str | None, str], float], agreement: Sequence[Cell]
) -> Drawn:
    """Both measures that models are ranked by, on the same resamples of the segments."""
    found: dict[tuple[str, str | None, str], Array] = {
        ("pearson", cell.place.language_pair, cell.place.scorer): cell.numbers["pearson"].values
        for cell in agreement
        if "pearson" in cell.numbers
    }
    for model in models:
        place = model.place.language_pair, model.place.scorer
        if (cell := model.discrimination()) is not None:
            found["discrimination", *place] = cell.numbers["discrimination"].values
        if (cell := _in_spreads(model, spreads)) is not None:
            found["discrimination_standardised", *place] = cell.numbers["discrimination"].values
    return found


def ranking_results(measures: Sequence[Measure], seed: int, drawn: Drawn) -> list[Measure]:
    """Rank of each model by each of the measures, and how the rankings agree, with the interval over resamples."""
    found: list[Measure] = []
    for pair in dict.fromkeys(measure.language_pair for measure in measures):
        values = {name: _values(measures, name, pair) for name in RANKS}
        for name, (kind, _) in RANKS.items():
            known = values[name]
            for scorer, value in sorted(known.items(), key=lambda item: -item[1]):
                rank = 1.0 + sum(other > value for other in known.values())
                found.append(Measure(kind, rank, len(known), language_pair=pair, scorer=scorer))
        for name, (_, agreement) in RANKS.items():
            shared = [scorer for scorer in values[name] if scorer in values["pearson"]]
            if agreement is not None and len(shared) > 2:
                one, other = (np.array([values[by][scorer] for scorer in shared]) for by in (name, "pearson"))
                tau, p = rank_agreement(one, other, seed)
                taus = resampled_agreement(drawn, name, pair, shared)
                ranked = measured(agreement, Resampled(tau, taus), len(shared), language_pair=pair)
                found.append(replace(ranked, p=p, testable=1 / factorial(len(shared)) < ALPHA))
    return found


def resampled_agreement(drawn: Drawn, name: str, pair: str | None, scorers: Sequence[str]) -> Array:
    """Kendall's τ of the ranking by a measure with that by Pearson, on every resample."""
    tables = [
        [drawn[by, pair, scorer] for scorer in scorers if (by, pair, scorer) in drawn] for by in (name, "pearson")
    ]
    least = min((len(values) for table in tables for values in table), default=0)
    if any(len(table) < len(scorers) for table in tables) or not least:
        return np.zeros(0)
    one, other = (np.array([values[:least] for values in table]).T for table in tables)
    return tau_b(one, other)


def _values(measures: Sequence[Measure], name: str, pair: str | None) -> dict[str, float]:
    """Scorer → value of a measure over all texts of a language pair."""
    return {
        measure.scorer or "": measure.value
        for measure in measures
        if measure.kind.name == name and measure.language_pair == pair
        if measure.value is not None and np.isfinite(measure.value)
    }
