"""The QE study's tables: Kanojia 2021 Table 4 (MT, MPP, MAP, their ranking) and Tables 2–3 (drops per probe)."""

from babelquake.report.judges import judge_tables
from babelquake.report.pitfalls import pitfall_tables
from babelquake.report.results import results_of
from babelquake.report.table import Shown, Table, cell, interval, note_on, number, of, parts_table, table_of, value_of
from babelquake.runs.info import Flag, Probe
from babelquake.runs.results import Results, Row, values
from babelquake.runs.run import Run

MEANS = ("score_mt", "score_mpp", "score_map", "discrimination", "pearson")


def qe_tables(run: Run) -> list[Table]:
    """Per language pair the ranking of models and the drop under each probe; then the flags."""
    everything = results_of(run)
    results = everything.whole
    probes = run.info.facts.probes
    turned = _turned(run.info.facts.lower_is_better)
    tables = pitfall_tables(run, results)
    for pair in values(results.where("discrimination", "drop"), "language_pair"):
        tables += [
            *_ranking(results, pair, run.info.facts.left_out, turned),
            *_rivalries(results, pair),
            *_drops(results, pair, probes, turned),
            *parts_table(
                f"Drops by part of the data{of(pair)}",
                everything.where("drop", language_pair=pair),
                "scorer",
                "drop",
                3,
            ),
        ]
    return tables + judge_tables(results) + _flags(run.info.facts.flags)


def _turned(errors: list[str]) -> str:
    """What must be said of scorers where less is better."""
    return f" Less is better for {', '.join(errors)}: differences are turned round there." if errors else ""


def _ranking(results: Results, pair: str | None, left_out: str | None, turned: str) -> list[Table]:
    def get(measure: str, scorer: str) -> Row | None:
        return results.one(measure, language_pair=pair, scorer=scorer)

    places = results.digits

    def rank(row: Row | None) -> str:
        return f"{row['value']:g}" if row and row["value"] is not None else ""

    columns: dict[str, Shown] = {
        "model": lambda scorer: scorer,
        "MT": lambda scorer: value_of(get("score_mt", scorer), places(scorer)),
        "MPP": lambda scorer: value_of(get("score_mpp", scorer), places(scorer)),
        "MAP": lambda scorer: value_of(get("score_map", scorer), places(scorer)),
        "MPP − MAP": lambda scorer: cell(get("discrimination", scorer), places(scorer)),
        "ordered right": lambda scorer: value_of(get("ordered_right", scorer), 1),
        "Pearson's r": lambda scorer: value_of(get("pearson", scorer), 3),
        "rank": lambda scorer: rank(get("rank_discrimination", scorer)),
        "raw rank": lambda scorer: rank(get("rank_mpp_minus_map", scorer)),
        "rank by r": lambda scorer: rank(get("rank_pearson", scorer)),
    }
    note = "MPP meaning-preserving, MAP meaning-altering perturbations; discrimination is MPP − MAP."
    note += " Ordered right: % of segments that lose more to MAP than to MPP."
    note += turned
    note += f" MAP is over {left_out}" if left_out else ""
    note += (
        " Rank: by MPP − MAP in standard deviations of the model's scores; raw rank: in its points, as the paper does."
    )
    for name, which in (("rank_agreement", "rank"), ("rank_agreement_raw", "raw rank")):
        for agreement in results.known(name, language_pair=pair):
            p = f" (p = {agreement['p']:.3g})" if agreement["p"] is not None else ""
            within = f" {found}" if (found := interval(agreement, 2)) else ""
            note += f" τ of {which} and rank by r: {number(agreement['value'], 2)}{within}{p}."
    scorers = values(results.where(*MEANS, language_pair=pair), "scorer")
    return table_of(
        f"Quality estimation{of(pair)}",
        scorers,
        columns,
        note,
        spare=("raw rank", "rank by r", "rank", "ordered right"),
    )


def _rivalries(results: Results, pair: str | None) -> list[Table]:
    columns: dict[str, Shown] = {
        "models": lambda row: f"{row['scorer']} − {row['other']}",
        "difference": lambda row: cell(row, 2),
        "95 % interval": lambda row: interval(row, 2),
    }
    rows = results.where("discrimination_standardised_difference", language_pair=pair)
    note = (
        "How much better the first tells harmful from harmless changes: MPP − MAP in standard deviations of its scores."
    )
    return table_of(f"Differences between models{of(pair)}", rows, columns, f"{note} {note_on(rows)}".strip())


def _drops(results: Results, pair: str | None, probes: dict[str, Probe], turned: str) -> list[Table]:
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
            *(cell(cells.get((label, level, scorer)), results.digits(scorer)) for scorer in scorers),
        )
        for label, level, n in order
    )
    note = f"Score of the translation minus score of the perturbed one.{turned} {note_on(rows)}".strip()
    return [Table(f"Drop per probe{of(pair)}", ("probe", "n", *scorers), lines, note)]


def probe_title(label: str, probes: dict[str, Probe]) -> str:
    """A probe's title where the study gave one."""
    return probes[label].title if label in probes else label


def meaning_of(label: str, probes: dict[str, Probe]) -> str:
    """What a probe does to the meaning; empty where nobody said."""
    return probes[label].meaning if label in probes else ""


def _flags(flags: list[Flag]) -> list[Table]:
    columns: dict[str, Shown] = {
        "model": lambda flag: flag.scorer,
        "language pair": lambda flag: flag.language_pair or "",
        "probe": lambda flag: flag.perturbation or "",
        "what is wrong": lambda flag: flag.text,
    }
    return table_of("Flags", flags, columns, spare=("probe",))
