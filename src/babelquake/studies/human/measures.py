"""The study's numbers as measures: ratings of systems, their differences, agreement, quality control, time."""

from collections.abc import Iterator
from typing import Any

import polars as pl

from babelquake.runs.measures import ALPHA, Measure
from babelquake.stats.intervals import Z
from babelquake.stats.ranks import can_separate
from babelquake.studies.human.findings import Findings
from babelquake.studies.kinds import human as kinds
from babelquake.studies.tests_to_measures import share


def human_measures(found: Findings) -> list[Measure]:
    """Every number of the findings that is one."""
    return [*_systems(found), *_differences(found), *_losses(found), *_suggestions(found), *_people(found)]


def _systems(found: Findings) -> Iterator[Measure]:
    for kind, column in ((kinds.RATING, "raw"), (kinds.RATING_Z, "z")):
        errors = found.segments.group_by("language_pair", "system").agg(pl.col(column).std(ddof=1).alias("sd"))
        table = found.systems.join(
            errors, on=["language_pair", "system"], how="left", nulls_equal=True, maintain_order="left"
        )
        for row in table.iter_rows(named=True):
            if row[column] is not None:
                measure = Measure(kind, row[column], n=row["segments"], system=row["system"])
                measure.language_pair = row["language_pair"]
                yield _with_interval(measure, row["sd"])


def _differences(found: Findings) -> Iterator[Measure]:
    """Every two systems, the higher rated first: WMT's one-sided rank-sum p, and max-T's over the language pair."""
    scores = {(row["language_pair"], row["system"]): row for row in found.systems.iter_rows(named=True)}
    for part in found.pairs.partition_by("language_pair", maintain_order=True):
        rows = [row for row in part.iter_rows(named=True) if _rank(scores, row, "system") < _rank(scores, row, "than")]
        for row in rows:
            one, other = (scores[(row["language_pair"], row[name])] for name in ("system", "than"))
            kind, column = (kinds.RATING, "raw") if one["z"] is None else (kinds.RATING_Z, "z")
            yield Measure(
                kind.difference(),
                one[column] - other[column],
                n=one["segments"] + other["segments"],
                system=row["system"],
                other=row["than"],
                language_pair=row["language_pair"],
                p=row["p"],
                p_corrected=row["p_corrected"],
                family=(row["language_pair"], "systems"),
                testable=can_separate(one["segments"], other["segments"]),
            )


def _rank(scores: dict[tuple[str | None, str], Any], row: dict[str, Any], name: str) -> int:
    return int(scores[(row["language_pair"], row[name])]["rank"])


def _losses(found: Findings) -> Iterator[Measure]:
    for row in found.degradation.to_dicts():
        place = {"scorer": row["victim"], "perturbation": row["recipe"], "group": row["year"]}
        said: dict[str, Any] = {"family": (row["victim"], "perturbed"), "testable": 0.5 ** row["n"] < ALPHA}
        yield Measure(kinds.RATING_LOSS, row["loss"], row["n"], **place, **_tested(row), **said)


def _suggestions(found: Findings) -> Iterator[Measure]:
    for row in found.suggestions.to_dicts():
        said: dict[str, Any] = {"family": ("suggestions",), "testable": row["p_corrected"] is not None}
        said["group"] = f"{row['outcome']}: {row['about']}"
        n = row["n_with"] + row["n_without"]
        yield Measure(kinds.SUGGESTION_EFFECT, row["difference"], n, **_tested(row), **said)
    for row in found.suggestions_taken.to_dicts():
        yield share(kinds.SUGGESTIONS_ACCEPTED, row["accepted"], row["shown"], group=row["by"])


def _tested(row: dict[str, Any]) -> dict[str, Any]:
    """What a row says of its interval and its test."""
    return {name: row[name] for name in ("low", "high", "p", "p_corrected")}


def _people(found: Findings) -> Iterator[Measure]:
    for pair, agreed in found.agreement.items():
        for scale, alpha in (("raw", agreed.alpha_raw), ("z", agreed.alpha_z)):
            if alpha is not None:
                yield Measure(kinds.KRIPPENDORFF_ALPHA, alpha, n=agreed.units, language_pair=pair, group=scale)
        for kind, value in ((kinds.ANNOTATOR_PEARSON, agreed.pearson), (kinds.ANNOTATOR_KENDALL, agreed.kendall)):
            if value is not None:
                yield Measure(kind, value, n=agreed.common, language_pair=pair)
    for kind, passed, table in (
        (kinds.HITS_PASSED, found.facts.hits_passed, found.hits),
        (kinds.ANNOTATORS_PASSED, found.facts.annotators_passed, found.annotators),
    ):
        if passed is not None:
            yield Measure(kind, 100 * passed, n=int(table["passed"].count()))
    if found.facts.ratings:
        kept = found.facts.ratings_kept
        value = 100 * kept / found.facts.ratings
        yield Measure(kinds.RATINGS_KEPT, value, n=found.facts.ratings, changed=found.facts.ratings - kept)
    if (seconds := found.facts.seconds.median) is not None:
        yield Measure(kinds.SECONDS_PER_RATING, seconds, n=found.facts.ratings)


def _with_interval(measure: Measure, sd: float | None) -> Measure:
    """The mean with 1.96 standard errors over segments on either side."""
    if sd is not None and measure.value is not None and measure.n and measure.n > 1:
        measure.sd = sd / measure.n**0.5
        measure.low, measure.high = measure.value - Z * measure.sd, measure.value + Z * measure.sd
    return measure
