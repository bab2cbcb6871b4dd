"""A metric's scores for a shared task: `.seg.score` and `.sys.score` in the layout of mt-metrics-eval.

`metric-scores/PAIR/NAME-REFERENCE.seg.score` has a system and a score a line, a system's segments in order;
`.sys.score` a system and its score. Higher is better there, so error rates are turned round. A metric that reads no
reference is called `NAME-src`. Names keep to letters, digits, dots and underscores: a hyphen parts name and reference,
a dot several references. References that stand among the systems' outputs are scored like a system, but for those that
the metric reads: mt-metrics-eval takes a score that is missing for 0, or refuses the file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from babelquake.data.metrics_eval import Pair, is_metrics_eval, pairs_of
from babelquake.engine import Engine, in_turn
from babelquake.errors import UserError, setting
from babelquake.files import store_bytes
from babelquake.scorers import Questions, Scorer
from babelquake.scorers.base import Array
from babelquake.studies.options import StudyOptions
from babelquake.studies.resolve import scorers_of, several

SOURCE_ONLY = "src"


def submit_scores(options: StudyOptions, folder: str | Path) -> list[Path]:
    """Judge every system's translations by every scorer and write both files of each; the files written."""
    named: list[str] = several(options.data) if isinstance(options.data, str | list | tuple) else []
    for name in named:
        if not is_metrics_eval(str(name)):
            raise UserError(
                f"{setting('submit')}: {name} is not in the layout of mt-metrics-eval (sources/, system-outputs/)."
            )
    data, scorers, engine = options.dataset(), scorers_of(getattr(options, "scorers", ())), options.made_engine()
    if not scorers:
        raise UserError(f"No scorer given. Use {setting('scorers', metavar='SCORER')}, such as chrf.")
    if not data.has("translation") or not data.has("system"):
        raise UserError(f"{data.name} has no systems' translations to judge.")
    pairs: dict[str | None, Pair] = {}
    wanted = options.reference if data.reference is None and isinstance(options.reference, str) else None
    for name in named:
        pairs |= pairs_of(str(name), options.language_pair, wanted)
    written: list[Path] = []
    for scorer in in_turn(scorers):
        if "reference" in scorer.needs and not data.has("references"):
            raise UserError(f"{data.name} has no references, which scorer '{scorer.name}' needs.")
        for (pair,), part in data.segments.group_by("language_pair", maintain_order=True):
            known = pairs.get(None if pair is None else str(pair), Pair(str(pair), ("refA",), {}))
            if data.reference is not None:
                known = replace(known, references=tuple(data.reference.split("+")))
            written += _written(scorer, engine, part, known, Path(folder) / "metric-scores" / known.name)
    return written


def _written(scorer: Scorer, engine: Engine, segments: pl.DataFrame, pair: Pair, folder: Path) -> list[Path]:
    """Both files of one scorer for one language pair."""
    reads_reference = "reference" in scorer.needs
    used = pair.references if reads_reference else ()
    by_segment, by_system = [], []
    for system, asked in _outputs(segments, pair.human, used).items():
        rows = engine.judge(scorer, asked)
        scores = _whole(scorer, system, scorer.score_rows(rows), asked.translations)
        by_segment += [f"{system}\t{float(score)!r}\n" for score in scorer.sign * scores]
        by_system.append(f"{system}\t{scorer.sign * float(scorer.aggregate(rows.sum(axis=0)))!r}\n")
    base = re.sub(r"[^\w.]+", "_", scorer.name).strip("_")
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for ending, lines in (("seg", by_segment), ("sys", by_system)):
        paths.append(folder / f"{base}-{'.'.join(used) or SOURCE_ONLY}.{ending}.score")
        store_bytes("".join(lines).encode("utf-8"), paths[-1])
    return paths


def _outputs(segments: pl.DataFrame, human: Mapping[str, Sequence[str]], used: Sequence[str]) -> dict[str, Questions]:
    """What is judged of every system in the order of its lines, and of references among the outputs but those used."""
    found: dict[str, Questions] = {}
    for (system,), part in segments.group_by("system", maintain_order=True):
        mine = part.sort(_line(part))
        references = mine["references"].to_list() if "references" in mine.columns and used else None
        sources, texts = mine["source"].fill_null("").to_list(), mine["translation"].fill_null("").to_list()
        found[str(system)] = Questions(texts, references, sources)
    lines = next(iter(found.values()))
    others = {name: texts for name, texts in human.items() if name not in used and len(texts) == len(lines)}
    return found | {name: Questions(texts, lines.references, lines.sources) for name, texts in others.items()}


def _whole(scorer: Scorer, system: str, scores: Array, texts: Sequence[str]) -> Array:
    """The scores, of which none may be missing: the layout has no place for that."""
    missing = np.flatnonzero(np.isnan(scores))
    if missing.size:
        raise UserError(
            f"{setting('submit')}: {scorer.name} has no score for {missing.size} of {len(texts)} translations of "
            f"{system}, the first in line {missing[0] + 1}. A metric's file needs a score for every line."
        )
    return scores


def _line(segments: pl.DataFrame) -> pl.Series:
    """The line of every segment, with which its id ends."""
    return segments["id"].str.extract(r"(\d+)$").cast(pl.Int64)
