"""The one way from segments to variants: every study perturbs through it."""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from babelquake.perturb.linguistics import vocabulary_of
from babelquake.perturb.suite import Suite
from babelquake.studies.blocks import Block

Language = Callable[[str | None], str | None]
"""The language of a pair's texts that are perturbed."""
Words = Mapping[str | None, Sequence[str]]
"""Language pair → the vocabulary that `word-insert` and `word-replace` draw from."""


def variants_of(block: Block, column: str, suite: Suite, language: Language, seed: int, words: Words) -> pl.DataFrame:
    """Every variant of a block's texts in `column`; texts to which a perturbation does not apply have no row.

    Columns: row, id, perturbation, level, replicate, text, language_pair, and whether the text was really `changed`.
    """
    texts = block.segments[column].fill_null("")
    table = suite.variants(
        block.segments["id"].to_list(),
        texts.to_list(),
        lang=language(block.language_pair),
        seed=seed,
        sources=block.segments["source"].to_list(),
        vocabulary=words.get(block.language_pair),
    )
    places = table["row"]
    return table.with_columns(
        row=block.segments["row"].gather(places),
        language_pair=pl.lit(block.language_pair, pl.String),
        changed=table["text"] != texts.gather(places),
    ).drop_nulls("text")


def vocabularies(segments: pl.DataFrame, column: str, suite: Suite) -> Words:
    """The words of each language pair's own texts (Kanojia §5.2), where a perturbation of the suite asks for them."""
    if not any("vocabulary" in change.card.wants for change in suite.perturbations):
        return {}
    return {
        pair: vocabulary_of(part[column].fill_null("").to_list())
        for (pair,), part in segments.group_by("language_pair", maintain_order=True)
    }
