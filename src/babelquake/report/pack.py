"""Examples in little space: a table of distinct strings, columns of numbers, deflate, base64.

Large runs keep the most damaged half of what fits and a keyed random sample of the rest; the page says how many of how
many it shows.
"""

import base64
import json
import zlib
from typing import Any

import numpy as np
import polars as pl

from babelquake.report.examples import examples, with_texts
from babelquake.report.results import change_text, scorer_text, short_names
from babelquake.runs.run import Run

Array = np.ndarray[Any, np.dtype[Any]]
Facet = tuple[str, str, str]
FACETS: dict[str, tuple[Facet, ...]] = {
    "translation": (
        ("system", "System", "system"),
        ("cell", "Perturbation", "cell"),
        ("change", "Kind of change", "change"),
    ),
    "judged": (("scorer", "Scorer", "scorer"), ("cell", "Perturbation", "cell"), ("meaning", "Meaning", "meaning")),
}
"""What examples are filtered by: key, label, column."""


class Strings:
    """Distinct strings, numbered in order of appearance; None is −1."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def numbers(self, texts: pl.Series) -> list[int]:
        """The numbers of a column of texts."""
        known = self.known
        return [-1 if text is None else known.setdefault(text, len(known)) for text in texts]


def packed(payload: dict[str, Any]) -> str:
    """JSON, deflated, in base64: letters that no browser takes for markup."""
    text = json.dumps(payload, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def example_columns(run: Run, most: int) -> dict[str, Any]:
    """At most so many examples as columns of numbers into a table of strings."""
    found = examples(run).with_row_index("place")
    who = "system" if run.info.study == "translation" else "scorer"
    keys = found.select("place", who, "row", "drop").collect()
    chosen = choose(keys[who], keys["row"].to_numpy(), keys["drop"].to_numpy(), most)
    shown = found.filter(pl.col("place").is_in(keys["place"].gather(chosen).implode())).collect()
    table = with_texts(run, shown).sort("row", "place")
    table = table.join(_context(run), on="row", how="left", maintain_order="left")
    table = table.with_columns(
        cell=pl.Series(
            [change_text(*cell) for cell in table.select("perturbation", "level").iter_rows()], dtype=pl.String
        )
    )
    shaped = _translation_columns(run, table) if run.info.study == "translation" else _judged_columns(run, table)
    return {"total": keys.height, "shown": table.height, **shaped}


def choose(groups: pl.Series, rows: Array, drops: Array, most: int) -> list[int]:
    """Places of the examples to keep: half the most damaged of each system or scorer, half at random."""
    if len(drops) <= most:
        return list(range(len(drops)))
    order = np.argsort(-np.nan_to_num(drops.astype(np.float64), nan=-np.inf), kind="stable")
    codes = groups.cast(pl.String).fill_null("").rank("dense").to_numpy()[order]
    within = np.empty(len(order), np.int64)
    for code in np.unique(codes):
        members = np.flatnonzero(codes == code)
        within[members] = np.arange(len(members))
    worst = order[np.argsort(within, kind="stable")[: most // 2]]
    left = np.setdiff1d(np.arange(len(drops)), worst)
    drawn = left[np.argsort(mixed(left.astype(np.uint64) + (rows[left].astype(np.uint64) << np.uint64(32))))]
    return sorted([*worst.tolist(), *drawn[: most - len(worst)].tolist()])


def mixed(keys: Array) -> Array:
    """SplitMix64's finaliser: numbers that look random and depend on the key alone."""
    with np.errstate(over="ignore"):
        keys = keys + np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(keys ^ (keys >> np.uint64(31)))


def _context(run: Run) -> pl.DataFrame:
    """Source, translation and first reference of every segment, under names that no example has."""
    segments = run.table("segments")
    if "row" not in segments.columns:
        segments = segments.with_row_index("row")
    texts = [
        (pl.col(name) if name in segments.columns else pl.lit(None, pl.String)).alias(f"segment_{name}")
        for name in ("source", "translation")
    ]
    reference = pl.col("references").list.first() if "references" in segments.columns else pl.lit(None, pl.String)
    return segments.select("row", *texts, reference.alias("segment_reference"))


def _translation_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    strings = Strings()
    short = short_names(run.measures.filter(measure="consis")["system"])
    table = table.with_columns(pl.col("system").replace(short))
    texts = [
        {"label": "Source", "was": strings.numbers(table["original"]), "now": strings.numbers(table["text"])},
        {"label": "Translation", "was": strings.numbers(table["before"]), "now": strings.numbers(table["after"])},
        {"label": "Reference", "plain": strings.numbers(table["segment_reference"]), "against": 1},
    ]
    return {
        "unit": "chrF lost against the translation of the clean source",
        "drop": _rounded(table["drop"]),
        "facets": _facets("translation", table),
        "texts": texts,
        "strings": list(strings.known),
        "ids": table["id"].to_list(),
    }


def _judged_columns(run: Run, table: pl.DataFrame) -> dict[str, Any]:
    strings = Strings()
    side = str(run.info.config.get("side", "translation"))
    changed = {
        "label": side.capitalize(),
        "was": strings.numbers(table["original"]),
        "now": strings.numbers(table["text"]),
    }
    others = [name for name in ("source", "translation", "reference") if name != side] if side != "source" else []
    plain = [
        {"label": name.capitalize(), "plain": strings.numbers(table[f"segment_{name}"])}
        for name in others
        if table[f"segment_{name}"].null_count() < table.height
    ]
    meanings = dict(run.info.facts.get("meaning", {}))
    meanings |= {label: probe.get("meaning", "") for label, probe in run.info.facts.get("probes", {}).items()}
    meaning = [meanings.get(label, "depends") for label in table["perturbation"]]
    scorers = table["scorer"].unique().to_list()
    shown = {name: scorer_text(name, scorers) for name in scorers}
    named = table.with_columns(meaning=pl.Series(meaning, dtype=pl.String), scorer=pl.col("scorer").replace(shown))
    return {
        "unit": "score lost",
        "drop": _rounded(table["drop"]),
        "before": _rounded(table["before"]),
        "after": _rounded(table["after"]),
        "facets": _facets("judged", named),
        "texts": [changed, *plain],
        "strings": list(strings.known),
        "ids": table["id"].to_list(),
    }


def _facets(kind: str, table: pl.DataFrame) -> list[dict[str, Any]]:
    """Columns to filter by, as numbers into their own short lists; those with one value are left out."""
    facets = []
    for key, label, column in FACETS[kind]:
        names = Strings()
        numbers = names.numbers(table[column])
        facets.append({"key": key, "label": label, "values": list(names.known), "column": numbers})
    return facets


def _rounded(column: pl.Series) -> list[float | None]:
    """Four significant digits are enough to sort and to show."""
    return [None if value is None or value != value else float(f"{value:.4g}") for value in column]
