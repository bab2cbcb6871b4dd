"""The MT study's tables: shaped like Niu 2020 Table 3 with the Δ and % inconsistent of Jwalapuram 2023 Table 5."""

from typing import Any

from babelquake.report.table import STARS_NOTE, Table, interval, number, stars, with_sd
from babelquake.runs.run import Run

Key = tuple[Any, ...]


def mt_tables(run: Run) -> list[Table]:
    """One table per language pair and scorer, then the comparison of systems."""
    rows = run.measures.to_dicts()
    found: dict[Key, dict[str, Any]] = {
        (row["language_pair"], row["scorer"], row["perturbation"], row["level"], row["system"], row["measure"]): row
        for row in rows
    }
    tables = []
    for pair, scorer in dict.fromkeys(
        (row["language_pair"], row["scorer"]) for row in rows if row["measure"] == "consis"
    ):
        cells = dict.fromkeys(
            (row["perturbation"], row["level"], row["system"])
            for row in rows
            if row["measure"] == "consis" and (row["language_pair"], row["scorer"]) == (pair, scorer)
        )
        changes = list(dict.fromkeys(cell[:2] for cell in cells))
        lines = [_line(found, pair, scorer, *cell) for cell in sorted(cells, key=lambda cell: changes.index(cell[:2]))]
        columns = (
            "perturbation",
            "level",
            "system",
            "n",
            "clean",
            "perturbed",
            "Δ",
            "ROBUST",
            "CONSIS",
            "% inconsistent",
        )
        title = f"{scorer}{' · ' + pair if pair else ''}"
        tables.append(Table(title, columns, tuple(lines), f"mean ± standard deviation by bootstrap. {STARS_NOTE}"))
    return tables + _differences(rows)


def _line(
    found: dict[Key, dict[str, Any]], pair: str, scorer: str, change: str, level: float, system: str
) -> tuple[str, ...]:
    def get(measure: str, judge: str | None = scorer) -> dict[str, Any] | None:
        return found.get((pair, judge, change, level, system, measure))

    consis, delta, below = get("consis"), get("delta"), get("inconsistent", "chrf")
    change_in_quality = number(delta["value"], 1, sign=True) + stars(delta["p_corrected"]) if delta else ""
    return (
        change, "" if level is None else f"{level:g}", system, str(consis["n"]) if consis else "",
        with_sd(get("quality")), with_sd(get("quality_perturbed")), change_in_quality, with_sd(get("robust")),
        with_sd(consis), number(below["value"]) if below else "",
    )  # fmt: skip


def _differences(rows: list[dict[str, Any]]) -> list[Table]:
    differences = [row for row in rows if row["measure"] in ("robust_difference", "consis_difference")]
    if not differences:
        return []
    lines = tuple(
        (
            row["scorer"],
            row["perturbation"],
            "" if row["level"] is None else f"{row['level']:g}",
            f"{row['system']} − {row['other']}",
            row["measure"].removesuffix("_difference").upper(),
            number(row["value"], 2, sign=True) + stars(row["p_corrected"]),
            interval(row),
        )
        for row in differences
    )
    columns = ("scorer", "perturbation", "level", "systems", "measure", "difference", "95 % interval")
    return [Table("Differences between systems", columns, lines, STARS_NOTE)]
