"""Unknown tokens: how much of a text a tokenizer does not know as whole words (Vu 2022 Appendix A, Algorithm 1).

Counted are tokens that are [UNK], and words that had to be split. WordPiece marks the rest of a split word with `##`;
SentencePiece marks the beginning of a word with `▁` and byte-level BPE with `Ġ`, so there a piece without the mark that
holds a letter or digit continues a word, in the same sense.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from babelquake.models.tokenizers import tokenizer
from babelquake.runs.measures import Measure
from babelquake.stats.bootstrap import bootstrap, ratio_of
from babelquake.stats.units import by_unit
from babelquake.studies.metric import kinds
from babelquake.studies.segment_units import keys_by_row
from babelquake.studies.tests_to_measures import measured

FORMULAS = ((kinds.UNKNOWN_TOKENS, ratio_of(1, 0)), (kinds.UNK_SHARE, ratio_of(2, 3, times=100)))
"""Of the sums of what `_counts` gives."""
WORD_STARTS = ("▁", "Ġ")


def count_unknown(tokens: Sequence[str], unknown: str = "[UNK]") -> int:
    """Algorithm 1: unknown tokens plus words that were split.

    Taken at its word, the algorithm forgets a split word when nothing but [UNK] follows it up to the end of the
    sentence; its description (Appendix A) counts every split word, and so does this.
    """
    count, splitting = 0, False
    marked = any(token.startswith(WORD_STARTS) for token in tokens)
    for place, token in enumerate(tokens):
        if unknown in token:
            count += 1
            splitting = False
        elif place and _continues(token, marked):
            count += not splitting
            splitting = True
        else:
            splitting = False
    return count


def _continues(token: str, marked: bool) -> bool:
    """Whether a token goes on with the word before it; `marked` where the tokenizer marks the beginnings of words."""
    if token.startswith("##"):
        return True
    return marked and not token.startswith(WORD_STARTS) and any(map(str.isalnum, token))


def unknown_tokens(
    variants: pl.LazyFrame, segments: pl.DataFrame, tokenizers: Sequence[str], resamples: int, seed: int
) -> list[Measure]:
    """Average number of unknown tokens per segment, and the share of [UNK] among all tokens (Vu Figure 1, Table 4)."""
    measures: list[Measure] = []
    if not tokenizers:
        return measures
    keys = keys_by_row(segments)
    same = ["language_pair", "id", "perturbation", "level", "replicate", "text"]
    table = variants.unique(same, maintain_order=True).collect()
    groups = ["language_pair", "perturbation", "level"]
    for what in tokenizers:
        cutter = tokenizer(what)
        for values, part in table.group_by(groups, maintain_order=True):
            cut = cutter.tokens(part["text"].to_list())
            counts = np.array([_counts(some, cutter.unknown) for some in cut], dtype=np.float64)
            units, rows = by_unit(keys[part["row"].to_numpy()], counts)
            place = {**dict(zip(groups, values, strict=True)), "tokenizer": cutter.name}
            for kind, function in FORMULAS:
                drawn = bootstrap(function, [rows], resamples, seed, units)
                measures.append(measured(kind, drawn, len(cut), **place))
    return measures


def _counts(tokens: Sequence[str], unknown: str) -> tuple[int, int, int, int]:
    """Of one text: 1, unknown tokens and split words, [UNK], tokens."""
    return 1, count_unknown(tokens, unknown), sum(unknown in token for token in tokens), len(tokens)
