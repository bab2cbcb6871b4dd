"""What needs no translation: copying the source, and one sentence for everything.

Robustness is relative: whoever copies, or always says the same, loses nothing under noise. So every run has the quality
of both beside that of its systems on clean text, by chrF, and by BLEU and TER where they judge.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from babelquake.runs.measures import Measure
from babelquake.scorers import Questions, Scorer
from babelquake.scorers import scorer as scorer_of
from babelquake.scorers.strings.bleu import Bleu
from babelquake.scorers.strings.chrf import ChrF
from babelquake.scorers.strings.ter import Ter
from babelquake.studies.mt import kinds
from babelquake.studies.mt.cells import quality

MOST = 2_000
"""Segments that baselines are measured on, evenly spread, so that they cost the same however large the data are."""
CANDIDATES, TRIED_ON = 16, 100
"""Sentences that are tried as the one for everything, and the segments they are tried on."""


def baselines(segments: pl.DataFrame, translations: pl.LazyFrame, scorers: Sequence[Scorer]) -> Iterator[Measure]:
    """Per language pair and string metric: quality of each system's clean text, of a copy, of one sentence for all."""
    chrf = scorer_of("chrf")
    told = [chrf, *(one for one in scorers if isinstance(one, Bleu | ChrF | Ter) and one.name != chrf.name)]
    usable = segments.filter(
        pl.col("source").str.strip_chars() != "",
        pl.col("references").list.eval(pl.element().str.strip_chars() != "").list.any(),
    )
    for (pair,), every in usable.group_by("language_pair", maintain_order=True):
        part = every.gather_every(-(-every.height // MOST))
        clean = _clean(translations, part["row"])
        fixed = _one_for_all(part)
        for scorer in told:
            place = {"language_pair": pair, "scorer": scorer.name}
            for system, texts in clean.items():
                value = _quality(scorer, texts, part)
                yield Measure(kinds.BASELINE_SYSTEM, value, part.height, system=system, **place)
            yield Measure(kinds.BASELINE_COPY, _quality(scorer, part["source"].to_list(), part), part.height, **place)
            yield Measure(kinds.BASELINE_CONSTANT, _quality(scorer, [fixed] * part.height, part), part.height, **place)


def _clean(translations: pl.LazyFrame, rows: pl.Series) -> dict[str, list[str]]:
    """Every system's translations of these segments' own sources, in order."""
    chosen = pl.col("perturbation").is_null() & pl.col("row").is_in(rows.implode())
    table = translations.filter(chosen).select("system", "row", "judged").sort("row").collect()
    found = {str(name): part for (name,), part in table.group_by("system", maintain_order=True)}
    return {name: part["judged"].to_list() for name, part in found.items() if part.height == len(rows)}


def _one_for_all(segments: pl.DataFrame) -> str:
    """The reference, of a few of all lengths, that would do best as the translation of everything."""
    firsts = segments["references"].list.first().fill_null("")
    ordered = firsts.gather(firsts.str.len_chars().arg_sort())
    candidates = ordered.gather_every(-(-len(ordered) // CANDIDATES)).to_list()
    some = segments.gather_every(-(-segments.height // TRIED_ON))
    scores = [_quality(ChrF(), [text] * some.height, some) for text in candidates]
    return str(candidates[int(np.argmax(scores))])


def _quality(scorer: Scorer, texts: Sequence[str], segments: pl.DataFrame) -> float:
    rows = scorer.statistics(Questions(texts, segments["references"].to_list(), segments["source"].to_list()))
    return float(np.asarray(quality(scorer, rows.sum(axis=0))))
