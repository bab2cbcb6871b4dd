"""What helps against what: defences beside perturbations, and what each defence costs."""

from collections.abc import Callable
from functools import partial

from babelquake.report.phrases import labelled
from babelquake.report.results import scorer_text, short_names
from babelquake.report.table import Shown, Table, cell, crossed, note_on, number, table_of, value_of
from babelquake.runs.results import Results, Row, distinct, values


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
