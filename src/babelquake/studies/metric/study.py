"""The metric study: does a metric move for the right reasons?

Three questions, chosen by the data and the side that is perturbed:

- sensitivity (Jwalapuram 2023 §3.1): f(X, X) against f(X′, X), or f(Y, R) against f(Y′, R) for `--side translation`;
- agreement with humans under noise on the references (Vu 2022), where the data have human judgements;
- challenge sets (DEMETR), where the data bring their own perturbed translations.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import polars as pl

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.perturb.base import Perturbation
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.randomness import Stream
from babelquake.runs.measures import measures_frame
from babelquake.runs.run import Run
from babelquake.runs.signature import run_signature
from babelquake.scorers import Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.studies.metric.agreement import attacked_texts, noise_agreement
from babelquake.studies.metric.challenge import challenge_results, judge_triples
from babelquake.studies.metric.sensitivity import sensitivity
from babelquake.studies.metric.unknown_tokens import unknown_tokens
from babelquake.studies.missing import require_scores
from babelquake.studies.probing import Material, probe
from babelquake.studies.signing import sign, suite_signatures
from babelquake.studies.tables import languages, lower_is_better, references_each, scorer_signatures
from babelquake.text import ending

STUDY = "metric"
Side = Literal["source", "translation", "reference"]


def metric(
    scorers: Sequence[str | Scorer],
    data: Dataset,
    out: Path | str,
    suite: str | Suite = "jwalapuram2023",
    *,
    side: Side = "translation",
    seed: int = 0,
    replicates: int | None = None,
    sample: int = 1000,
    threshold: float = 25.0,
    attacked: bool = False,
    tokenizers: Sequence[str] = (),
    resamples: int = 2000,
    restart: bool = False,
    engine: Engine | None = None,
) -> Run:
    """Sensitivity, agreement under noise, or detection of known errors, for any scorers.

    `sample` bounds the split of sentences that end in a full stop (§2.1: 1000). `attacked` takes the perturbed
    references that come with the data instead of making them. `tokenizers` adds unknown-token counts (Vu Figure 1).
    """
    changes = suite_of(suite, replicates)
    judges = [scorer_of(item) for item in scorers]
    engine = engine or Engine()
    mode = mode_of(data, side)
    config = {
        "scorer": [str(judge.spec) for judge in judges],
        "language_pair": data.language_pairs,
        "data": f"{data.name}#{data.hash}",
        "suite": [str(change.spec) for change in changes.perturbations] if mode != "challenge" else [],
        "replicates": replicates,
        "side": side,
        "seed": seed,
        "sample": sample,
        "threshold": threshold,
        "attacked": attacked,
        "tokenizer": list(tokenizers),
        "resamples": resamples,
    }
    run = Run.resume(out, STUDY, config, restart)
    with run.alone():
        for judge in judges:
            judge.attach(data.segments)
        references = references_each(data.segments) if side == "translation" and mode != "agreement" else 1
        run.same_signatures(scorer_signatures(judges, references))
        if run.has("measures") and run.info.finished:
            return run
        run.info.notes = list(data.notes)
        signature = run_signature(seed=seed, data=data.hash, side=side, resamples=resamples)
        if mode == "challenge":
            segments = run.once("segments", lambda: data.segments.with_row_index("row"))
            scores = run.once("scores", lambda: judge_triples(segments, judges, engine))
            rows = challenge_results(scores, resamples, seed)
        else:
            material = material_of(data, side, mode, sample, seed)
            if attacked:
                material = replace(material, given=attacked_texts(data, changes, mode))
            run.once("segments", lambda: material.segments)
            run.info.signatures |= suite_signatures(changes, data.language_pairs, material.lang)
            run.info.facts["meaning"] = {change.label: meaning_of(change) for change in changes.perturbations}
            tables = probe(run, material, changes, judges, engine, seed)
            require_scores(tables, material.segments, [judge.name for judge in judges])
            if mode == "agreement":
                rows = noise_agreement(data, tables["sums"], judges, changes, resamples, seed, threshold)
            else:
                rows = sensitivity(tables["sums"], judges, run.info.facts["meaning"], resamples, seed)
            rows += unknown_tokens(tables["variants"], tokenizers, resamples, seed)
        run.info.facts["modes"] = [mode]
        run.info.facts["lower_is_better"] = lower_is_better(judges)
        by_name = {judge.name: judge.signature_for(references) for judge in judges}
        sign(rows, STUDY, signature, scorers=by_name, changes=changes, language=lambda pair: _language(pair, side))
        return run.finish(measures_frame(rows))


def _language(pair: str | None, side: Side) -> str | None:
    """The language of the perturbed side of a pair."""
    return languages(pair)[0 if side == "source" else 1]


def mode_of(data: Dataset, side: Side) -> str:
    """Which question the data and the side ask."""
    if data.has("perturbed"):
        return "challenge"
    if side == "reference" and data.has("translation") and (data.has("score") or data.pairs is not None):
        return "agreement"
    return "sensitivity"


def meaning_of(change: Perturbation) -> str:
    """What a perturbation does to the meaning; a random character changes the last word (Jwalapuram §2.2)."""
    return "altering" if change.options.get("mark") == "random" else change.card.meaning


def material_of(data: Dataset, side: Side, mode: str, sample: int, seed: int) -> Material:
    """The texts to perturb. Source and reference texts are judged against themselves: f(X′, X), or f(X′, X, X)."""
    if side == "source" or (side == "reference" and mode == "sensitivity"):
        text = pl.col("source") if side == "source" else pl.col("references").list.first()
        if not data.has("source" if side == "source" else "references"):
            raise UserError(f"{data.name} has no {side} column for --side {side}.")
        segments = data.segments.unique(["id", "language_pair"], maintain_order=True).with_columns(text=text)
        segments = segments.with_columns(
            source=pl.col("text"), references=pl.concat_list("text"), system=pl.lit(None, pl.String)
        )
    else:
        for needed in ("translation", "references"):
            if not data.has(needed):
                raise UserError(f"{data.name} has no {needed}: --side {side} judges translations against references.")
        text = pl.col("translation") if side == "translation" else pl.col("references").list.first()
        segments = data.segments.with_columns(text=text)
    columns = ["row", "id", "language_pair", "system", "text", "source", "translation", "references", "score"]
    segments = segments.drop("row", strict=False).with_row_index("row").select(columns)
    return Material(
        segments,
        "reference" if mode == "agreement" else "translation",
        "source" if side == "source" else "target",
        _unsampled(segments, sample, seed),
    )


def _unsampled(segments: pl.DataFrame, sample: int, seed: int) -> frozenset[int]:
    """Full-stop sentences beyond a language pair's sample; which are sampled depends on the sentence alone."""
    left_out: set[int] = set()
    for _, part in segments.group_by("language_pair", maintain_order=True):
        stops = [
            (Stream(seed, "split", text).random(), row)
            for row, text in part.select("row", "text").drop_nulls().iter_rows()
            if (end := ending(text)).kind == "stop" and not end.closing
        ]
        left_out |= {row for _, row in sorted(stops)[sample:]}
    return frozenset(left_out)
