"""The MT study's tables: all in all, then Niu 2020 Table 3 with Δ and % inconsistent of Jwalapuram 2023 Table 5."""

from babelquake.report.phrases import with_level
from babelquake.report.results import results_of
from babelquake.report.table import Table, cell, interval, note_on, table_of, value_of, with_sd
from babelquake.runs.results import Results, Row, distinct, values
from babelquake.runs.run import Run

DIFFERENCES = {"robust_difference": "ROBUST", "consis_difference": "CONSIS", "delta_difference": "Δ"}
OVERALL = {
    "overall_rank": "rank",
    "overall_quality_perturbed": "under noise",
    "overall_quality": "clean",
    "overall_delta": "Δ",
    "overall_robust": "ROBUST",
    "overall_consis": "CONSIS",
}
IN_SCORES = ("overall_quality_perturbed", "overall_quality", "overall_delta")
"""Those on the scorer's own scale."""


def mt_tables(run: Run) -> list[Table]:
    """All in all first; then one table per language pair and scorer, and the comparison of systems."""
    results = results_of(run)
    views = distinct(results.where("consis", "delta"), "language_pair", "scorer")
    return [
        *_overall(results),
        *(_cells(results, pair, scorer) for pair, scorer in views),
        *(table for pair, scorer in views for table in _differences(results, pair, scorer)),
    ]


def _overall(results: Results) -> list[Table]:
    """Which system is sturdier, all in all?"""
    rows = results.where(*OVERALL)
    if not rows:
        return []
    lines = tuple(
        (
            _view(pair, scorer, results),
            system,
            *(
                with_sd(
                    results.one(name, language_pair=pair, scorer=scorer, system=system),
                    results.digits(scorer, 1) if name in IN_SCORES else 1,
                )
                for name in OVERALL
            ),
        )
        for pair, scorer, system in distinct(rows, "language_pair", "scorer", "system")
    )
    compared = results.where(*(f"{name}_difference" for name in OVERALL))
    columns = {
        "scorer": lambda row: _view(row["language_pair"], row["scorer"], results),
        "systems": lambda row: f"{row['system']} − {row['other']}",
        "measure": lambda row: OVERALL[row["measure"].removesuffix("_difference")],
        "difference": cell,
        "95 % interval": interval,
    }
    return [
        Table("All in all", ("scorer", "system", *OVERALL.values()), lines, _overall_note(rows)),
        *table_of("All in all: differences", compared, columns, note_on(compared), ("95 % interval",)),
    ]


def _overall_note(rows: list[Row]) -> str:
    """What the figures are, and which perturbations they leave out."""
    notes = (row["note"] for row in rows if row["note"] and row["measure"] == "overall_quality_perturbed")
    return " ".join(
        ["Means over perturbations, each weighing the same, ± sd; ROBUST from the means.", *dict.fromkeys(notes)]
    )


def _cells(results: Results, pair: str | None, scorer: str) -> Table:
    found = results.where("consis", "delta", language_pair=pair, scorer=scorer)
    found = [row for row in found if row["group"] is None]
    cells = distinct(found, "perturbation", "level", "system")
    perturbations = list(dict.fromkeys(cell[:2] for cell in cells))
    lines = tuple(
        _line(results, pair, scorer, *place)
        for place in sorted(cells, key=lambda place: perturbations.index(place[:2]))
    )
    columns = ("perturbation", "system", "n", "changed", "clean", "perturbed", "Δ", "ROBUST", "CONSIS", "% inc.")
    tested = [row for row in found if row["measure"] == "delta"]
    note = f"Mean ± standard deviation over resampled segments. Δ: better is up. {note_on(tested)}"
    return Table(
        _view(pair, scorer, results), columns, lines, note.strip(), ("perturbed", "clean", "n", "Δ", "changed")
    )


def _line(
    results: Results, pair: str | None, scorer: str, perturbation: str, level: float, system: str
) -> tuple[str, ...]:
    def get(measure: str, scored_by: str = scorer) -> Row | None:
        return results.one(
            measure, language_pair=pair, scorer=scored_by, perturbation=perturbation, level=level, system=system
        )

    some, places = get("consis") or get("delta"), results.digits(scorer, 1)
    return (
        with_level(perturbation, level),
        system,
        str(some["n"] or "") if some else "",
        str(some["changed"]) if some and some["changed"] is not None else "",
        with_sd(get("quality"), places),
        with_sd(get("quality_perturbed"), places),
        cell(get("delta"), places),
        with_sd(get("robust"), 1),
        with_sd(get("consis"), 1),
        value_of(get("inconsistent", "chrf")),
    )


def _differences(results: Results, pair: str | None, scorer: str) -> list[Table]:
    rows = results.where(*DIFFERENCES, language_pair=pair, scorer=scorer)
    if not rows:
        return []
    present = [name for name in DIFFERENCES if any(row["measure"] == name for row in rows)]
    lines = []
    for perturbation, level, system, other in distinct(rows, "perturbation", "level", "system", "other"):
        key = {"language_pair": pair, "scorer": scorer, "perturbation": perturbation, "level": level, "system": system}
        found = [results.one(name, **key, other=other) for name in present]
        places = [4 if name == "delta_difference" and results.digits(scorer, 1) > 1 else 2 for name in present]
        cells = (cell(row, digits) for row, digits in zip(found, places, strict=True))
        lines.append((with_level(perturbation, level), f"{system} − {other}", *cells))
    title = f"Differences between systems: {_view(pair, scorer, results)}"
    columns = ("perturbation", "systems", *(DIFFERENCES[name] for name in present))
    return [Table(title, columns, tuple(lines), note_on(rows))]


def _view(pair: str | None, scorer: str, results: Results) -> str:
    several = len(values(results.where("consis", "delta"), "language_pair")) > 1
    return f"{scorer} · {pair}" if pair and several else scorer
