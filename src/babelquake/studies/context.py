"""What the data hold beside each text that is perturbed: its reference, other segments, foreign translations."""

from collections.abc import Iterator, Mapping

import polars as pl

from babelquake.engine import Engine
from babelquake.languages import sides
from babelquake.perturb.context import Beside, Other, Others
from babelquake.perturb.suite import Suite

Surroundings = Mapping[int, Beside]
"""By row."""
SHIPPED = "bundled[model=de-en-bpe]"
"""The translator that ships: English of German sources, where the data have no translation into a third language."""


def surroundings_of(segments: pl.DataFrame, column: str, suite: Suite, engine: Engine) -> Surroundings:
    """What perturbations of the texts in a column may be handed; nothing where none of the suite asks for it."""
    if not suite.looks_beside:
        return {}
    foreign = _foreign(segments, engine) if _asks_for(suite, "foreign") else {}
    found: dict[int, Beside] = {}
    for table, rows in _neighbourhoods(segments, column):
        for row, place in rows.items():
            found[row] = Beside(table[place].reference, foreign.get(row), Others(table, place))
    return found


def _asks_for(suite: Suite, name: str) -> bool:
    return any(name in perturbation.card.wants for perturbation in suite.perturbations)


def _neighbourhoods(segments: pl.DataFrame, column: str) -> Iterator[tuple[list[Other], dict[int, int]]]:
    """Segments that stand together, in their order, and where each row stands among them.

    Those of one system and language pair; where a system has one segment only, all of the language pair.
    """
    grouped = ["language_pair", "system"] if "system" in segments.columns else ["language_pair"]
    small = segments.group_by(grouped).len().filter(pl.col("len") < 2).drop("len")
    alone = segments.join(small, on=grouped, how="semi", nulls_equal=True, maintain_order="left")
    apart = segments.join(small, on=grouped, how="anti", nulls_equal=True, maintain_order="left")
    for part in [
        *apart.partition_by(grouped, maintain_order=True),
        *alone.partition_by("language_pair", maintain_order=True),
    ]:
        texts, sources = part[column].fill_null("").to_list(), part["source"].to_list()
        references = [_first(some, source) for some, source in zip(_references(part), sources, strict=True)]
        table = [Other(*each) for each in zip(texts, sources, references, strict=True)]
        yield table, {row: place for place, row in enumerate(part["row"].to_list())}


def _references(part: pl.DataFrame) -> list[list[str] | None]:
    return part["references"].to_list() if "references" in part.columns else [None] * part.height


def _first(references: list[str] | None, source: str | None) -> str | None:
    """The first reference; a source that stands in for one is none."""
    return next((one for one in references or () if one and one != source), None)


def _foreign(segments: pl.DataFrame, engine: Engine) -> dict[int, str]:
    """Each row's source in another language: as the data have it, or from German into English by a model that ships."""
    known: dict[str, dict[str, str]] = {}
    rows = []
    for row, pair, source, text, references in _translated(segments):
        origin, target = sides(pair)
        best = _first(references, source) or text
        if source and target is not None:
            rows.append((row, origin, target, source))
            if best:
                known.setdefault(source, {}).setdefault(target.code, best)
    found, lacking = {}, {}
    for row, origin, target, source in rows:
        other = next((text for code, text in known.get(source, {}).items() if code != target.code), None)
        if other is not None:
            found[row] = other
        elif origin is not None and origin.code == "de" and target.code != "en":
            lacking[row] = source
    if lacking:
        from babelquake.systems import system

        found |= dict(zip(lacking, engine.translate(system(SHIPPED), list(lacking.values())), strict=True))
    return found


def _translated(segments: pl.DataFrame) -> Iterator[tuple[int, str | None, str | None, str | None, list[str] | None]]:
    text = pl.col("translation") if "translation" in segments.columns else pl.lit(None, pl.String)
    references = pl.col("references") if "references" in segments.columns else pl.lit(None, pl.List(pl.String))
    chosen = segments.select("row", "language_pair", "source", text.alias("text"), references.alias("references"))
    yield from chosen.iter_rows()
