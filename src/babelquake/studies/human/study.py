"""The study `human`: what ratings say, as a run folder with its measures."""

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl
from pydantic import JsonValue

from babelquake.data import Dataset
from babelquake.data.ratings import COUNTED, Ratings, read_ratings
from babelquake.errors import UserError, setting
from babelquake.runs.findings import Finding, Number, Weight
from babelquake.runs.measures import ALPHA, Measure, Results
from babelquake.runs.run import Run
from babelquake.spec import run_signature
from babelquake.stats.intervals import Z
from babelquake.stats.ranks import can_separate
from babelquake.studies.card import RunInProgress, Study
from babelquake.studies.cells import share
from babelquake.studies.forecast import Unasked
from babelquake.studies.human import HumanOptions
from babelquake.studies.human.findings import TABLES, Findings, findings
from babelquake.studies.kinds import human as kinds
from babelquake.studies.options import takes
from babelquake.studies.plan import Plan
from babelquake.studies.resolve import several
from babelquake.text import digest


def human_measures(found: Findings) -> list[Measure]:
    """Every number of the findings that is one."""
    return [
        *_systems(found),
        *_rating_differences(found),
        *_rating_losses(found),
        *_of_suggestions(found),
        *_people(found),
    ]


def _systems(found: Findings) -> Iterator[Measure]:
    """Means with 1.96 standard errors over segments on either side."""
    for kind, column in ((kinds.RATING, "raw"), (kinds.RATING_Z, "z")):
        errors = found.segments.group_by("language_pair", "system").agg(pl.col(column).std(ddof=1).alias("sd"))
        table = found.systems.join(
            errors, on=["language_pair", "system"], how="left", nulls_equal=True, maintain_order="left"
        )
        for row in table.iter_rows(named=True):
            mean, n = row[column], row["segments"]
            if mean is not None:
                place = {"system": row["system"], "language_pair": row["language_pair"]}
                error = None if row["sd"] is None or n < 2 else row["sd"] / n**0.5
                low, high = (None, None) if error is None else (mean - Z * error, mean + Z * error)
                yield Measure(kind, mean, n, sd=error, low=low, high=high, **place)


def _rating_differences(found: Findings) -> Iterator[Measure]:
    """Every two systems, the higher rated first: WMT's one-sided rank-sum p, and max-T's over the language pair."""
    scores = {(row["language_pair"], row["system"]): row for row in found.systems.iter_rows(named=True)}
    for row in found.pairs.iter_rows(named=True):
        one, other = (scores[(row["language_pair"], row[name])] for name in ("system", "than"))
        if one["rank"] > other["rank"]:
            continue
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


def _rating_losses(found: Findings) -> Iterator[Measure]:
    for row in found.degradation.to_dicts():
        place = {"scorer": row["victim"], "perturbation": row["recipe"], "group": row["year"]}
        said: dict[str, Any] = {"family": (row["victim"], "perturbed"), "testable": 0.5 ** row["n"] < ALPHA}
        yield Measure(kinds.RATING_LOSS, row["loss"], row["n"], **place, **_tested(row), **said)


def _of_suggestions(found: Findings) -> Iterator[Measure]:
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


LEAST_KEPT = 50.0
"""Per cent of the ratings that quality control must leave for a ranking to be spoken of.

Where nothing is left out, per cent of annotators that must pass for a ranking to be believed; tasks may have too few
control items to pass.
"""


def human_findings(run: Run) -> list[Finding]:
    """Rejected ratings first; the winner or the tie at the top; perturbed translations, quality control, agreement.

    Where most ratings did not pass quality control, what is left is not a base for a ranking.
    """
    results, systems, exclude = Results.of(run), run.table("systems"), str(run.info.config.get("exclude"))
    kept = [row for row in results.known("ratings_kept") if row["value"] < LEAST_KEPT]
    found = [Finding(what="ratings_rejected", weight="alarm", numbers=(Number.of(row),)) for row in kept]
    if not found:
        for pair in systems["language_pair"].unique(maintain_order=True).to_list():
            found += _best(results, systems.filter(pl.col("language_pair").eq_missing(pl.lit(pair))), pair)
    found += [*_losses(results), *_suggestions(results)]
    for measure in ("hits_passed", "annotators_passed"):
        for row in results.known(measure):
            alarming = exclude == "none" and measure == "annotators_passed" and row["value"] < LEAST_KEPT
            weight: Weight = "alarm" if alarming else "detail"
            found.append(Finding.on(measure, row, facts={"exclude": exclude}, weight=weight))
    return [*found, *(Finding.on("annotators_agree", row) for row in results.known("krippendorff_alpha", group="z"))]


def _best(results: Results, systems: pl.DataFrame, pair: str | None) -> Iterator[Finding]:
    """The system in front, with the differences to all others."""
    first: dict[str, Any] = systems.row(0, named=True)
    names = ("rating", "rating_z")
    rows = [results.one(name, language_pair=pair, system=system) for system in systems["system"] for name in names]
    against = [
        row
        for row in results.where("rating_z_difference", "rating_difference", language_pair=pair)
        if first["system"] in (row["system"], row["other"])
    ]
    tests = map(Number.of, against)  # ahead of all: what decides is a test that cannot be made, or the largest p
    weakest = max(tests, key=lambda number: (not number.tested, number.p or 0.0), default=None)
    top = systems.filter(cluster=1).height
    what = "rated" if systems.height == 1 else "rated_best"
    facts = {"systems": systems.height, "first_cluster": top}
    yield Finding.on(what, *rows, *against, of="system", weight="answer", test=weakest, facts=facts)


def _losses(results: Results) -> Iterator[Finding]:
    rows = results.known("rating_loss")
    if rows:
        total = sum(row["n"] for row in rows)
        mean = sum(float(row["value"]) * row["n"] for row in rows) / total
        yield Finding(what="rating_loss", numbers=tuple(map(Number.of, rows)), facts={"mean": mean})


def _suggestions(results: Results) -> Iterator[Finding]:
    """What suggested errors do to scores and to marks: where something was suggested."""
    rows = [row for row in results.known("suggestion_effect") if str(row["group"]).endswith(": something suggested")]
    by = {str(row["group"]).partition(":")[0]: row for row in rows}
    wanted = [by[name] for name in ("score", "marked_there", "marked_elsewhere") if name in by]
    if wanted:
        yield Finding(what="suggestions_change", numbers=tuple(map(Number.of, wanted)))


HUMAN = Study(
    "human",
    HumanOptions,
    question="What do people say about these translations?",
    words=("annotate", "analyse"),
    measures=tuple(kinds),
    findings=human_findings,
    plan=lambda options: plan(options),
)
TIMED = 2000
"""Ratings that a forecast analyses to know how long all of them take."""


def plan(options: HumanOptions) -> Plan:
    """Analyse what people said; nobody is asked, so that the time is that of a sample."""
    ratings = _ratings(options)
    rated = ratings.frame if ratings.means is None else ratings.means

    def local() -> Iterable[Unasked]:
        sample = replace(ratings, frame=ratings.frame.head(TIMED))
        started = time.process_time()
        findings(sample, exclude=options.exclude, least=options.least)
        seconds = (time.process_time() - started) * max(1.0, ratings.frame.height / TIMED)
        work = "quality control, agreement and ranking"
        yield Unasked(work, None, False, rated.height, None, None, seconds, what="ratings")

    segments = rated.unique(["language_pair", "segment"], maintain_order=True)
    data = Dataset(ratings.name, segments, notes=tuple(ratings.notes))
    return Plan("human", options, data, (), local=local, notes=data.notes)


@takes(HumanOptions)
def human(options: HumanOptions) -> Run:
    """Quality control, means, agreement, ranking and power of ratings, kept as a run with its own report."""
    ratings = _ratings(options)
    found = findings(
        ratings,
        exclude=options.exclude,
        least=options.least,
        counted=options.counted or COUNTED,
        alpha=options.alpha,
        power=options.power,
    )
    return keep(found, ratings, options)


def _ratings(options: HumanOptions) -> Ratings:
    given: Any = options.data
    return of_pair(given if isinstance(given, Ratings) else read_ratings(given), options.language_pair)


def of_pair(ratings: Ratings, language_pair: str | None) -> Ratings:
    """The ratings of one language pair, where one is asked for."""
    if language_pair is None:
        return ratings
    known = ratings.frame["language_pair"].unique(maintain_order=True).drop_nulls().to_list()
    if language_pair not in known:
        has = f"has {', '.join(known)}" if known else "does not name any language pair"
        raise UserError(f"{setting('language_pair', language_pair)}: {ratings.name} {has}.")
    return replace(ratings, frame=ratings.frame.filter(pl.col("language_pair") == language_pair))


def keep(found: Findings, ratings: Ratings, options: HumanOptions) -> Run:
    """Findings as a run folder: their tables, their measures, and how they were made."""
    mark = digest([ratings.frame.write_csv(), ratings.means.write_csv() if ratings.means is not None else ""])
    made_with: dict[str, JsonValue] = {"exclude": found.facts.exclude, "least": found.facts.least}
    signature = run_signature(data=mark, **made_with)
    with RunInProgress(HUMAN.name, options, data=f"{ratings.name}#{mark}", **made_with) as session:
        info = session.run.info
        data: Any = info.options.pop("data")
        info.words += map(str, several(data))  # its command takes them by position
        info.options.update(made_with)  # what the command does unasked depends on the data
        for name in ("ratings", *TABLES):
            table = getattr(found, name)
            session.once(name, lambda table=table: table)  # type: ignore[misc]
        session.say(*found.notes)
        return session.signed(human_measures(found), lambda measure: signature)
