"""What the MT study sends to a system: every source once, and its perturbed versions."""

import polars as pl

from babelquake.perturb.suite import Suite
from babelquake.studies.tables import languages, vocabularies


def one_row_per_source(segments: pl.DataFrame) -> pl.DataFrame:
    """The segments without the translations they may come with, numbered."""
    columns = ["id", "source", "references", "language_pair"]
    return segments.unique(["id", "language_pair"], maintain_order=True).select(columns).with_row_index("row")


def source_variants(segments: pl.DataFrame, changes: Suite, seed: int) -> pl.DataFrame:
    """Every perturbed source; segments to which a perturbation does not apply are left out of its rows."""
    words = vocabularies(segments, "source", source_language)
    parts = []
    for (pair,), part in segments.group_by("language_pair", maintain_order=True):
        table = changes.variants(
            part["id"].to_list(),
            part["source"].fill_null("").to_list(),
            lang=source_language(pair),
            seed=seed,
            vocabulary=words[source_language(pair)],
        )
        rows = part["row"].to_numpy()
        parts.append(
            table.with_columns(row=pl.Series(rows[table["row"].to_numpy()]), language_pair=pl.lit(pair, pl.String))
        )
    return pl.concat(parts).drop_nulls("text")


def source_language(pair: str | None) -> str | None:
    """The language that is perturbed."""
    return languages(pair)[0]


def texts_to_translate(segments: pl.DataFrame, variants: pl.DataFrame) -> list[str]:
    """Clean and perturbed sources, each once; blank ones need no translation."""
    texts = dict.fromkeys([*segments["source"].fill_null(""), *variants["text"]])
    return [text for text in texts if text.strip()]
