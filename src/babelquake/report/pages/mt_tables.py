"""The MT study's tables: overall, defences, Niu 2020 Table 3 with Δ and % inconsistent of Jwalapuram 2023 Table 5."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from babelquake.perturb.labels import known_card, label_of
from babelquake.report.names import labelled, results_of, scorer_text, short_names
from babelquake.report.table import (
    Shown,
    Table,
    cell,
    crossed,
    interval,
    note_on,
    number,
    of,
    parts_table,
    plain_interval,
    table_of,
    text,
    value_of,
    with_sd,
)
from babelquake.report.verdict import sentence_case
from babelquake.runs.measures import Results, Row, distinct, largest_first, values
from babelquake.runs.run import Run
from babelquake.studies.kinds import mt as kinds

DIFFERENCES = {kind.difference().name: kind.column for kind in (kinds.ROBUST, kinds.CONSIS, kinds.DELTA)}
OVERALL = {
    kind.name: kind.column
    for kind in (
        kinds.OVERALL_RANK,
        kinds.OVERALL_QUALITY_PERTURBED,
        kinds.OVERALL_QUALITY,
        kinds.OVERALL_DELTA,
        kinds.OVERALL_ROBUST,
        kinds.OVERALL_CONSIS,
    )
}
CELLS = (kinds.DELTA, kinds.ROBUST, kinds.CONSIS, kinds.INCONSISTENT)
"""What the table of every perturbation has beside the two qualities."""
IN_SCORES = ("overall_quality_perturbed", "overall_quality", "overall_delta")
"""Those on the scorer's own scale."""


def mt_tables(run: Run) -> list[Table]:
    """Overall figures first; then one table per language pair and scorer, comparisons of systems, parts of the data."""
    everything = results_of(run)
    results = everything.whole
    views = distinct(results.where("consis", "delta"), "language_pair", "scorer")
    return [
        *defence_tables(results),
        *_overall(results, "other prompts" if run.info.options.get("side") == "prompt" else "under noise"),
        *_obedience(results),
        *_prompts_and_sources(results),
        *_self_agreement(results),
        *(table for pair, scorer in views for table in _cells(results, pair, scorer)),
        *(table for pair in values(results.where("failures"), "language_pair") for table in _failures(results, pair)),
        *(table for pair, scorer in views for table in _differences(results, pair, scorer)),
        *(table for pair, scorer in views for table in _parts(everything, pair, scorer)),
    ]


def _obedience(results: Results) -> list[Table]:
    """Did it translate or obey? Per form of instruction and system."""
    rows = results.where("obeyed")
    named = labelled(values(rows, "perturbation"))
    columns = {
        "language pair": text("language_pair"),
        "instruction": lambda row: named(row["perturbation"], row["level"]),
        "system": text("system"),
        "obeyed %": value_of,
        "95 % interval": plain_interval,
        "translated %": lambda row: value_of(results.beside(row, "translated")),
        "of translated, 95 %": lambda row: plain_interval(results.beside(row, "translated")),
        "texts": text("n"),
    }
    if len(values(rows, "language_pair")) < 2:
        del columns["language pair"]
    note = "Shares of translations; a text may be neither (a copy, a text cut off) or both (translated, then answered)."
    return table_of("Did it translate or obey?", rows, columns, note, ("of translated, 95 %", "texts"))


def _prompts_and_sources(results: Results) -> list[Table]:
    """What matters more, the wording of the prompt or the source."""
    columns = {
        "scorer": _viewed(results),
        "system": text("system"),
        "over prompts": value_of,
        "95 % interval": plain_interval,
        "over sources": lambda row: value_of(results.beside(row, "sd_sources")),
        "of sources, 95 %": lambda row: plain_interval(results.beside(row, "sd_sources")),
        "rest": lambda row: value_of(results.beside(row, "sd_rest")),
    }
    note = (
        "Standard deviations of segment scores from a two-way analysis of variance; rest: prompt × source and chance."
    )
    return table_of("Prompts and sources: what matters more?", results.where("sd_prompts"), columns, note)


def _self_agreement(results: Results) -> list[Table]:
    """How far a system agrees with itself, asked again."""
    columns = {
        "scorer": _viewed(results),
        "system": text("system"),
        "CONSIS with itself": value_of,
        "95 % interval": plain_interval,
    }
    return table_of("Asked again: does a system agree with itself?", results.where("self_agreement"), columns)


def _failures(results: Results, pair: str | None) -> list[Table]:
    """Which failures perturbations cause: per system the kinds that became most frequent, and under what."""
    rows = [row for row in results.known("failures_delta", language_pair=pair) if row["scorer"] != "any"]
    worst: dict[tuple[str, str], Row] = {}
    for row in largest_first(rows):
        worst.setdefault((row["system"], row["scorer"]), row)
    shown = [row for row in worst.values() if row["value"] > 0][:MOST_FAILURES]
    among = [row["perturbation"] for row in rows]
    columns = {
        "system": text("system"),
        "failure": text("scorer"),
        "clean": lambda row: value_of(results.one("failures", **_without_cell(row)), 1),
        "most under": lambda row: label_of(row["perturbation"], row["level"], among),
        "%": lambda row: value_of(results.beside(row, "failures"), 1),
        "Δ": lambda row: cell(row, 1),
        "95 % interval": lambda row: interval(row, 1),
    }
    note = f"% of translations. {note_on(shown)} failures.parquet has every failure with its evidence."
    return table_of(f"Failures that perturbations cause{of(pair)}", shown, columns, note, ("95 % interval", "clean"))


MOST_FAILURES = 12
"""Lines that the table of failures has at most."""


def _without_cell(row: Row) -> dict[str, str | None]:
    return {name: row[name] for name in ("language_pair", "system", "scorer")}


def _parts(results: Results, pair: str | None, scorer: str) -> list[Table]:
    """Where systems are weak."""
    names = {kind.name: kind.column for kind in (kinds.ROBUST, kinds.CONSIS)}
    known = {name: results.known(name, language_pair=pair, scorer=scorer) for name in names}
    measure = next((name for name in names if known[name]), "robust")
    return parts_table(f"By part of the data: {_view(pair, scorer, results)}", known[measure], "system", names[measure])


def _overall(results: Results, perturbed: str) -> list[Table]:
    """Which system is best under noise? `perturbed` is what the column of perturbed quality is called."""
    rows = results.where(*OVERALL)

    def places(row: Row) -> int:
        return results.digits(row["scorer"], 1) if row["measure"] in IN_SCORES else 1

    overall = crossed(
        "Overall",
        rows,
        ("language_pair", "scorer", "system"),
        {"scorer": _viewed(results), "system": text("system")},
        "measure",
        lambda row: with_sd(row, places(row)),
        (OVERALL | {"overall_quality_perturbed": perturbed}).__getitem__,
        list(OVERALL),
        _overall_note(rows),
        ("rank", "Δ", "CONSIS"),
    )
    better = tuple((column, "up") for column in (perturbed, "clean", "Δ", "ROBUST", "CONSIS"))
    compared = results.where(*(f"{name}_difference" for name in OVERALL))
    columns = {
        "scorer": _viewed(results),
        "systems": lambda row: f"{row['system']} − {row['other']}",
        "measure": lambda row: OVERALL[row["measure"].removesuffix("_difference")],
        "difference": cell,
        "95 % interval": interval,
    }
    return [
        *(replace(table, better=better) for table in overall),
        *(table_of("Overall: differences", compared, columns, note_on(compared), ("95 % interval",)) if rows else ()),
    ]


def _overall_note(rows: list[Row]) -> str:
    """What the figures are, and which perturbations they leave out."""
    notes = (row["note"] for row in rows if row["note"] and row["measure"] == "overall_quality_perturbed")
    return " ".join(
        ["Means over perturbations, each weighing the same, ± sd; ROBUST from the means.", *dict.fromkeys(notes)]
    )


def _cells(results: Results, pair: str | None, scorer: str) -> list[Table]:
    found = results.where("consis", "delta", language_pair=pair, scorer=scorer)
    perturbations = distinct(found, "perturbation", "level")
    rows: dict[tuple[Any, ...], Row] = {}
    for row in found:
        rows.setdefault((row["perturbation"], row["level"], row["system"]), row)
    named, places = labelled(name for name, _ in perturbations), results.digits(scorer, 1)

    def of_place(measure: str, digits: int = 1) -> Shown:
        return lambda row: with_sd(results.beside(row, measure), digits)

    columns: dict[str, Shown] = {
        "perturbation": lambda row: named(row["perturbation"], row["level"]),
        "system": text("system"),
        "n": lambda row: str(row["n"] or ""),
        "changed": text("changed"),
        "words": lambda row: value_of(_achieved(results, pair, row["perturbation"], row["level"]), 0),
        "clean": of_place("quality", places),
        "perturbed": of_place("quality_perturbed", places),
        kinds.DELTA.column: lambda row: cell(results.beside(row, "delta"), places),
        kinds.ROBUST.column: of_place("robust"),
        kinds.CONSIS.column: of_place("consis"),
        kinds.INCONSISTENT.column: lambda row: value_of(results.beside({**row, "scorer": "chrf"}, "inconsistent")),
    }
    tested = [row for row in found if row["measure"] == "delta"]
    parts = ["Mean ± standard deviation over resampled segments. Changed: segments; words: % of words changed."]
    parts += [*floors(results, pair, perturbations), "Δ: better is up.", note_on(tested)]
    spare = ("n", "perturbed", "clean", kinds.DELTA.column, kinds.INCONSISTENT.column, "changed")
    better = (("clean", "up"), ("perturbed", "up"), *((kind.column, kind.better) for kind in CELLS))
    ordered = sorted(rows.values(), key=lambda row: perturbations.index((row["perturbation"], row["level"])))
    tables = table_of(_view(pair, scorer, results), ordered, columns, " ".join(filter(None, parts)), spare)
    return [replace(table, better=better) for table in tables]


def floors(results: Results, pair: str | None, perturbations: list[tuple[str, float | None]]) -> list[str]:
    """Where a paper's rule sets a floor: what was asked for, what was changed, and why."""
    said: dict[str, list[str]] = {}
    named = labelled(name for name, _ in perturbations)
    for perturbation, level in perturbations:
        card, found = known_card(perturbation), _achieved(results, pair, perturbation, level)
        if card and card.floor and level and found and found["value"] is not None:
            changed = f"{named(perturbation, level)} changed {found['value']:.0f} % of words"
            said.setdefault(card.floor, []).append(changed)
    return [f"{sentence_case('; '.join(changed))}: {floor}." for floor, changed in said.items()]


def _achieved(results: Results, pair: str | None, perturbation: str, level: float | None) -> Row | None:
    return results.one("achieved_words", language_pair=pair, perturbation=perturbation, level=level)


def _differences(results: Results, pair: str | None, scorer: str) -> list[Table]:
    rows = results.where(*DIFFERENCES, language_pair=pair, scorer=scorer)
    named, small = labelled(values(rows, "perturbation")), results.digits(scorer, 1) > 1
    down = {
        "perturbation": lambda row: named(row["perturbation"], row["level"]),
        "systems": lambda row: f"{row['system']} − {row['other']}",
    }
    return crossed(
        f"Differences between systems: {_view(pair, scorer, results)}",
        rows,
        ("perturbation", "level", "system", "other"),
        down,
        "measure",
        lambda row: cell(row, 4 if small and row["measure"] == "delta_difference" else 2),
        DIFFERENCES.__getitem__,
        [name for name in DIFFERENCES if any(row["measure"] == name for row in rows)],
        note_on(rows),
    )


def _viewed(results: Results) -> Shown:
    return lambda row: _view(row["language_pair"], row["scorer"], results)


def _view(pair: str | None, scorer: str, results: Results) -> str:
    several = len(values(results.where("consis", "delta"), "language_pair")) > 1
    name = scorer_text(scorer, values(results.where("consis", "delta"), "scorer"))
    return f"{name} · {pair}" if pair and several else name


def defence_tables(results: Results) -> list[Table]:
    """Per language pair, scorer and system: the defences' costs and gains, then defences by perturbations."""
    found = results.where("clean_change", "overall_gain", "gain")
    views = distinct(found, "language_pair", "scorer", "other")
    return [table for view in views for table in _of_system(results, found, *view)]


def _of_system(results: Results, found: list[Row], pair: str | None, scorer: str, bare: str) -> list[Table]:
    here = [row for row in found if (row["language_pair"], row["scorer"], row["other"]) == (pair, scorer, bare)]
    shown = scorer_text(scorer, values(found, "scorer"))
    title = ", ".join(filter(None, [short_names([bare])[bare], shown, pair]))
    return [*_summary(results, here, title), *_against(results, here, bare, title)]


def _chain(name: str, bare: str) -> str:
    return name.removeprefix(f"{bare} + ")


def _within(margin: Row | None) -> str:
    """Whether clean quality was shown to stay within the margin; `untested` where that could not be asked."""
    if margin is None:
        return ""
    if margin["value"] is None:
        return "untested"
    return "yes" if margin["verdict"] == "significant" else "no"


def _summary(results: Results, here: list[Row], title: str) -> list[Table]:
    digits = results.digits(here[0]["scorer"], 2)

    def beside(measure: str, **other: str | None) -> Callable[[Row], Row | None]:
        """The same system's figure over all perturbations."""
        return lambda row: results.beside({**row, "perturbation": None, "level": None, **other}, measure)

    of = {measure: beside(measure) for measure in SUMMARY}
    failures = beside("failures", scorer="any", other=None)
    took = {measure: beside(measure, scorer=None) for measure in ("milliseconds", "calls")}
    rows = list({row["system"]: row for row in reversed(here)}.values())[::-1]
    columns: dict[str, Shown] = {
        "defence": lambda row: _chain(row["system"], row["other"]),
        "clean": lambda row: cell(of["clean_change"](row), digits),
        "within margin": lambda row: _within(of["clean_margin"](row)),
        "under noise": lambda row: cell(of["overall_gain"](row), digits),
        "% won back": lambda row: _share(of["overall_recovered"](row)),
        "% failures": lambda row: value_of(failures(row)),
        "ms": lambda row: value_of(took["milliseconds"](row), 2),
        "calls": lambda row: value_of(took["calls"](row), 2),
    }
    note = (
        "Differences from the undefended system. Within margin: clean quality is shown not to fall by more than the "
        "margin. Failures: of clean translations. Milliseconds of the defence itself, calls of systems, per sentence. "
    )
    tested = [found for row in rows for one in of.values() if (found := one(row)) is not None]
    return table_of(f"Defences: {title}", rows, columns, note + note_on(tested), ("% failures", "calls"))


SUMMARY = ("clean_change", "clean_margin", "overall_gain", "overall_recovered")


def _share(row: Row | None) -> str:
    return "–" if row is None or row["value"] is None else number(row["value"], 0)


def _against(results: Results, here: list[Row], bare: str, title: str) -> list[Table]:
    gains = [row for row in here if row["measure"] == "gain"]
    named = labelled(values(gains, "perturbation"))
    note = "% of the loss that a defence wins back (100: all of it); –: no loss to win back. " + note_on(gains)
    down: dict[str, Shown] = {
        "perturbation": lambda row: named(row["perturbation"], row["level"]),
        "loss": lambda row: cell(results.beside({**row, "system": bare, "other": None}, "delta"), 1),
    }
    title = f"What helps against what: {title}"
    by, heads = ("perturbation", "level"), values(here, "system")
    return crossed(title, gains, by, down, "system", partial(_cell, results), partial(_chain, bare=bare), heads, note)


def _cell(results: Results, gain: Row) -> str:
    share = _share(results.beside(gain, "recovered"))
    return share if share == "–" else share + cell(gain, 1).lstrip("+−-0123456789.")
