"""The QE study's tables: Kanojia 2021 Table 4 (MT, MPP, MAP, their ranking) and Tables 2–3 (drops per probe)."""

from babelquake.report.metric.tables import digits_for
from babelquake.report.results import Results, values
from babelquake.report.table import Table, cell, note_on, number
from babelquake.runs.info import Flag, Probe
from babelquake.runs.run import Run

MEANS = ("score_mt", "score_mpp", "score_map", "discrimination", "pearson")


def qe_tables(run: Run) -> list[Table]:
    """Per language pair the ranking of models and the drop under each probe; then the flags."""
    results = Results.of(run)
    probes = run.info.facts.probes
    tables = []
    for pair in values(results.where("discrimination", "drop"), "language_pair"):
        tables += [_ranking(results, pair), *_drops(results, pair, probes)]
    return tables + _flags(run.info.facts.flags)


def _ranking(results: Results, pair: str | None) -> Table:
    lines = []
    for scorer in values(results.where(*MEANS, language_pair=pair), "scorer"):
        found = {name: results.one(name, language_pair=pair, scorer=scorer) for name in MEANS}
        places = [
            results.one(name, language_pair=pair, scorer=scorer) for name in ("rank_discrimination", "rank_pearson")
        ]
        discrimination = found["discrimination"]
        digits = digits_for(scorer, results)
        lines.append(
            (
                scorer or "",
                *(
                    number(row["value"], digits) if row else ""
                    for name, row in found.items()
                    if name.startswith("score_")
                ),
                cell(discrimination, digits),
                number(row["value"], 3) if (row := found["pearson"]) else "",
                *(f"{place['value']:g}" if place and place["value"] is not None else "" for place in places),
            )
        )
    agreement = results.where("rank_agreement", language_pair=pair)
    note = "MPP meaning-preserving, MAP meaning-altering perturbations; discrimination is MPP − MAP."
    if agreement and agreement[0]["value"] is not None:
        p = f", p = {agreement[0]['p']:.3g}" if agreement[0]["p"] is not None else ""
        note += f" Agreement of the two rankings: {number(agreement[0]['value'], 2)}{p}."
    columns = ("model", "MT", "MPP", "MAP", "MPP − MAP", "Pearson's r", "rank", "rank by r")
    return Table(f"Quality estimation{_of(pair)}", columns, tuple(lines), note)


def _drops(results: Results, pair: str | None, probes: dict[str, Probe]) -> list[Table]:
    rows = results.where("drop", language_pair=pair)
    if not rows:
        return []
    scorers = values(rows, "scorer")
    cells = {(row["perturbation"], row["level"], row["scorer"]): row for row in rows}
    known = list(probes)
    order = sorted(
        dict.fromkeys((row["perturbation"], row["level"], row["n"]) for row in rows if row["scorer"] == scorers[0]),
        key=lambda probe: (known.index(probe[0]) if probe[0] in probes else len(known), probe[1] or 0),
    )
    names = [label for label, _, _ in order]
    lines = tuple(
        (
            probe_title(label, probes) + (f", level {level:g}" if names.count(label) > 1 and level is not None else ""),
            str(n or ""),
            *(cell(cells.get((label, level, scorer)), digits_for(scorer, results)) for scorer in scorers),
        )
        for label, level, n in order
    )
    note = f"Score of the translation minus score of the perturbed one. {note_on(rows)}".strip()
    return [Table(f"Drop per probe{_of(pair)}", ("probe", "n", *scorers), lines, note)]


def probe_title(label: str, probes: dict[str, Probe]) -> str:
    """A probe's title where the study gave one."""
    return probes[label].title if label in probes else label


def meaning_of(label: str, probes: dict[str, Probe]) -> str:
    """What a probe does to the meaning; empty where nobody said."""
    return probes[label].meaning if label in probes else ""


def _flags(flags: list[Flag]) -> list[Table]:
    if not flags:
        return []
    lines = tuple((flag.scorer, flag.language_pair or "", flag.perturbation or "", flag.text) for flag in flags)
    return [Table("Flags", ("model", "language pair", "probe", "what is wrong"), lines)]


def _of(pair: str | None) -> str:
    return f" · {pair}" if pair else ""
