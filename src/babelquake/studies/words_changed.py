"""What share of the words a perturbation really changed, beside the level that was asked for.

A rule such as "at least one word a sentence" makes a level of 0.05 change 15 % of the words of short sentences.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import polars as pl

from babelquake.runs.measures import Measure
from babelquake.studies.kinds import ACHIEVED_WORDS
from babelquake.text import is_unspaced

MOST = 2_000
"""Segments that the share is counted on; the first of each perturbation."""


def achieved_shares(variants: pl.LazyFrame, segments: pl.DataFrame, column: str) -> Iterator[Measure]:
    """Per language pair and perturbation: the share of words that differ from those of the text in `column`."""
    cell = ["language_pair", "perturbation", "level"]
    first = (pl.col("replicate") == 0) & pl.col("row").is_in(segments["row"].implode())
    clean = segments.lazy().select("row", clean=pl.col(column).fill_null(""))
    wanted = variants.filter(first).select(*cell, "row", "text")
    some = wanted.group_by(cell, maintain_order=True).head(MOST).collect()
    for place, part in some.group_by(cell, maintain_order=True):
        both = part.lazy().join(clean, on="row", maintain_order="left").collect()
        counts = [changed_words(*texts) for texts in both.select("clean", "text").iter_rows()]
        total = sum(words for _, words in counts)
        if total:
            share = 100 * sum(changed for changed, _ in counts) / total
            named: dict[str, Any] = dict(zip(cell, place, strict=True))
            yield Measure(ACHIEVED_WORDS, share, len(counts), **named)


def changed_words(clean: str, changed: str) -> tuple[int, int]:
    """How many words of a text changed, and how many it has; characters where no spaces part words."""
    before, after = (list(text) if is_unspaced(clean) else text.split() for text in (clean, changed))
    if len(before) == len(after):
        return sum(one != other for one, other in zip(before, after, strict=True)), len(before)
    kept = (Counter(before) & Counter(after)).total()
    return len(before) - kept, len(before)
