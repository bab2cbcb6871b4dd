"""The QE study's verdict: which model tells harmful from harmless changes, and does that rank models as humans do."""

from babelquake.report.metric_tables import digits_for
from babelquake.report.phrases import listed, of_pair, p_text
from babelquake.report.results import Results, Row, is_significant, scorer_text, values
from babelquake.report.table import number
from babelquake.run import Run


def quality_verdict(run: Run) -> list[str]:
    """Per language pair: the best and the worst model, agreement of rankings, missed probes; then the flags."""
    results = Results.of(run)
    probes = run.info.facts.get("probes", {})
    pairs = values(results.where("discrimination", "drop"), "language_pair")
    sentences = []
    for pair in pairs:
        said = of_pair(pair, pairs)
        found = [*_ranking(results, pair), *_agreement(results, pair), *_missed(results, pair, probes)]
        sentences += [said + sentence for sentence in found]
    flags = run.info.facts.get("flags", [])
    if flags:
        sentences.append(f"{len(flags)} warning{'s' if len(flags) > 1 else ''}: {flags[0].get('text', '')}".rstrip())
    return sentences


def _ranking(results: Results, pair: str | None) -> list[str]:
    rows = [row for row in results.where("discrimination", language_pair=pair) if row["value"] is not None]
    if not rows:
        return []
    rows.sort(key=lambda row: -row["value"])
    scorers = values(rows, "scorer")
    best, worst = rows[0], rows[-1]
    if len(rows) == 1:
        return [f"{scorer_text(best['scorer'])} scores harmless changes {_points(results, best)} above harmful ones."]
    return [
        f"{scorer_text(best['scorer'], scorers)} tells harmful from harmless changes best (MPP − MAP = "
        f"{_points(results, best)}), {scorer_text(worst['scorer'], scorers)} worst ({_points(results, worst)})."
    ]


def _points(results: Results, row: Row) -> str:
    return number(row["value"], min(3, digits_for(row["scorer"], results)), sign=True)


def _agreement(results: Results, pair: str | None) -> list[str]:
    found = [row for row in results.where("rank_agreement", language_pair=pair) if row["value"] is not None]
    if not found:
        return []
    return [
        "Ranking the models without human labels agrees with their ranking by correlation with humans by "
        f"{number(found[0]['value'], 2)}{p_text(found[0])}."
    ]


def _missed(results: Results, pair: str | None, probes: dict[str, dict[str, str]]) -> list[str]:
    """Meaning-altering probes after which a model's score does not fall."""
    sentences = []
    rows = results.where("drop", language_pair=pair)
    scorers = values(rows, "scorer")
    for scorer in scorers:
        missed = [
            row["perturbation"]
            for row in rows
            if row["scorer"] == scorer
            and probes.get(row["perturbation"], {}).get("meaning") == "altering"
            and row["value"] is not None
            and not (is_significant(row) and row["value"] > 0)
        ]
        if missed:
            sentences.append(f"{scorer_text(scorer, scorers)} does not notice {listed(missed)}.")
    return sentences
