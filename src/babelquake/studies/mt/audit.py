"""What is wrong with the test set itself, before anything is translated (Jwalapuram 2023 §3.1)."""

import polars as pl

from babelquake.runs.info import Audit
from babelquake.text import ending


def audit(segments: pl.DataFrame) -> Audit:
    """Shares of segments, in per cent: ends in different marks than its reference, duplicate source, blank source."""
    sides = segments.select(pl.col("source").fill_null(""), reference=pl.col("references").list.first().fill_null(""))
    told = sides.filter(pl.all_horizontal(pl.all().str.strip_chars() != ""))
    mismatched = sum(ending(source).kind != ending(reference).kind for source, reference in told.iter_rows())
    distinct = segments.unique(["id", "language_pair"], maintain_order=True)["source"].fill_null("")
    blank = int((distinct.str.strip_chars() == "").sum())
    return Audit(
        segments=len(distinct),
        mismatched_endings=_percent(mismatched, told.height),
        duplicate_sources=_percent(len(distinct) - distinct.n_unique(), len(distinct)),
        blank_sources=_percent(blank, len(distinct)),
        endings=_endings(distinct),
    )


def _endings(texts: pl.Series) -> dict[str, int]:
    """How many texts end in a full stop, an exclamation mark, a question mark, something else or nothing."""
    counts = pl.Series("kind", [ending(text).kind for text in texts], pl.String).value_counts().sort("kind")
    return dict(counts.iter_rows())


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 3) if whole else None
