"""The QE study's page: which model tells harmful from harmless changes, and does that rank models as humans do."""

from babelquake.report.judged_examples import EXAMPLES
from babelquake.report.page import Page
from babelquake.report.phrases import of_pair, p_text, than_chance
from babelquake.report.qe.charts import qe_views
from babelquake.report.qe.tables import qe_tables
from babelquake.report.results import Results, Row, named, scorer_text, values
from babelquake.report.table import number
from babelquake.runs.info import Flag
from babelquake.runs.run import Run


def qe_verdict(run: Run) -> list[str]:
    """Per language pair: the best and the worst model, agreement of rankings; then the flags."""
    results = Results.of(run)
    pairs = values(results.where("discrimination", "drop"), "language_pair")
    sentences = []
    for pair in pairs:
        said = of_pair(pair, pairs)
        sentences += [said + sentence for sentence in (*_ranking(results, pair), *_agreement(results, pair))]
    return sentences + _flags(run.info.facts.flags)


def _ranking(results: Results, pair: str | None) -> list[str]:
    rows = results.known("discrimination", language_pair=pair)
    if not rows:
        return []
    if len(rows) == 1:
        (only,) = rows
        points, where = _points(results, only), "above" if only["value"] >= 0 else "below"
        model = scorer_text(only["scorer"])
        return [f"{model} scores harmless changes {points} {where} harmful ones{than_chance(only)}."]
    rows = results.known("discrimination_standardised", language_pair=pair)
    if len(rows) < 2:
        return []
    rows.sort(key=lambda row: -row["value"])
    name, best, worst = named(rows), rows[0], rows[-1]
    ends = best["scorer"], worst["scorer"]
    between = results.between("discrimination_standardised", "scorer", *ends, language_pair=pair)
    return [
        f"{name(best)} tells harmful from harmless changes best (MPP − MAP = "
        f"{number(best['value'], 2, sign=True)} standard deviations of its scores), "
        f"{name(worst)} worst ({number(worst['value'], 2, sign=True)})"
        f"{than_chance(between)}."
    ]


def _points(results: Results, row: Row) -> str:
    return number(abs(row["value"]), min(3, results.digits(row["scorer"])))


def _agreement(results: Results, pair: str | None) -> list[str]:
    found = results.known("rank_agreement", language_pair=pair)
    if not found:
        return []
    return [
        "Ranking the models without human labels agrees with their ranking by correlation with humans by "
        f"{number(found[0]['value'], 2)}{p_text(found[0])}."
    ]


def _flags(flags: list[Flag]) -> list[str]:
    """How many warnings the study gave each model, and the first of them."""
    sentences = []
    scorers = list(dict.fromkeys(flag.scorer for flag in flags))
    for scorer in scorers:
        texts = [flag.text for flag in flags if flag.scorer == scorer]
        count = "1 warning" if len(texts) == 1 else f"{len(texts)} warnings, first"
        sentences.append(f"{scorer_text(scorer, scorers)} gets {count}: {texts[0]}".rstrip(".") + ".")
    return sentences


PAGE = Page(qe_tables, qe_verdict, qe_views, EXAMPLES, compared=("drop",))
