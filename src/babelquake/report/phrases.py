"""Perturbations and lists in plain words."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from babelquake.perturb.labels import label_of


def labelled(perturbations: Iterable[str | None]) -> Callable[[str | None, float | None], str]:
    """What a perturbation at a level is called among all these; the clean text has no name."""
    among = {name for name in perturbations if name}
    return lambda name, level: label_of(name, level, among) if name else ""


def row_label(rows: Iterable[dict[str, Any]]) -> Callable[[dict[str, Any]], str]:
    """What the perturbation of a row is called among those of all rows."""
    named = labelled(row["perturbation"] for row in rows)
    return lambda row: named(row["perturbation"], row["level"])


def listed(items: Sequence[str], most: int = 6) -> str:
    """`a, b and c`; long lists end in a count."""
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def of_pair(pair: str | None, pairs: Sequence[str | None]) -> str:
    """Names the language pair where there are several."""
    return f"{pair}: " if pair and len(pairs) > 1 else ""


def count(number: int, noun: str) -> str:
    """`1 measure`, `1,200 measures`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
