"""The metric study's tables: sensitivity (Jwalapuram 2023 Tables 2–3), agreement under noise (Vu 2022), challenges."""

from babelquake.perturb.labels import known_card
from babelquake.report.judges import judge_tables
from babelquake.report.metric.layers import layer_tables
from babelquake.report.phrases import labelled, row_label
from babelquake.report.pitfalls import pitfall_tables
from babelquake.report.results import level_text, results_of, statistic_text
from babelquake.report.table import (
    Table,
    cell,
    crossed,
    digits,
    interval,
    note_on,
    number,
    of,
    parts_table,
    table_of,
    text,
    value_of,
)
from babelquake.runs.results import STATISTICS, Results, Row, values
from babelquake.runs.run import Run


def metric_tables(run: Run) -> list[Table]:
    """Whatever questions the run asked, in order."""
    results = results_of(run)
    meaning = run.info.facts.meaning
    return [
        *pitfall_tables(run, results),
        *_best_of(results),
        *_sensitivity(results.whole, meaning),
        *parts_table("Δ by part of the data", results.where("delta"), "scorer", "Δ", 2),
        *_harmless(results),
        *_agreement(results),
        *layer_tables(results),
        *_unknown(results),
        *_challenge(results),
        *judge_tables(results.whole),
    ]


def _best_of(results: Results) -> list[Table]:
    """Pickers and judges down, numbers of candidates across."""
    rows = results.where("best_of")
    down = {"picked by": text("scorer"), "judged by": text("other"), "candidates": lambda row: row["group"] or "all"}
    note = "What the pick gains over a random one, in standard deviations of the judge's scores, with 95 % intervals."
    return crossed(
        "Selection pressure",
        rows,
        ("scorer", "other", "group", "language_pair"),
        down,
        "level",
        lambda row: f"{number(row['value'], 2, sign=True)} {interval(row)}".strip(),
        "best of {:g}".format,
        sorted(values(rows, "level")),
        note,
    )


CELL = ("language_pair", "perturbation", "level")


def _sensitivity(results: Results, meaning: dict[str, str]) -> list[Table]:
    deltas = results.where("delta")

    def places(row: Row) -> int:
        return results.digits(row["scorer"])

    columns = {
        "scorer": text("scorer"),
        "perturbation": row_label(deltas),
        "meaning": lambda row: meaning.get(row["perturbation"], ""),
        "n": lambda row: str(row["n"] or ""),
        "changed": text("changed"),
        "words": lambda row: value_of(results.one("achieved_words", **{name: row[name] for name in CELL}), 0),
        "clean": lambda row: value_of(results.beside(row, "score"), places(row)),
        "perturbed": lambda row: value_of(results.beside(row, "score_perturbed"), places(row)),
        "Δ": lambda row: cell(row, places(row)),
        "95 % interval": lambda row: interval(row, places(row)),
    }
    note = f"Words: % of words changed. Δ is what that did to the score; better is up. {note_on(deltas)}".strip()
    spare = ("95 % interval", "perturbed", "clean", "n", "meaning", "changed", "words")
    tables = []
    for pair in values(deltas, "language_pair"):
        here = [row for row in deltas if row["language_pair"] == pair]
        tables += table_of(f"Sensitivity{of(pair)}", here, columns, note, spare)
    return tables


def _harmless(results: Results) -> list[Table]:
    rows = sorted(results.where("harmless_costs_more"), key=lambda row: -(row["value"] or 0))
    columns = {
        "scorer": text("scorer"),
        "language pair": text("language_pair"),
        "harmless change": row_label(rows),
        "% costs more": digits("value"),
        "comparisons": lambda row: str(row["n"] or ""),
    }
    note = "Share of comparisons on the same segment in which the harmless change costs more than a harmful one."
    return [
        *table_of("Harmless changes that cost more than harmful ones", rows, columns, note, spare=("comparisons",)),
        *_rewarded(results),
    ]


def _rewarded(results: Results) -> list[Table]:
    rows = sorted(results.where("rewards_harmful"), key=lambda row: -(row["value"] or 0))
    columns = {
        "scorer": text("scorer"),
        "language pair": text("language_pair"),
        "harmful change": row_label(rows),
        "% rewarded": digits("value"),
        "texts": lambda row: str(row["n"] or ""),
    }
    note = "Share of texts whose score rose with the harmful change."
    shown = [row for row in rows if row["value"]]
    return table_of("Harmful changes that are rewarded", shown, columns, note, spare=("texts",))


def _agreement(results: Results) -> list[Table]:
    tables = []
    for measure in STATISTICS:
        rows = results.where(measure)
        for pair in sorted(values(rows, "language_pair"), key=lambda pair: pair != "average"):
            here = [row for row in rows if row["language_pair"] == pair]
            title = f"Agreement with humans: {statistic_text(measure)}{of(pair)}"
            tables += _by_level(title, here, "Level 0 is the clean reference.", 3)
    return tables


def _unknown(results: Results) -> list[Table]:
    names = {"unknown_tokens": "Unknown tokens per segment", "unk_share": "Unknown tokens in per cent of all"}
    return [
        table
        for measure, title in names.items()
        for pair in values(results.where(measure), "language_pair")
        for table in _by_level(f"{title}{of(pair)}", results.where(measure, language_pair=pair), "", 2, "tokenizer")
    ]


def _by_level(title: str, rows: list[Row], note: str, places: int, who: str = "scorer") -> list[Table]:
    """Scorers down, noise levels across, as Vu 2022 prints them."""
    perturbations = values(rows, "perturbation")
    cards = {name: card for name in perturbations if name and (card := known_card(name)) and card.unit}
    units, label = {card.unit for card in cards.values()}, labelled(perturbations)

    def named(row: Row) -> str:
        """With the level's unit where perturbations of a table differ in it."""
        said, name = label(row["perturbation"], None), row["perturbation"]
        return f"{said} ({cards[name].unit})" if len(units) > 1 and name in cards else said

    return crossed(
        title,
        sorted(rows, key=lambda row: perturbations.index(row["perturbation"])),
        ("perturbation", who),
        {"perturbation": named, who: text(who)},
        "level",
        digits("value", places),
        lambda level: level_text(level) or "–",
        sorted(values(rows, "level"), key=lambda level: -1.0 if level is None else level),
        f"Level: {next(iter(units))}. {note}".strip() if len(units) == 1 else note,
    )


def _challenge(results: Results) -> list[Table]:
    note = "Share of triples in which the original translation scores strictly higher than the damaged one."
    down = {"phenomenon": group_text, "n": lambda row: str(row["n"] or "")}
    by = ("perturbation", "group")
    detected, changed = (results.where(name) for name in ("detection_accuracy", "change_ratio"))
    return [
        *crossed("Detection accuracy in per cent", detected, by, down, "scorer", digits("value"), note=note),
        *crossed("Ratio of the change", changed, by, down, "scorer", digits("value", 3)),
    ]


def group_text(row: Row) -> str:
    """Which triples of a challenge set a row is about."""
    return row["perturbation"] or (f"severity: {row['group']}" if row["group"] else "all")
