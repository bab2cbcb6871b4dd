"""The MT study: how do translations change when the source changes a little? (Niu 2020; Jwalapuram 2023 §4)"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from babelquake.data import Dataset
from babelquake.engine import Cache, Engine, Progress
from babelquake.errors import UserError
from babelquake.perturb import PERTURBATIONS
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.runs.measures import measures_frame
from babelquake.runs.run import Run
from babelquake.runs.signature import run_signature
from babelquake.scorers import Questions, Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.scorers.strings.chrf import ChrF
from babelquake.stats.corrections import holm
from babelquake.studies.missing import missing_error
from babelquake.studies.mt import robustness
from babelquake.studies.mt.audit import audit
from babelquake.studies.mt.reset import reset_ending
from babelquake.studies.mt.sources import one_row_per_source, source_language, source_variants
from babelquake.studies.mt.what_changed import kind_of_change
from babelquake.studies.signing import sign, suite_signatures
from babelquake.studies.tables import (
    languages,
    list_column,
    lower_is_better,
    references_each,
    scorer_signatures,
)
from babelquake.systems import System
from babelquake.systems import system as system_of

STUDY = "translation"
Reset = Literal["auto", "always", "never"]


def translation(
    systems: Sequence[str | System],
    data: Dataset,
    suite: str | Suite,
    scorers: Sequence[str | Scorer],
    out: Path | str,
    *,
    seed: int = 0,
    replicates: int | None = None,
    threshold: float = 75.0,
    reset: Reset = "auto",
    resamples: int = 10_000,
    restart: bool = False,
    engine: Engine | None = None,
) -> Run:
    """ROBUST, CONSIS, % inconsistent and what changed, for systems under a suite of source perturbations.

    `reset` undoes final marks that follow the source's (§4.1): `auto` for the punctuation family only. `replicates`
    repeats stochastic perturbations; segments stay the unit of resampling.
    """
    changes = suite_of(suite, replicates)
    judges = list({judge.name: judge for judge in map(scorer_of, scorers)}.values())
    engine = engine or Engine(Cache())
    if not data.has("source"):
        raise UserError(f"{data.name} has no sources: the MT study perturbs the column `source`.")
    config = {
        "system": [item if isinstance(item, str) else item.name for item in systems],
        "language_pair": data.language_pairs,
        "data": f"{data.name}#{data.hash}",
        "suite": [str(change.spec) for change in changes.perturbations],
        "replicates": [changes.repeats(change) for change in changes.perturbations],
        "scorer": [str(judge.spec) for judge in judges],
        "seed": seed,
        "threshold": threshold,
        "reset": reset,
        "resamples": resamples,
    }
    pairs = data.segments["language_pair"].unique().sort()
    made = {pair: [system_of(item, pair) for item in systems] for pair in pairs}
    _distinct_names(made)
    run = Run.resume(out, STUDY, config, restart)
    with run.alone():
        segments = run.once("segments", lambda: one_row_per_source(data.segments))
        by_system = {(pair, item.name): item.signature for pair in made for item in made[pair]}
        run.same_signatures(
            {" ".join(filter(None, ["system", name, pair])): by_system[pair, name] for pair, name in by_system}
        )
        for judge in judges:
            judge.attach(data.segments)
        run.same_signatures(scorer_signatures(judges, references_each(segments)))
        if run.has("measures") and run.info.finished:
            return run
        variants = run.once("variants", lambda: source_variants(segments, changes, seed))
        run.info.facts["audit"] = audit(segments)
        run.info.notes = [*data.notes, *_missing_references(segments), *_not_applicable(variants, changes)]
        try:
            translations = run.once("translations", lambda: _translations(made, segments, variants, reset, engine))
        finally:
            for group in made.values():
                for item in group:
                    item.close()
        scores = run.once("scores", lambda: _scores(judges, segments, translations, engine))
        _require_scores(scores, translations)
        run.info.notes += _without_consis(judges)
        run.info.facts["lower_is_better"] = lower_is_better(judges)
        run.info.signatures |= suite_signatures(changes, list(made), source_language)
        rows = results(scores, translations, judges, threshold, resamples, seed, engine.quiet)
        by_name = {judge.name: judge.signature_for(references_each(segments)) for judge in judges}
        sign(
            rows, STUDY, run_signature(seed=seed, data=data.hash, resamples=resamples), systems=by_system,
            scorers={"chrf": ChrF().signature} | by_name, changes=changes, language=source_language,
        )  # fmt: skip
        return run.finish(measures_frame(rows))


def _translations(
    made: dict[str | None, list[System]], segments: pl.DataFrame, variants: pl.DataFrame, reset: Reset, engine: Engine
) -> pl.DataFrame:
    chrf = ChrF()
    parts = []
    for pair, systems in made.items():
        here = segments.filter(pl.col("language_pair").eq_missing(pl.lit(pair, pl.String)))
        noisy = variants.filter(pl.col("language_pair").eq_missing(pl.lit(pair, pl.String)))
        target = languages(pair)[1]
        sources = dict(zip(here["row"], here["source"].fill_null(""), strict=True))
        for item in systems:
            everything = engine.translate(item, [*sources.values(), *noisy["text"]])
            clean = dict(zip(sources, everything[: len(sources)], strict=True))
            raw = everything[len(sources) :]
            resets = {name: _resets(name, reset) for name in noisy["perturbation"].unique()}
            judged = [
                reset_ending(text, clean[row], changed, sources[row]) if resets[name] else text
                for text, row, name, changed in zip(
                    raw, noisy["row"], noisy["perturbation"], noisy["text"], strict=True
                )
            ]
            against = [clean[row] for row in noisy["row"]]
            agreement = chrf.segments(judged, against)
            kinds = [
                kind_of_change(before, after, changed, target)
                for before, after, changed in zip(against, judged, noisy["text"], strict=True)
            ]
            parts.append(_clean_rows(here, clean, item.name))
            parts.append(
                noisy.select(
                    pl.lit(item.name).alias("system"), "language_pair", "row", "id", "perturbation", "level",
                    "replicate", pl.col("text").alias("source"),
                ).with_columns(
                    translation=pl.Series(raw, dtype=pl.String),
                    judged=pl.Series(judged, dtype=pl.String),
                    change=pl.Series(kinds, dtype=pl.String),
                    consistency=pl.Series(agreement, dtype=pl.Float64),
                )
            )  # fmt: skip
    return pl.concat(parts, how="diagonal")


def _clean_rows(here: pl.DataFrame, clean: dict[int, str], name: str) -> pl.DataFrame:
    texts = pl.Series(list(clean.values()), dtype=pl.String)
    return here.select(pl.lit(name).alias("system"), "language_pair", "row", "id", "source").with_columns(
        translation=texts, judged=texts
    )


def _resets(label: str, reset: Reset) -> bool:
    if reset == "auto":
        return PERTURBATIONS.get(label.partition("[")[0]).family == "punctuation"
    return reset == "always"


def _scores(
    judges: Sequence[Scorer], segments: pl.DataFrame, translations: pl.DataFrame, engine: Engine
) -> pl.DataFrame:
    """Per translation and scorer: quality against the references, and agreement with the clean one both ways."""
    references = dict(zip(segments["row"], segments["references"].to_list(), strict=True))
    sources = dict(zip(segments["row"], segments["source"].fill_null(""), strict=True))
    clean = {
        (item, row): text
        for item, row, text in translations.filter(pl.col("perturbation").is_null())
        .select("system", "row", "judged")
        .iter_rows()
    }
    rows = translations["row"].to_list()
    texts = translations["judged"].to_list()
    originals = [sources[row] for row in rows]
    parts = []
    for judge in judges:
        keys = translations.select("system", "language_pair", "row", "id", "perturbation", "level", "replicate")
        table = keys.with_columns(scorer=pl.lit(judge.name))
        judgeable = "reference" not in judge.needs or all(references.values())
        if judgeable:
            given = [references[row] for row in rows] if "reference" in judge.needs else None
            statistics = engine.judge(judge, Questions(texts, given, originals))
            table = table.with_columns(
                score=pl.Series(judge.score_rows(statistics)), statistics=list_column(statistics)
            )
        else:
            table = table.with_columns(score=pl.lit(None, pl.Float64), statistics=pl.lit(None, pl.List(pl.Float64)))
        if "reference" not in judge.needs:
            missing = pl.lit(None, pl.List(pl.Float64))
            parts.append(table.with_columns(forward=missing, backward=missing))
            continue
        noisy = translations["perturbation"].is_not_null().to_numpy().nonzero()[0]
        before = [clean[translations["system"][int(place)], rows[place]] for place in noisy]
        after = [texts[place] for place in noisy]
        here = [originals[place] for place in noisy]
        forward = engine.judge(judge, Questions(after, [[text] for text in before], here))
        backward = engine.judge(judge, Questions(before, [[text] for text in after], here))
        both = pl.DataFrame({"place": noisy}, schema={"place": pl.UInt32}).with_columns(
            forward=list_column(forward), backward=list_column(backward)
        )
        parts.append(table.with_row_index("place").join(both, on="place", how="left").drop("place"))
    return pl.concat(parts)


def results(
    scores: pl.DataFrame,
    translations: pl.DataFrame,
    judges: list[Scorer],
    threshold: float,
    resamples: int,
    seed: int,
    quiet: bool = True,
) -> list[dict[str, Any]]:
    """All results of the study as tidy rows."""
    found = list(robustness.cells(scores, judges, resamples, seed))
    rows = []
    with Progress("resampling", len(found), "cells", quiet) as progress:
        for cell in found:
            rows += robustness.cell_results(cell)
            progress.advance(1)
    _correct([row for row in rows if row["measure"] == "delta"])
    corrected = {_cell_key(row): row["p_corrected"] for row in rows if row["measure"] == "delta"}
    for row in rows:
        if row["measure"] == "robust":
            row["p_corrected"] = corrected[_cell_key(row)]
    rows += robustness.inconsistency(translations, threshold, resamples, seed)
    differences = robustness.system_differences(found)
    _correct(differences)
    rows += differences + robustness.ranks(found) + robustness.robust_consis_correlation(found)
    rows += _changes(translations)
    return rows


def _correct(rows: list[dict[str, Any]]) -> None:
    """Holm's correction over one family of tests."""
    for row, p in zip(rows, holm(row["p"] for row in rows), strict=True):
        row["p_corrected"] = float(p)


def _cell_key(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in robustness.KEYS)


def _changes(translations: pl.DataFrame) -> list[dict[str, Any]]:
    """Per system and perturbation: the share of each kind of change, in per cent."""
    groups = ["language_pair", "system", "perturbation", "level"]
    noisy = translations.filter(pl.col("perturbation").is_not_null())
    counts = noisy.group_by([*groups, "change"], maintain_order=True).len()
    totals = noisy.group_by(groups, maintain_order=True).agg(pl.len().alias("n"))
    joined = counts.join(totals, on=groups, how="left", nulls_equal=True, maintain_order="left")
    return [
        {**{name: row[name] for name in groups}, "measure": f"changed_{row['change']}",
         "value": 100 * row["len"] / row["n"], "n": row["n"]}
        for row in joined.iter_rows(named=True)
    ]  # fmt: skip


def _require_scores(scores: pl.DataFrame, translations: pl.DataFrame) -> None:
    """Ready-made scores must know every translation that is judged."""
    for (name,), mine in scores.group_by("scorer", maintain_order=True):
        if missing := int(mine["score"].is_nan().sum()):
            place = mine["score"].is_nan().arg_max() or 0
            text = translations["judged"][place]
            raise missing_error(str(name), missing, mine.height, "translations", mine["id"][place], text)


def _without_consis(judges: Sequence[Scorer]) -> list[str]:
    names = [judge.name for judge in judges if "reference" not in judge.needs]
    return [f"{', '.join(names)} cannot compare two translations: no CONSIS."] if names else []


def _missing_references(segments: pl.DataFrame) -> list[str]:
    missing = segments.filter(pl.col("references").is_null() | (pl.col("references").list.len() == 0)).height
    if not missing:
        return []
    return [f"{missing} of {segments.height} segments have no reference: only CONSIS and % inconsistent are measured."]


def _not_applicable(variants: pl.DataFrame, changes: Suite) -> list[str]:
    """Perturbations without a row in the results, named rather than dropped in silence."""
    applied = set(variants.select("perturbation", "level").unique().iter_rows())
    return [
        f"{change.spec} applies to no segment." for change in changes.perturbations
        if (change.label, change.level) not in applied
    ]  # fmt: skip


def _distinct_names(made: dict[str | None, list[System]]) -> None:
    for group in made.values():
        names = [item.name for item in group]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise UserError(f"two systems are called '{sorted(doubled)[0]}': give each one once.")
