"""The metric study: does a metric move for the right reasons?

Three questions, chosen by the data and the side that is perturbed:

- sensitivity (Jwalapuram 2023 §3.1): f(X, X) against f(X′, X), or f(Y, R) against f(Y′, R) for `--side translation`;
- agreement with humans under noise on the references (Vu 2022), where the data have human judgements;
- challenge sets (DEMETR), where the data bring their own perturbed translations.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import polars as pl

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.perturb.base import Perturbation
from babelquake.perturb.suite import Suite
from babelquake.perturb.suite import suite as suite_of
from babelquake.randomness import Stream
from babelquake.run import Run, measures_frame
from babelquake.scorers import Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.signature import run_signature
from babelquake.stats.bootstrap import Resampled, resampled_sums
from babelquake.stats.corrections import holm
from babelquake.stats.paired import bootstrap_p
from babelquake.studies.challenge import challenge_results, judge_triples
from babelquake.studies.humans import agreements, parts_by_pair, with_averages
from babelquake.studies.missing import require_scores
from babelquake.studies.probing import Given, Material, probe
from babelquake.studies.robustness import result
from babelquake.studies.tables import lower_is_better, rows_of, scorer_signatures
from babelquake.studies.unknown import count_unknown, tokenizer
from babelquake.text import ending

STUDY = "metric"
Side = Literal["source", "translation", "reference"]
Row = dict[str, Any]
STATISTICS = ("darr", "kendall_like", "pearson")


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
        "scorer": [judge.name for judge in judges],
        "data": f"{data.name}#{data.hash}",
        "language_pair": data.language_pairs,
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
        run.same_signatures(scorer_signatures(judges, 1))
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
            run.info.signatures["suite"] = changes.signature(material.lang(next(iter(data.language_pairs), None)))
            run.info.facts["meaning"] = {change.label: meaning_of(change) for change in changes.perturbations}
            tables = probe(run, material, changes, judges, engine, seed)
            require_scores(tables, material.segments, [judge.name for judge in judges])
            if mode == "agreement":
                rows = _agreement(data, tables["sums"], judges, changes, resamples, seed, threshold)
            else:
                rows = sensitivity(tables["sums"], judges, run.info.facts["meaning"], resamples, seed)
            rows += unknown_tokens(tables["variants"], tokenizers, resamples, seed)
        run.info.facts["modes"] = [mode]
        run.info.facts["lower_is_better"] = lower_is_better(judges)
        by_name = {judge.name: judge.signature for judge in judges}
        for row in rows:
            row["study"] = STUDY
            row["signature"] = "|".join(filter(None, [by_name.get(row["scorer"]), signature]))
        return run.finish(measures_frame(rows))


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


def sensitivity(
    sums: pl.LazyFrame, judges: Sequence[Scorer], meanings: Mapping[str, str], resamples: int, seed: int
) -> list[Row]:
    """f of clean texts, f of perturbed ones, Δ with a paired bootstrap, as Jwalapuram Tables 2 and 3."""
    rows: list[Row] = []
    for judge in judges:
        table = sums.filter(pl.col("scorer") == judge.name).collect()
        for (pair,), part in table.group_by("language_pair", maintain_order=True):
            clean = part.filter(pl.col("perturbation").is_null())
            noisy = part.filter(pl.col("perturbation").is_not_null())
            drops: dict[tuple[str, float | None], dict[int, float]] = {}
            for (change, level), some in noisy.group_by(["perturbation", "level"], maintain_order=True):
                joined = some.join(clean.select("row", "statistics", "score"), on="row", suffix="_clean")
                before, after = rows_of(joined["statistics_clean"]), rows_of(joined["statistics"])
                both = np.concatenate([before, after], axis=1)
                width = before.shape[1]
                observed, drawn = both.sum(axis=0), resampled_sums(both, resamples, seed)
                clean_score = Resampled(float(judge.aggregate(observed[:width])), judge.aggregate(drawn[:, :width]))
                noisy_score = Resampled(float(judge.aggregate(observed[width:])), judge.aggregate(drawn[:, width:]))
                delta = noisy_score - clean_score
                key = {"language_pair": pair, "scorer": judge.name, "perturbation": change, "level": level}
                n = joined.height
                rows.append(result(key, "score", clean_score, n))
                rows.append(result(key, "score_perturbed", noisy_score, n))
                rows.append(result(key, "delta", delta, n, bootstrap_p(delta)))
                sign = 1 if judge.higher_is_better else -1
                lost = sign * (joined["score_clean"] - joined["score"])
                drops[change, level] = dict(zip(joined["row"], lost, strict=True))
            rows += _harmless_costs_more(drops, meanings, {"language_pair": pair, "scorer": judge.name})
    tested = [row for row in rows if row["measure"] == "delta"]
    for row, p in zip(tested, holm(row["p"] for row in tested), strict=True):
        row["p_corrected"] = float(p)
    return rows


def _harmless_costs_more(
    drops: Mapping[tuple[str, float | None], Mapping[int, float]], meanings: Mapping[str, str], key: Row
) -> list[Row]:
    """Per harmless change: how often it costs a segment more than a harmful one (the point of Table 4, counted)."""
    rows = []
    harmful = [lost for (change, _), lost in drops.items() if meanings[change] == "altering"]
    for (change, level), lost in drops.items():
        if meanings[change] != "preserving":
            continue
        shared = [(lost[row], other[row]) for other in harmful for row in lost.keys() & other.keys()]
        if shared:
            share = 100 * sum(mine > theirs for mine, theirs in shared) / len(shared)
            rows.append({**key, "perturbation": change, "level": level, "measure": "harmless_costs_more",
                         "value": share, "n": len(shared)})  # fmt: skip
    return rows


def _agreement(
    data: Dataset,
    sums: pl.LazyFrame,
    judges: Sequence[Scorer],
    changes: Suite,
    resamples: int,
    seed: int,
    threshold: float,
) -> list[Row]:
    """Agreement with humans per scorer, attack and level; level 0 is the clean reference."""
    found: dict[tuple[Any, ...], dict[str, tuple[Resampled, int]]] = {}
    parts = parts_by_pair(data.segments, data.pairs)
    for judge in judges:
        sign = 1 if judge.higher_is_better else -1
        table = sums.filter(pl.col("scorer") == judge.name).select("row", "perturbation", "level", "score").collect()
        clean = _by_row(table.filter(pl.col("perturbation").is_null()), len(data))
        for change in changes.perturbations:
            same = (pl.col("perturbation") == change.label) & pl.col("level").eq_missing(change.level)
            noisy = _by_row(table.filter(same), len(data))
            values = np.where(np.isnan(noisy), clean, noisy)
            for pair, segments, pairs, rows in parts:
                found[(pair, judge.name, change.label, change.level)] = agreements(
                    segments, pairs, sign * values[rows], STATISTICS,
                    resamples=resamples, seed=seed, threshold=threshold,
                )  # fmt: skip
    return with_averages(found, ("language_pair", "scorer", "perturbation", "level"))


def _by_row(table: pl.DataFrame, rows: int) -> np.ndarray[Any, Any]:
    values = np.full(rows, np.nan)
    values[table["row"].to_numpy()] = table["score"].to_numpy()
    return values


def attacked_texts(data: Dataset, changes: Suite, mode: str) -> Given:
    """References that somebody else attacked, for every attack and level of the suite; level 0 is the clean one."""
    if mode != "agreement":
        raise UserError(
            "--attacked takes perturbed references that come with data with human judgements: use --side reference."
        )
    found: dict[tuple[str, float | None], Sequence[str]] = {}
    for change in changes.perturbations:
        if not change.level:
            continue
        texts = data.attacked.get((change.name, change.level))
        if texts is None:
            known = ", ".join(f"{name}[level={level:g}]" for name, level in data.attacked) or "none"
            raise UserError(f"{data.name} brings no references under {change.spec}; it brings: {known}.")
        found[change.label, change.level] = texts()
    return found


def unknown_tokens(variants: pl.LazyFrame, tokenizers: Sequence[str], resamples: int, seed: int) -> list[Row]:
    """Average number of unknown tokens per segment, and the share of [UNK] among all tokens (Vu Figure 1, Table 4)."""
    rows: list[Row] = []
    if not tokenizers:
        return rows
    same = ["language_pair", "id", "perturbation", "level", "replicate", "text"]
    table = variants.unique(same, maintain_order=True).collect()
    for what in tokenizers:
        cutter = tokenizer(what)
        for (pair, change, level), part in table.group_by(
            ["language_pair", "perturbation", "level"], maintain_order=True
        ):
            cut = cutter.tokens(part["text"].to_list())
            counts = np.array(
                [[1, count_unknown(some, cutter.unknown), sum(cutter.unknown in token for token in some), len(some)]
                 for some in cut], dtype=np.float64,
            )  # fmt: skip
            drawn, total = resampled_sums(counts, resamples, seed), counts.sum(axis=0)
            key = {"language_pair": pair, "scorer": cutter.name, "perturbation": change, "level": level}
            average = Resampled(float(total[1] / total[0]), drawn[:, 1] / drawn[:, 0])
            share = Resampled(float(100 * total[2] / total[3]), 100 * drawn[:, 2] / drawn[:, 3])
            rows += [result(key, "unknown_tokens", average, len(cut)), result(key, "unk_share", share, len(cut))]
    return rows
