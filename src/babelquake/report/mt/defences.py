"""What helps against what: defences beside perturbations, and what each defence costs."""

from babelquake.report.phrases import labelled
from babelquake.report.results import scorer_text, short_names
from babelquake.report.table import Table, cell, note_on, number, value_of
from babelquake.runs.results import Results, Row, distinct, values


def defence_tables(results: Results) -> list[Table]:
    """Per language pair, scorer and system: the defences' costs and gains, then defences by perturbations."""
    found = results.where("clean_change", "overall_gain", "gain")
    views = distinct(found, "language_pair", "scorer", "other")
    return [table for view in views for table in _of_system(results, found, *view)]


def _of_system(results: Results, found: list[Row], pair: str | None, scorer: str, bare: str) -> list[Table]:
    here = [row for row in found if (row["language_pair"], row["scorer"], row["other"]) == (pair, scorer, bare)]
    defended = values(here, "system")
    title = f"{short_names([bare])[bare]}, {scorer_text(scorer, values(found, 'scorer'))}" + (
        f", {pair}" if pair else ""
    )
    key = {"language_pair": pair, "scorer": scorer, "other": bare}
    return [_summary(results, defended, bare, key, title), _against(results, here, defended, bare, key, title)]


def _chain(name: str, bare: str) -> str:
    return name.removeprefix(f"{bare} + ")


def _within(margin: Row | None) -> str:
    """Whether clean quality was shown to stay within the margin; `untested` where that could not be asked."""
    if margin is None:
        return ""
    if margin["value"] is None:
        return "untested"
    return "yes" if margin["verdict"] == "significant" else "no"


def _summary(results: Results, defended: list[str], bare: str, key: dict[str, str | None], title: str) -> Table:
    digits = results.digits(key["scorer"], 2)
    lines, tested = [], []
    for name in defended:
        of = {measure: results.one(measure, system=name, **key) for measure in SUMMARY}
        tested += [row for row in of.values() if row is not None]
        cost = {"language_pair": key["language_pair"], "system": name, "other": bare}
        failed = results.one("failures", language_pair=key["language_pair"], system=name, scorer="any")
        lines.append(
            (
                _chain(name, bare),
                cell(of["clean_change"], digits),
                _within(of["clean_margin"]),
                cell(of["overall_gain"], digits),
                _share(of["overall_recovered"]),
                value_of(failed),
                value_of(results.one("milliseconds", **cost), 2),
                value_of(results.one("calls", **cost), 2),
            )
        )
    columns = ("defence", "clean", "within margin", "under noise", "% won back", "% failures", "ms", "calls")
    note = (
        "Differences from the undefended system. Within margin: clean quality is shown not to fall by more than the "
        "margin. Failures: of clean translations. Milliseconds of the defence itself, calls of systems, per sentence. "
    )
    return Table(f"Defences: {title}", columns, tuple(lines), note + note_on(tested), ("% failures", "calls"))


SUMMARY = ("clean_change", "clean_margin", "overall_gain", "overall_recovered")


def _share(row: Row | None) -> str:
    return "–" if row is None or row["value"] is None else number(row["value"], 0)


def _against(
    results: Results, here: list[Row], defended: list[str], bare: str, key: dict[str, str | None], title: str
) -> Table:
    gains = [row for row in here if row["measure"] == "gain"]
    places = distinct(gains, "perturbation", "level")
    named = labelled(name for name, _ in places)
    lines = []
    for perturbation, level in places:
        place = {"perturbation": perturbation, "level": level}
        lost = results.one("delta", language_pair=key["language_pair"], scorer=key["scorer"], system=bare, **place)
        cells = (_cell(results, name, {**key, **place}) for name in defended)
        lines.append((named(perturbation, level), cell(lost, 1), *cells))
    columns = ("perturbation", "loss", *(_chain(name, bare) for name in defended))
    note = "% of the loss that a defence wins back (100: all of it); –: no loss to win back. " + note_on(gains)
    return Table(f"What helps against what: {title}", columns, tuple(lines), note)


def _cell(results: Results, name: str, key: dict[str, str | float | None]) -> str:
    share, gain = (results.one(measure, system=name, **key) for measure in ("recovered", "gain"))
    if share is None or share["value"] is None:
        return "–"
    return number(share["value"], 0) + cell(gain, 1).lstrip("+−-0123456789.")
