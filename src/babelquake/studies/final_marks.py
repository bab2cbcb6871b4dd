"""Final marks: the splits of Jwalapuram 2023 §2.1, and the reset of §4.1.

Sentences are split by their final mark, full stops sampled, duplicates left out.

Reset undoes a final mark that a translation gained or lost only because its source did: a full stop added to the source
brings one along in the translation, and metrics punish it although nothing was translated differently. The two
translations are made comparable before they are judged: the translation of the perturbed source gets the ending of the
translation of the clean one. `paper` does no more than the paper says: a mark that was inserted is taken off the
translation where only the perturbed one has it, a mark that was deleted is put back where only the clean one has it.

An instruction that was put into the source is undone likewise: its translation is not judged.
"""

from collections.abc import Callable

import polars as pl

from babelquake.errors import UserError, setting
from babelquake.failures.injection import what_was_translated
from babelquake.perturb.suite import Suite
from babelquake.randomness import Stream
from babelquake.studies.options import Reset
from babelquake.text import ending

FINAL = "final-"


def are_split(suite: Suite) -> bool:
    """Whether a suite has perturbations that go by the final mark, so that sentences are split by it."""
    return any(perturbation.label.startswith(FINAL) for perturbation in suite.perturbations)


def unsampled(segments: pl.DataFrame, column: str, full_stops: int, seed: int) -> frozenset[int]:
    """Rows of full-stop sentences beyond a language pair's sample; which are sampled depends on the sentence alone."""
    left_out: set[int] = set()
    for _, part in segments.group_by("language_pair", maintain_order=True):
        stops = [
            (Stream(seed, "split", text).random(), row)
            for row, text in part.select("row", column).drop_nulls().iter_rows()
            if (end := ending(text)).kind == "stop" and not end.closing
        ]
        left_out |= {row for _, row in sorted(stops)[full_stops:]}
    return frozenset(left_out)


def not_sampled(segments: pl.DataFrame, column: str, suite: Suite, full_stops: int | None, seed: int) -> frozenset[int]:
    """The rows that `final-…` perturbations of a suite leave alone; none where nothing is sampled."""
    if full_stops is None:
        return frozenset()
    if not are_split(suite):
        raise UserError(
            f"{setting('full_stops', full_stops)} is about perturbations of final marks, and the suite has none. "
            f"Use {setting('limit', full_stops)} for fewer segments."
        )
    return unsampled(segments, column, full_stops, seed)


def of_the_sample(variants: pl.DataFrame, left_out: frozenset[int]) -> pl.DataFrame:
    """Variants without those of `final-…` perturbations on rows that were not sampled."""
    final = variants["perturbation"].str.starts_with(FINAL)
    if not left_out or not final.any():
        return variants
    here = left_out.intersection(variants["row"].unique())
    return variants.filter(~(final & variants["row"].is_in(list(here))))


def without_duplicates(segments: pl.DataFrame) -> pl.DataFrame:
    """The first of the segments of a language pair with the same source, then with the same first reference.

    A segment is left out whose source or reference came before; texts that are not there repeat nothing.
    """
    for text in (pl.col("source"), pl.col("references").list.first()):
        repeated = pl.struct("language_pair", text.alias("text")).is_first_distinct()
        segments = segments.filter(repeated | text.is_null())
    return segments


Comparable = Callable[[str, str, str, str], str]
"""A translation made comparable: of the two translations and the two sources, the perturbed first."""


def reset_ending(perturbed: str, clean: str, perturbed_source: str, clean_source: str) -> str:
    """The perturbed source's translation with the clean one's final mark, where the sources' own marks differ."""
    if ending(perturbed_source).mark == ending(clean_source).mark:
        return perturbed
    mine, model = ending(perturbed), ending(clean)
    if mine.mark == model.mark or not mine.body:
        return perturbed
    closing = mine.closing if mine.mark else model.closing if mine.body.endswith(model.closing) else ""
    body = mine.body if mine.mark else mine.body.removesuffix(closing)
    return body + (model.space if model.mark else "") + model.mark + closing + mine.tail


def reset_as_published(perturbed: str, clean: str, perturbed_source: str, clean_source: str) -> str:
    """Take off the mark that was inserted, put back the mark that was deleted, and change nothing else."""
    before, after = ending(clean_source), ending(perturbed_source)
    mine, model = ending(perturbed), ending(clean)
    if not before.mark and after.mark and mine.kind == after.kind != model.kind and mine.body:
        return mine.body + mine.closing + mine.tail
    if before.mark and not after.mark and model.kind == before.kind and not mine.mark and mine.body:
        closing = model.closing if mine.body.endswith(model.closing) else ""
        return mine.body.removesuffix(closing) + model.space + model.mark + closing + mine.tail
    return perturbed


def without_instruction(perturbed: str, clean: str, perturbed_source: str, clean_source: str) -> str:
    """What a translation says beside an instruction that was put into its source."""
    return what_was_translated(clean, perturbed)


RESETS: dict[Reset, Comparable] = {
    "auto": reset_ending,
    "always": reset_ending,
    "never": lambda perturbed, *_: perturbed,
    "paper": reset_as_published,
}
"""How each choice makes translations comparable."""
