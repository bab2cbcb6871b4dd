"""A metric's scores for a shared task: `.seg.score` and `.sys.score` in the layout of mt-metrics-eval.

`metric-scores/PAIR/NAME-REFERENCE.seg.score` has a system and a score a line, a system's segments in order;
`.sys.score` a system and its score. Higher is better there, so error rates are turned round. A metric that reads no
reference is called `NAME-src`. Names keep to letters, digits, dots and underscores: a hyphen parts name and reference.
"""

import re
from pathlib import Path

import polars as pl

from babelquake.data.metrics_eval import is_metrics_eval
from babelquake.engine import in_turn
from babelquake.errors import UserError, setting
from babelquake.files import store_bytes
from babelquake.scorers import Questions
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
    segments = data.segments.with_row_index("place")
    references = segments["references"].to_list() if data.has("references") else None
    texts, sources = segments["translation"].fill_null("").to_list(), segments["source"].fill_null("").to_list()
    written: list[Path] = []
    for scorer in in_turn(scorers):
        reads_reference = "reference" in scorer.needs
        if reads_reference and references is None:
            raise UserError(f"{data.name} has no references, which scorer '{scorer.name}' needs.")
        rows = engine.judge(scorer, Questions(texts, references, sources))
        scores = scorer.sign * scorer.score_rows(rows)
        base = re.sub(r"[^\w.]+", "_", scorer.name).strip("_")
        name = f"{base}-{(data.reference or 'refA') if reads_reference else SOURCE_ONLY}"
        for (pair,), part in segments.group_by("language_pair", maintain_order=True):
            by_segment, by_system = [], []
            for (system,), mine in part.group_by("system", maintain_order=True):
                places = mine.sort(_line(mine))["place"].to_numpy()
                by_segment += [f"{system}\t{float(score)!r}\n" for score in scores[places]]
                whole = scorer.sign * float(scorer.aggregate(rows[places].sum(axis=0)))
                by_system.append(f"{system}\t{whole!r}\n")
            for ending, lines in (("seg", by_segment), ("sys", by_system)):
                path = Path(folder) / "metric-scores" / str(pair) / f"{name}.{ending}.score"
                path.parent.mkdir(parents=True, exist_ok=True)
                store_bytes("".join(lines).encode("utf-8"), path)
                written.append(path)
    return written


def _line(segments: pl.DataFrame) -> pl.Series:
    """The line of every segment, with which its id ends."""
    return segments["id"].str.extract(r"(\d+)$").cast(pl.Int64)
