"""Variants that the data bring instead of a perturbation making them, and translations of them that came along.

A table with columns `source` and `perturbed` (or `translation` and `translation_perturbed`) says what changes; the
column `perturbation` says what the change is called. Segments carry their variants in the column `given`, from which
`variants.variants_of` takes them beside those that a suite makes: everything after that is the same. A version that
is equal to its original is not a variant: it counts as unchanged, and has no part in any measure.
"""

from collections.abc import Iterable, Sequence

import polars as pl

from babelquake.data import Dataset
from babelquake.errors import UserError, did_you_mean, setting
from babelquake.perturb.suite import Suite
from babelquake.studies.resolve import AnySystem, systems_of
from babelquake.systems import SYSTEMS, System
from babelquake.systems.stored import Stored

UNNAMED = "given"
"""What variants are called that the data give no name."""
COLUMN = "given"
CELL = ["perturbation", "replicate"]
KEYS = ("id", "language_pair", "system")
"""What a row of the data and a segment have in common."""
MEANINGS = frozenset({"preserving", "altering", "depends"})
Systems = dict[str | None, list[System]]
"""The systems of each language pair."""


def brings_variants(data: Dataset, column: str = "perturbed") -> bool:
    """Whether data bring their own variants: of sources, or of translations (`translation_perturbed`)."""
    return data.has(column)


def labels_of(data: Dataset, column: str = "perturbed") -> list[str]:
    """What the variants are called, in order of appearance."""
    if not brings_variants(data, column):
        return []
    return _labelled(data.segments, column)["perturbation"].unique(maintain_order=True).to_list()


def meanings_of(data: Dataset, column: str) -> dict[str, str]:
    """What the variants do to the meaning, as the column `meaning` says; those of a translation alter it otherwise."""
    if not brings_variants(data, column):
        return {}
    usual = "altering" if column == "translation_perturbed" else "preserving"
    rows = _labelled(data.segments, column)
    said = pl.col("meaning").cast(pl.String) if "meaning" in rows.columns else pl.lit(None, pl.String)
    told = rows.with_columns(meaning=said).group_by("perturbation", maintain_order=True).agg(pl.col("meaning").first())
    return {label: meaning if meaning in MEANINGS else usual for label, meaning in told.iter_rows()}


def refuse_shared_labels(data: Dataset, suite: Suite, column: str = "perturbed") -> None:
    """Refuse data that call a variant like a perturbation of the suite: their numbers could not be told apart."""
    made = {perturbation.label for perturbation in suite.perturbations}
    if both := [label for label in labels_of(data, column) if label in made]:
        raise UserError(
            f"{data.name} calls variants '{both[0]}', and so does the suite: "
            f"give them another name in the column perturbation, or leave it out of {setting('suite')}."
        )


def with_given(
    segments: pl.DataFrame, data: Dataset, column: str = "perturbed", clean: str = "source"
) -> tuple[pl.DataFrame, list[str]]:
    """Numbered segments with their variants in the column `given`, and what there is to say of them.

    Rows of the data belong to a segment by id and language pair, and of translations by the system too.
    """
    if not brings_variants(data, column):
        return segments, []
    shared = [name for name in KEYS if name in segments.columns]
    here = segments.select("row", *shared, pl.col(clean).fill_null("").alias("clean"))
    rows = _labelled(data.segments, column).drop("row", strict=False).join(here, on=shared, nulls_equal=True)
    distinct = rows.unique(["row", "perturbation", "text"], maintain_order=True)
    changed = distinct.filter(pl.col("text") != pl.col("clean"))
    replicate = pl.int_range(pl.len(), dtype=pl.UInt32).over("row", "perturbation")
    packed = (
        changed.with_columns(replicate=replicate)
        .group_by("row", maintain_order=True)
        .agg(pl.struct("perturbation", "replicate", "text").alias(COLUMN))
    )
    found = segments.join(packed, on="row", how="left", maintain_order="left")
    same = distinct.height - changed.height
    notes = (
        [f"{same:,} of {distinct.height:,} given versions equal their original: they count as unchanged."]
        if same
        else []
    )
    return found, notes


def _labelled(rows: pl.DataFrame, column: str) -> pl.DataFrame:
    """The rows that have a variant, with what it is called."""
    label = pl.col("perturbation") if "perturbation" in rows.columns else pl.lit(None, pl.String)
    there = rows.with_columns(perturbation=label.replace("", None).fill_null(UNNAMED), text=pl.col(column))
    return there.filter(pl.col("text").fill_null("").str.strip_chars() != "")


def given_of(segments: pl.DataFrame) -> pl.DataFrame | None:
    """The variants that segments carry, as rows of a table of variants; None where they carry none."""
    if COLUMN not in segments.columns:
        return None
    rows = segments.select("row", "id", "language_pair", COLUMN).explode(COLUMN).drop_nulls(COLUMN).unnest(COLUMN)
    return rows.with_columns(level=pl.lit(None, pl.Float64), changed=pl.lit(True))


def stored_systems(data: Dataset, segments: pl.DataFrame) -> dict[str | None, list[Stored]]:
    """The systems whose translations of both versions came with the data, for each language pair."""
    if not brings_variants(data) or not data.has("translation") or not data.has("translation_perturbed"):
        return {}
    variants = given_of(segments)
    if variants is None:
        return {}
    clean = segments.select("row", "id", "language_pair")
    rows = _labelled(data.segments, "perturbed").join(clean, on=["id", "language_pair"], nulls_equal=True)
    both = rows.filter(pl.col("translation").is_not_null() & pl.col("translation_perturbed").is_not_null())
    both = both.with_columns(pl.col("system").fill_null(UNNAMED))
    named = both.join(variants.select("row", *CELL, "text"), on=["row", "perturbation", "text"])
    found: dict[str | None, list[Stored]] = {}
    for (pair, system), part in named.group_by("language_pair", "system", maintain_order=True):
        made = part.select("row", *CELL, translation="translation_perturbed")
        own = part.unique("row", maintain_order=True).select("row", "translation")
        found.setdefault(pair, []).append(Stored(str(system), own, made))
    return found


def systems_for(
    named: Sequence[AnySystem], data: Dataset, segments: pl.DataFrame, pairs: Iterable[str | None]
) -> tuple[Systems, list[str]]:
    """The systems that were meant, as they translate each language pair, and who did not take part.

    A name of a system whose translations came with the data means these; where nobody is named, all of them are meant.
    """
    stored = stored_systems(data, segments)
    known = {item.name for systems in stored.values() for item in systems}
    if not known and not named:
        return {pair: [] for pair in pairs}, []
    wanted = [item for item in named if isinstance(item, str) and item in known]
    others = [item for item in named if not (isinstance(item, str) and item in known)]
    if known and (wrong := next((item for item in others if isinstance(item, str) and _is_plain(item)), None)):
        raise UserError(f"{data.name} has no translations by '{wrong}'. {did_you_mean(wrong, known)}")
    chosen = [item for item in known if not named or item in wanted]
    silent = sorted({item.name for systems in stored.values() for item in systems if item.silent} & set(chosen))
    made = systems_of(others, pairs)
    for pair, systems in stored.items():
        made[pair] = [*(item for item in systems if item.name in chosen and not item.silent), *made.get(pair, [])]
    if not any(made.values()):
        raise UserError(f"{data.name}: {', '.join(silent)} did not take part: every translation is empty.")
    return made, [f"{', '.join(silent)} did not take part: every translation is empty."] if silent else []


def unmade_variants(systems: Systems, suite: Suite) -> list[str]:
    """A note where systems translate nothing anew, so that perturbations of the suite cannot be measured on them."""
    stored = sorted({item.name for some in systems.values() for item in some if isinstance(item, Stored)})
    if not stored or not suite.perturbations:
        return []
    some = f"{', '.join(stored[:3])} and {len(stored) - 3} more" if len(stored) > 4 else ", ".join(stored)
    return [f"{some}: only the translations in the data are known, so {setting('suite')} is not measured on them."]


def _is_plain(name: str) -> bool:
    """Whether a name is not a spec of a system: such a one is a system's of the data, misspelt perhaps."""
    return "[" not in name and name not in SYSTEMS.names()


def no_system(data: Dataset) -> str:
    """Why there is no system: the data bring none, or translations of one of the versions alone."""
    if brings_variants(data) and data.has("translation") != data.has("translation_perturbed"):
        has, lacks = ("clean", "perturbed") if data.has("translation") else ("perturbed", "clean")
        return (
            f"{data.name} has translations of the {has} sources only, not of the {lacks} ones. "
            "Use a system that translates both."
        )
    return f"No system given. Use {setting('systems', metavar='SYSTEM')}, such as command[cmd=cat]."
