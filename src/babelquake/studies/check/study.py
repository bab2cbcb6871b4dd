"""The study `check`: what is wrong with these translations? No perturbation, no reference."""

import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import polars as pl

from babelquake.data import Dataset
from babelquake.engine import Engine, Progress
from babelquake.errors import GateError, UserError, setting
from babelquake.failures import DETECTORS, WITHOUT_MODEL, Card, Failure, Pair
from babelquake.failures.rules import Rules, read_rules
from babelquake.languages import sides
from babelquake.models.shipped import INSTALL
from babelquake.runs.findings import Finding, Number
from babelquake.runs.measures import Measure, Results, Row, largest_first, values
from babelquake.runs.run import Run
from babelquake.stats.intervals import rate_sd
from babelquake.stats.resampling import segment_keys
from babelquake.studies.card import Study
from babelquake.studies.cells import Cell, share
from babelquake.studies.check import CheckOptions
from babelquake.studies.detection import (
    ANY,
    Detector,
    cards_with,
    detached_in,
    encoder_of,
    failure_cells,
    failures_frame,
)
from babelquake.studies.forecast import Unasked
from babelquake.studies.kinds import shared
from babelquake.studies.options import FailureEncoder, listed, takes
from babelquake.studies.plan import Plan
from babelquake.text import digest

MOST_NAMED = 3
"""Kinds that the verdict names."""


def of_systems(results: Results, pair: str | None, **key: object) -> list[Row]:
    """Rates of single systems over all parts of the data; of all together where none has a name."""
    rows = results.where("failures", language_pair=pair, group=None, **key)
    return [row for row in rows if row["system"] is not None] or rows


def flagged(rows: list[Row]) -> int:
    """How many translations are behind some rates."""
    return sum(round(row["value"] * row["n"] / 100) for row in rows)


def check_findings(run: Run) -> list[Finding]:
    """Per language pair the share with a failure, the commonest kinds, the systems with the most and the fewest."""
    results = Results.of(run)
    found = []
    for pair in values(results.where("failures"), "language_pair"):
        overall = of_systems(results, pair, scorer=ANY)
        kinds = {
            kind: flagged(of_systems(results, pair, scorer=kind))
            for kind in values(results.where("failures", language_pair=pair), "scorer")
            if kind != ANY
        }
        first = sorted((kind for kind, count in kinds.items() if count), key=lambda kind: -kinds[kind])[:MOST_NAMED]
        ranked = largest_first(overall)
        facts: dict[str, float | str] = {"translations": sum(row["n"] for row in overall), "flagged": flagged(overall)}
        facts |= {f"kind:{kind}": kinds[kind] for kind in first}
        numbers = tuple(Number.of(row) for row in ranked)
        found.append(Finding(what="failures", weight="answer", language_pair=pair, numbers=numbers, facts=facts))
    return found


CHECK = Study(
    "check",
    CheckOptions,
    question="What is wrong with these translations?",
    inputs=("translation|references",),
    measures=(shared.FAILURES, shared.FAILURES_PERTURBED),
    gated=("failures", "failures_perturbed"),
    cells=lambda run, scorers, resamples, seed: _cells(run, resamples, seed),
    counts=lambda run, measure, perturbation: perturbation is None,
    subject="system",
    plan=lambda options: plan(options),
    findings=check_findings,
)
TIMED = 100
"""Translations that a forecast looks at to know how long all of them take."""
GROUPED_BY = "part"
"""A column of the data whose values are measured separately too, such as the versions of a test suite."""


def plan(options: CheckOptions) -> Plan:
    """Look at every translation; nobody is asked, so that the time is that of a sample."""
    material = _with_translations(options.dataset())

    def local() -> Iterable[Unasked]:
        segments = _translations(material)
        look, sample, engine = Look.of(options), segments.head(TIMED), Engine(quiet=True)
        _failures(sample.head(1), look, engine)  # models are loaded once
        started = time.process_time()
        _failures(sample, look, engine)
        seconds = (time.process_time() - started) * segments.height / sample.height
        characters = int(segments["translation"].str.len_chars().sum())
        yield Unasked("failure detectors", None, False, segments.height, characters, None, seconds, what="translations")

    return Plan("check", options, material, (), local=local, notes=material.notes)


@dataclass(frozen=True)
class Look:
    """What is looked for, and with what."""

    kinds: list[str] | None
    """None for all."""
    encoder: FailureEncoder
    rules: Rules | None

    @classmethod
    def of(cls, options: CheckOptions) -> "Look":
        """As the options say it."""
        kinds = None if options.kinds is None else listed(options.kinds)
        for kind in kinds or ():
            DETECTORS.get(kind)
        given = options.rules
        rules = given if isinstance(given, Rules) or given is None else read_rules(given)
        return cls(kinds, encoder_of(options.encoder), rules)

    def cards(self, here: pl.DataFrame) -> list[Card]:
        """The detectors that serve the segments of one language pair."""
        return cards_with(self.encoder, *sides(here["language_pair"][0]), self.kinds, sources=_has_sources(here))


@takes(CheckOptions)
def check(options: CheckOptions) -> Run:
    """Look for failures in translations: flags with evidence, rates with intervals per system and language pair."""
    planned, look = plan(options), Look.of(options)
    said = None if look.rules is None else digest([look.rules.model_dump_json()])
    with CHECK.session(planned, kinds=look.kinds, rules=said, encoder=look.encoder) as session:
        if session.finished:
            return session.run
        segments = session.once("segments", lambda: _translations(planned.data))
        session.say(*planned.notes, *_not_judged(segments, look))
        found = session.once("failures", lambda: _failures(segments, look, session.engine))
        ours = look.rules.kinds if look.rules else ()
        kinds = {
            pair: [*(card.kind for card in look.cards(here)), *ours]
            for (pair,), here in segments.group_by("language_pair", maintain_order=True)
        }
        return session.finish(rates(segments, found, kinds))


def _with_translations(data: Dataset) -> Dataset:
    """Data whose only target texts are references, as a spreadsheet's column `target` is read: these are checked."""
    if data.has("translation") or not data.has("references"):
        return data
    first = data.segments.with_columns(translation=pl.col("references").list.first())
    said = "There is no column translation, so the references are checked."
    return replace(data, segments=first, notes=(*data.notes, said))


def _translations(data: Dataset) -> pl.DataFrame:
    """One row per translation, those of perturbed sources after those of clean ones; missing ones are left out.

    A clean source with several variants was translated once.
    """
    segments = data.segments
    kept = [name for name in (GROUPED_BY, "document") if name in segments.columns]
    columns = ["id", "system", "language_pair", "source", "translation", *kept]
    clean = segments.select(*columns, perturbation=pl.lit(None, pl.String))
    parts = [clean]
    if data.has("translation_perturbed"):
        parts = [clean.unique(["id", "system", "language_pair", "source", "translation"], maintain_order=True)]
        label = pl.col("perturbation") if "perturbation" in segments.columns else pl.lit("perturbed")
        parts.append(
            segments.select(
                "id",
                "system",
                "language_pair",
                pl.col("perturbed").alias("source"),
                pl.col("translation_perturbed").alias("translation"),
                *kept,
                perturbation=label,
            )
        )
    found = pl.concat(parts).filter(pl.col("translation").is_not_null())
    if not found.height:
        raise UserError(f"{data.name} has no translations.")
    return found.with_row_index("row")


def _has_sources(segments: pl.DataFrame) -> bool:
    return segments["source"].null_count() < segments.height


def _not_judged(segments: pl.DataFrame, look: Look) -> Iterator[str]:
    """What could not be looked for, and why."""
    kinds, encoder = look.kinds, look.encoder
    wanted = kinds if kinds is not None else DETECTORS.names()
    asked = {"injection", "exchange"}
    injected = [kind for kind in wanted if asked & DETECTORS.get(kind).needs]
    if injected and kinds is not None:
        yield f"{', '.join(injected)}: not looked for, because only mt knows what a system was sent."
    wanted = [kind for kind in wanted if kind not in injected]
    modelled = [kind for kind in wanted if DETECTORS.get(kind).cost == "encoder"]
    if modelled and encoder == "none":
        missing = f" {INSTALL}" if encoder_of("auto") == "none" else ""
        yield f"{', '.join(modelled)}: not looked for, because no encoder is used.{missing}"
    for (pair,), here in segments.group_by("language_pair", maintain_order=True):
        served = {card.kind for card in look.cards(here)}
        lacking = [kind for kind in wanted if kind not in served and (encoder != "none" or kind not in modelled)]
        if not lacking:
            continue
        why = "the language pair is unknown; name it with language_pair" if pair is None else f"{pair} is not served"
        if not _has_sources(here):
            why = "there are no sources"
        yield f"{', '.join(lacking)}: not looked for, because {why}."


def _failures(segments: pl.DataFrame, look: Look, engine: Engine) -> pl.DataFrame:
    """What is wrong with each translation, by `row` of the segments."""
    rows: list[tuple[int, Failure]] = []
    with Progress("checking", segments.height, "translations", engine.quiet) as progress:
        for (pair,), here in segments.group_by("language_pair", maintain_order=True):
            source, target = sides(pair)
            detect = Detector(source, target, [card for card in look.cards(here) if card.cost in WITHOUT_MODEL])
            told = here.select("row", "id", "source", "translation").iter_rows()
            for count, (row, segment, text, translation) in enumerate(told, 1):
                rows += [(row, failure) for failure in detect(text, translation)]
                if look.rules is not None:
                    broken = look.rules.failures(Pair(text, translation, source, target), segment)
                    rows += [(row, failure) for failure in broken]
                if not count % 1000:
                    progress.advance(1000)
            progress.advance(here.height % 1000)
    on = ["id", "system"]
    for (pair,), here in segments.group_by("language_pair", maintain_order=True):
        if any(card.kind == "detached" for card in look.cards(here)):
            clean = here.filter(pl.col("perturbation").is_null()).unique(on).select(*on, clean="source")
            joined = here.join(clean, on=on, how="left", nulls_equal=True, maintain_order="left")
            beside = joined.with_columns(source=pl.coalesce("clean", "source"))
            rows += detached_in(beside, *sides(pair), look.encoder, engine)
    places = pl.Series("row", [row for row, _ in rows], pl.UInt32)
    return failures_frame(failure for _, failure in rows).insert_column(0, places).sort("row", maintain_order=True)


def rates(segments: pl.DataFrame, failures: pl.DataFrame, kinds: dict[str | None, list[str]]) -> list[Measure]:
    """Per language pair, system and perturbation the share of translations with each kind, and with any at all.

    Where the data say which `part` of a suite a line belongs to, each part is measured too. A language pair with
    several systems has a measure over all of them, without a name in the column `system`.
    """
    flagged = failures.select("row", "kind")
    flagged = pl.concat([flagged, flagged.with_columns(kind=pl.lit(ANY))]).unique()
    part = pl.col(GROUPED_BY) if GROUPED_BY in segments.columns else pl.lit(None)
    base = segments.with_columns(part=part.cast(pl.String))
    found = base.join(flagged, on="row")
    measures: list[Measure] = []
    cells: list[tuple[str, ...]] = [("language_pair", "system", "perturbation")]
    if segments["system"].n_unique() > 1:
        cells.append(("language_pair", "perturbation"))
    if base["part"].n_unique() > 1:
        cells.append(("language_pair", "system", "perturbation", "part"))
    for columns in cells:
        sizes = base.group_by(columns, maintain_order=True).agg(pl.len().alias("n"))
        counts = {row[:-1]: row[-1] for row in found.group_by(*columns, "kind").len().iter_rows()}
        for row in sizes.iter_rows(named=True):
            n, place = row.pop("n"), tuple(row.values())
            named = {"group" if name == "part" else name: value for name, value in row.items()}
            for kind in [ANY, *kinds[row["language_pair"]]]:
                count = counts.get((*place, kind), 0)
                measures.append(share(shared.FAILURES, count, n, sd=100 * rate_sd(count, n), scorer=kind, **named))
    return measures


def _cells(run: Run, resamples: int, seed: int) -> Iterator[Cell]:
    """Rates as cells, for comparisons with another run; a translation without a source is known by its id."""
    segments = run.segments
    known = segments["source"].fill_null(segments["id"].cast(pl.String))
    made = segments.rename({"row": "place"}).with_columns(key=pl.Series(segment_keys(known)))
    return failure_cells(run, made, run.table("failures").rename({"row": "place"}), resamples, seed)


def require(run: Run, limits: Iterable[str]) -> None:
    """Stop with a GateError where a rate is above its limit: `number`, `placeholder>0`, `any>2.5` (per cent).

    A kind alone may not occur at all. The rate of every system counts, clean and perturbed.
    """
    measures = run.measures.filter(pl.col("group").is_null())
    known, several_systems = measures["scorer"].unique().to_list(), measures["system"].drop_nulls().n_unique() > 1
    said = []
    for limit in limits:
        kind, allowed = limited(limit)
        if kind not in known:
            there = ", ".join(sorted(known))
            raise UserError(f"{setting('fail_on', limit)}: nothing called '{kind}' was looked for. There are: {there}.")
        for row in measures.filter(pl.col("scorer") == kind, pl.col("value") > allowed).iter_rows(named=True):
            if row["system"] is None and several_systems:
                continue
            where = " · ".join(filter(None, (row["system"], row["language_pair"], row["perturbation"])))
            flagged = round(row["value"] * row["n"] / 100)
            said.append(f"{kind}: {flagged} of {row['n']} translations ({row['value']:.2f} %) of {where or 'the data'}")
    if said:
        more = f" and {len(said) - 5} more" if len(said) > 5 else ""
        raise GateError("; ".join(said[:5]) + more + ".")


def limited(limit: str) -> tuple[str, float]:
    """The kind that a limit names, and the percentage it may reach."""
    kind, _, most = (part.strip() for part in limit.partition(">"))
    try:
        allowed = float(most.rstrip("%") or 0)
    except ValueError:
        allowed = math.nan
    if not 0 <= allowed <= 100:
        raise UserError(f"{setting('fail_on', limit)}: expected a kind, or a kind and a percentage, as in number>0.5.")
    return kind, allowed
