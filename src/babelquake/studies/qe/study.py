"""The QE study: does a quality-estimation model see what matters, and only that? (Kanojia 2021)

Good translations are probed with meaning-preserving (MPP) and meaning-altering (MAP) changes; a strong model loses
little score to the former and much to the latter. §3: segments with a mean raw DA of 70 or more; §5: 20 replicates of
stochastic probes, averaged per segment, then over the set; §6.3: models ranked by MPP − MAP and by Pearson.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.runs.measures import measures_frame
from babelquake.runs.run import Run
from babelquake.runs.signature import run_signature
from babelquake.scorers import Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.studies.correlate.agreements import agreements, parts_by_pair
from babelquake.studies.metric.study import meaning_of
from babelquake.studies.missing import require_clean_scores, require_scores, without_perturbed
from babelquake.studies.mt.robustness import result
from babelquake.studies.probing import Material, probe
from babelquake.studies.qe.discrimination import probe_results, ranking_results, standardised
from babelquake.studies.signing import sign, suite_signatures
from babelquake.studies.tables import languages, lower_is_better, references_each, scorer_signatures, vocabularies

STUDY = "quality"
TITLES = {
    "punct-remove": "punctuation removed (MPP1)",
    "punct-replace": "punctuation replaced (MPP2)",
    "det-remove": "determiners removed (MPP3)",
    "det-replace": "determiners replaced (MPP4)",
    "upper-words": "words upper-cased (MPP5)",
    "lower-words": "words lower-cased (MPP6)",
    "negation-remove": "negation removed (MAP1)",
    "word-drop": "a content word omitted (MAP2)",
    "word-repeat": "a content word repeated (MAP3)",
    "word-insert": "a random word added (MAP4)",
    "word-replace": "a content word replaced (MAP5)",
    "mask-replace": "words replaced by a masked LM (MAP6)",
    "antonym": "words replaced by antonyms (MAP7)",
    "source-copy": "source copied (MAP8)",
}


def quality(
    scorers: Sequence[str | Scorer],
    data: Dataset,
    out: Path | str,
    suite: str | Suite = "kanojia2021",
    *,
    threshold: float = 70.0,
    masked_lm: str | None = None,
    seed: int = 0,
    replicates: int | None = None,
    resamples: int = 2000,
    restart: bool = False,
    engine: Engine | None = None,
) -> Run:
    """Score drops per probe, discrimination MPP − MAP, rankings and flags, for any scorers.

    A scorer that needs a reference is given the source where the data have none: chrF against the source is the
    simplest baseline there is.
    """
    changes = probes(suite, masked_lm, replicates)
    judges = [scorer_of(item) for item in scorers]
    engine = engine or Engine()
    config = {
        "scorer": [str(judge.spec) for judge in judges],
        "language_pair": data.language_pairs,
        "data": f"{data.name}#{data.hash}",
        "suite": [str(change.spec) for change in changes.perturbations],
        "replicates": replicates,
        "threshold": threshold,
        "seed": seed,
        "resamples": resamples,
    }
    run = Run.resume(out, STUDY, config, restart)
    with run.alone():
        ready = [judge.name for judge in judges if judge.attach(data.segments) is not None]
        references = references_each(data.segments) if data.has("references") else 1
        run.same_signatures(scorer_signatures(judges, references))
        if run.has("measures") and run.info.finished:
            return run
        everything = judged_segments(data)
        selected, selection = select(everything, threshold)
        run.info.facts["selection"] = selection
        run.info.facts["probes"] = {
            change.label: {"meaning": meaning_of(change), "title": TITLES.get(change.name, change.label)}
            for change in changes.perturbations
        }
        run.info.notes = [*data.notes, selection, *_reference_note(data, judges), *left_out(changes)]
        run.once("segments", lambda: selected)
        material = Material(selected, "translation", "target")
        tables = probe(run, material, changes, judges, engine, seed)
        unprobed = _unprobed(tables, selected, judges, ready)
        humans = run.once("humans", lambda: _all_scores(everything, judges, engine))
        require_clean_scores(humans, everything, "translations")
        rows, flags = probe_results(tables["sums"], judges, run.info.facts["probes"], resamples, seed, unprobed)
        rows += standardised(rows, _spreads(humans))
        rows += _pearson(everything, humans, judges, resamples, seed)
        rows += ranking_results(rows, seed)
        run.info.facts["flags"] = flags
        run.info.facts["lower_is_better"] = lower_is_better(judges)
        run.info.notes += [
            f"{name} has no scores for perturbed texts: only its mean and its Pearson are reported."
            for name in unprobed
        ]
        run.info.signatures |= suite_signatures(changes, data.language_pairs, target_language)
        signature = run_signature(seed=seed, data=data.hash, threshold=threshold, resamples=resamples)
        by_name = {judge.name: judge.signature_for(references) for judge in judges}
        sign(rows, STUDY, signature, scorers=by_name, changes=changes, language=target_language)
        return run.finish(measures_frame(rows))


def probes(suite: str | Suite, masked_lm: str | None, replicates: int | None) -> Suite:
    """The suite, with MAP6 where a masked language model is named."""
    chosen = suite_of(suite, replicates)
    if masked_lm is None:
        return chosen
    extra = suite_of(f'mask-replace[model="{masked_lm}"]')
    return Suite(
        chosen.name, chosen.perturbations + extra.perturbations, chosen.description, chosen.paper, chosen.replicates
    )


def left_out(changes: Suite) -> list[str]:
    """Says that MAP6 is missing from Kanojia's set where no masked language model was named."""
    names = {change.name for change in changes.perturbations}
    if {"word-drop", "antonym"} <= names and "mask-replace" not in names:
        return ["mask-replace (MAP6) was left out: it needs a masked language model, named with --masked-lm."]
    return []


def judged_segments(data: Dataset) -> pl.DataFrame:
    """Rows with a translation; in parallel data the reference stands for a good translation (§6.3)."""
    segments = data.segments
    if not data.has("source"):
        raise UserError(f"{data.name} has no sources: quality estimation judges a translation by its source.")
    if not data.has("translation"):
        if not data.has("references"):
            raise UserError(f"{data.name} has neither translations nor references to probe.")
        segments = segments.with_columns(
            translation=pl.col("references").list.first(), references=pl.lit(None, pl.List(pl.String))
        )
    references = pl.when(pl.col("references").is_null()).then(pl.concat_list("source")).otherwise(pl.col("references"))
    columns = ["row", "id", "language_pair", "system", "text", "source", "translation", "references", "score"]
    return (
        segments.filter(pl.col("translation").is_not_null() & pl.col("source").is_not_null())
        .with_columns(references=references, text=pl.col("translation"))
        .drop("row", strict=False)
        .with_row_index("row")
        .select(columns)
    )


def select(segments: pl.DataFrame, threshold: float) -> tuple[pl.DataFrame, str]:
    """The high-quality segments, renumbered, and one sentence that says which they are."""
    if segments["score"].null_count() == segments.height:
        return segments, f"no human scores: all {segments.height} translations are taken as good ones and probed."
    kept = segments.filter(pl.col("score") >= threshold)
    if not kept.height:
        highest = float(np.nanmax(segments["score"].to_numpy()))
        raise UserError(f"no segment has a human score of {threshold:g} or more (the highest is {highest:g}).")
    text = f"{kept.height} of {segments.height} segments have a human score of {threshold:g} or more: these are probed."
    return kept.drop("row").with_row_index("row"), text


def target_language(pair: str | None) -> str | None:
    """The language that is perturbed."""
    return languages(pair)[1]


def count_variants(segments: pl.DataFrame, changes: Suite) -> int:
    """How many texts a run would judge: for every probe the segments it applies to, times its replicates."""
    words = vocabularies(segments, "text", target_language)
    once = Suite("", changes.perturbations, replicates=1)
    total = 0
    for (pair,), part in segments.group_by("language_pair", maintain_order=True):
        table = once.variants(
            part["id"].to_list(), part["text"].to_list(), lang=target_language(pair), seed=0,
            sources=part["source"].to_list(), vocabulary=words[target_language(pair)],
        ).drop_nulls("text")  # fmt: skip
        grouped = table.group_by(["perturbation", "level"]).len()
        counts = {(label, level): count for label, level, count in grouped.iter_rows()}
        total += sum(
            counts.get((change.label, change.level), 0) * changes.repeats(change) for change in changes.perturbations
        )
    return total


def _all_scores(segments: pl.DataFrame, judges: Sequence[Scorer], engine: Engine) -> pl.DataFrame:
    """Every scorer's score of every unperturbed translation, probed or not: for the correlation with humans."""
    material = Material(segments, "translation", "target")
    batch = material.batch(segments, segments["text"].to_list())
    parts = []
    for judge in judges:
        scores = judge.score_rows(engine.judge(judge, batch))
        keys = segments.select("row", "id", "language_pair", "system")
        parts.append(keys.with_columns(scorer=pl.lit(judge.name), score=pl.Series(scores)))
    return pl.concat(parts)


def _spreads(humans: pl.DataFrame) -> dict[tuple[str | None, str], float]:
    """The standard deviation of every scorer's scores of unperturbed translations."""
    table = humans.group_by(["language_pair", "scorer"]).agg(pl.col("score").std())
    return {(pair, scorer): spread or 0.0 for pair, scorer, spread in table.iter_rows()}


def _pearson(
    segments: pl.DataFrame, humans: pl.DataFrame, judges: Sequence[Scorer], resamples: int, seed: int
) -> list[dict[str, Any]]:
    """Pearson with human scores on the complete data (Table 5)."""
    rows = []
    for judge in judges:
        values = humans.filter(pl.col("scorer") == judge.name)["score"].to_numpy()
        values = values if judge.higher_is_better else -values
        for pair, part, _, places in parts_by_pair(segments, None):
            found = agreements(part, None, values[places], ["pearson"], resamples=resamples, seed=seed)
            for name, (drawn, n) in found.items():
                rows.append(result({"language_pair": pair, "scorer": judge.name}, name, drawn, n))
    return rows


def _reference_note(data: Dataset, judges: Sequence[Scorer]) -> list[str]:
    names = [judge.name for judge in judges if "reference" in judge.needs]
    if not names:
        return []
    against = "references" if data.has("references") and data.has("translation") else "sources"
    return [f"{', '.join(names)} compared translations with their {against}."]


def _unprobed(
    tables: Mapping[str, pl.LazyFrame], selected: pl.DataFrame, judges: Sequence[Scorer], ready: Sequence[str]
) -> list[str]:
    """Scorers without scores for perturbed texts: those whose scores belong to rows, and files that hold none.

    A file that holds scores for some of the perturbed texts must hold them for all.
    """
    by_text = [judge.name for judge in judges if judge.name not in ready]
    unprobed = [*ready, *without_perturbed(tables, selected, by_text)]
    require_scores(tables, selected, [name for name in by_text if name not in unprobed])
    return [judge.name for judge in judges if judge.name in unprobed]
