"""The metric study's tables: sensitivity (Jwalapuram 2023 Tables 2–3), agreement under noise (Vu 2022), challenges."""

from babelquake.report.phrases import card_of, with_level
from babelquake.report.results import STATISTICS, Results, Row, distinct, level_text, statistic_text, values
from babelquake.report.table import Table, cell, interval, note_on, number
from babelquake.runs.run import Run


def metric_tables(run: Run) -> list[Table]:
    """Whatever questions the run asked, in order."""
    results = Results.of(run)
    meaning = run.info.facts.meaning
    return [
        *_sensitivity(results, meaning),
        *_harmless(results),
        *_agreement(results),
        *_unknown(results),
        *_challenge(results),
    ]


def _sensitivity(results: Results, meaning: dict[str, str]) -> list[Table]:
    tables = []
    deltas = results.where("delta")
    for pair in values(deltas, "language_pair"):
        here = [row for row in deltas if row["language_pair"] == pair and row["group"] is None]
        lines = tuple(_sensitivity_line(results, row, meaning) for row in here)
        columns = ("scorer", "perturbation", "meaning", "n", "changed", "clean", "perturbed", "Δ", "95 % interval")
        note = f"Δ is what the perturbation changed; better is up. {note_on(deltas)}".strip()
        spare = ("95 % interval", "perturbed", "clean", "n", "changed", "meaning")
        tables.append(Table(f"Sensitivity{_of(pair)}", columns, lines, note, spare))
    return tables


def _sensitivity_line(results: Results, row: Row, meaning: dict[str, str]) -> tuple[str, ...]:
    key = {name: row[name] for name in ("language_pair", "system", "scorer", "perturbation", "level")}
    clean, perturbed = results.one("score", **key), results.one("score_perturbed", **key)
    digits = digits_for(row["scorer"], results)
    return (
        row["scorer"],
        with_level(row["perturbation"], row["level"]),
        meaning.get(row["perturbation"], ""),
        str(row["n"] or ""),
        "" if row["changed"] is None else str(row["changed"]),
        number(clean["value"], digits) if clean else "",
        number(perturbed["value"], digits) if perturbed else "",
        cell(row, digits),
        interval(row, digits),
    )


def digits_for(scorer: str | None, results: Results) -> int:
    """Scorers that live between 0 and 1 need more digits than those that run to 100."""
    seen = [
        abs(row["value"])
        for row in results.where("score", "score_perturbed", "score_mt", "score_mpp", "score_map", scorer=scorer)
        if row["value"] is not None
    ]
    return 2 if seen and max(seen) > 5 else 4


def _harmless(results: Results) -> list[Table]:
    found = sorted(results.where("harmless_costs_more"), key=lambda row: -(row["value"] or 0))
    if not found:
        return []
    lines = tuple(
        (
            row["scorer"],
            row["language_pair"] or "",
            with_level(row["perturbation"], row["level"]),
            number(row["value"]),
            str(row["n"] or ""),
        )
        for row in found
    )
    note = "Share of comparisons on the same segment in which the harmless change costs more than a harmful one."
    columns = ("scorer", "language pair", "harmless change", "% costs more", "comparisons")
    return [Table("Harmless changes that cost more than harmful ones", columns, lines, note)]


def _agreement(results: Results) -> list[Table]:
    tables = []
    for measure in STATISTICS:
        rows = results.where(measure)
        pairs = sorted(values(rows, "language_pair"), key=lambda pair: pair != "average")
        for pair in pairs:
            here = [row for row in rows if row["language_pair"] == pair]
            title = f"Agreement with humans: {statistic_text(measure)}{_of(pair)}"
            tables.append(_by_level(title, here, "Level 0 is the clean reference.", 3))
    return tables


def _unknown(results: Results) -> list[Table]:
    names = {"unknown_tokens": "Unknown tokens per segment", "unk_share": "Unknown tokens in per cent of all"}
    return [
        _by_level(f"{title}{_of(pair)}", results.where(measure, language_pair=pair), "", 2, "tokenizer")
        for measure, title in names.items()
        for pair in values(results.where(measure), "language_pair")
    ]


def _by_level(title: str, rows: list[Row], note: str, digits: int, who: str = "scorer") -> Table:
    """Scorers down, noise levels across, as Vu 2022 prints them."""
    levels = sorted({row["level"] for row in rows}, key=lambda level: -1.0 if level is None else level)
    cells = {(row["perturbation"], row[who], row["level"]): row["value"] for row in rows}
    changes = values(rows, "perturbation")
    lines = tuple(
        (change or "", scorer or "", *(number(cells.get((change, scorer, level)), digits) for level in levels))
        for change, scorer in sorted(distinct(rows, "perturbation", who), key=lambda line: changes.index(line[0]))
    )
    units = {card.unit for change in changes if change and (card := card_of(change)) and card.unit}
    said = f"Level: {units.pop()}. {note}".strip() if len(units) == 1 else note
    return Table(title, ("perturbation", who, *(level_text(level) or "–" for level in levels)), lines, said)


def _challenge(results: Results) -> list[Table]:
    tables = []
    names = {"detection_accuracy": ("Detection accuracy in per cent", 1), "change_ratio": ("Ratio of the change", 3)}
    for measure, (title, digits) in names.items():
        rows = results.where(measure)
        if not rows:
            continue
        scorers = values(rows, "scorer")
        cells = {(group_text(row), row["scorer"]): row for row in rows}
        lines = tuple(
            (
                group,
                str(next(row["n"] or "" for row in rows if group_text(row) == group)),
                *(
                    number(cells[group, scorer]["value"], digits) if (group, scorer) in cells else ""
                    for scorer in scorers
                ),
            )
            for group in dict.fromkeys(map(group_text, rows))
        )
        note = "Share of triples in which the original translation scores strictly higher than the damaged one."
        tables.append(Table(title, ("phenomenon", "n", *scorers), lines, note if measure.startswith("det") else ""))
    return tables


def group_text(row: Row) -> str:
    """Which triples of a challenge set a row is about."""
    return row["perturbation"] or (f"severity: {row['group']}" if row["group"] else "all")


def _of(pair: str | None) -> str:
    return f" · {pair}" if pair else ""
