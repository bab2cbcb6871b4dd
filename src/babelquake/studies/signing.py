"""A signature on every row of results: system, perturbation with its resource and replicates, scorer, and the run."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from babelquake.perturb.suite import Suite

Language = Callable[[str | None], str | None]


def sign(
    rows: list[dict[str, Any]],
    study: str,
    run: str,
    *,
    scorers: Mapping[str, str],
    systems: Mapping[tuple[str | None, str], str] | None = None,
    changes: Suite | None = None,
    language: Language = lambda pair: None,
) -> None:
    """Fill in the columns `study` and `signature`; `language` tells which language of a pair was perturbed."""
    by_cell = {(change.label, change.level): change for change in changes.perturbations} if changes else {}
    for row in rows:
        parts = [(systems or {}).get((row.get("language_pair"), row.get("system") or ""))]
        change = by_cell.get((row.get("perturbation") or "", row.get("level")))
        if change is not None and changes is not None:
            parts.append(f"{change.signature(language(row.get('language_pair')))}×{changes.repeats(change)}")
        row["study"] = study
        row["signature"] = "|".join(filter(None, [*parts, scorers.get(row.get("scorer") or ""), run]))


def suite_signatures(changes: Suite, pairs: Sequence[str | None], language: Language) -> dict[str, str]:
    """The suite's signature for run.json, once per language that it was applied to."""
    found = {language(pair): changes.signature(language(pair)) for pair in pairs or [None]}
    return {f"suite {lang}" if lang and len(found) > 1 else "suite": text for lang, text in found.items()}
