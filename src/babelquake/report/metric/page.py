"""The metric study's page: which scorers move for the wrong reasons, what noise costs their judgement."""

from babelquake.report.judged_examples import EXAMPLES
from babelquake.report.metric.charts import metric_views
from babelquake.report.metric.tables import metric_tables
from babelquake.report.page import Page
from babelquake.report.phrases import in_words, level_with_unit, of_pair, p_text
from babelquake.report.results import STATISTICS, Results, Row, is_significant, scorer_text, statistic_text, values
from babelquake.report.table import number
from babelquake.runs.measures import CANNOT_BE_TESTED
from babelquake.runs.run import Run


def metric_verdict(run: Run) -> list[str]:
    """Sensitivity, agreement with humans, challenge sets: whatever the run holds."""
    results = Results.of(run)
    return [*_sensitivity(results, run.info.facts.meaning), *_agreement(results), *_challenge(results)]


def _sensitivity(results: Results, meaning: dict[str, str]) -> list[str]:
    rows = results.known("delta")
    pairs = values(rows, "language_pair")
    sentences = []
    for pair in pairs:
        here = [row for row in rows if row["language_pair"] == pair]
        scorers = values(here, "scorer")
        for scorer in scorers:
            mine = [row for row in here if row["scorer"] == scorer]
            said = of_pair(pair, pairs) + scorer_text(scorer, scorers)
            sentences.append(said + _harmless(results, mine, meaning) + _inverted(results, pair, scorer) + ".")
    return sentences


def _harmless(results: Results, rows: list[Row], meaning: dict[str, str]) -> str:
    harmless = [row for row in rows if meaning.get(row["perturbation"], "preserving") == "preserving"]
    if not harmless:
        return " was shown no harmless change"
    untested = sum(row["verdict"] == CANNOT_BE_TESTED for row in harmless)
    if untested == len(harmless):
        return f" cannot be tested on {untested} harmless change{'s' * (untested > 1)}: too few segments"
    beside = f" ({untested} cannot be tested)" if untested else ""
    moved = [row for row in harmless if is_significant(row)]
    several = f"{len(moved) or 'none'} of {len(harmless)} harmless changes"
    under = several if len(harmless) > 1 else "the one harmless change"
    if not moved:
        return (
            f" moves significantly under {under}{beside}"
            if len(harmless) > 1
            else f" does not move significantly under {under}"
        )
    worst = max(moved, key=lambda row: abs(row["value"]))
    digits = min(3, results.digits(worst["scorer"]))
    noise = in_words(worst["perturbation"], worst["level"])
    return (
        f" moves significantly under {under}{beside}, {'most under ' * (len(harmless) > 1)}{noise}: "
        f"{number(worst['value'], digits, sign=True)}{p_text(worst)}"
    )


def _inverted(results: Results, pair: str | None, scorer: str) -> str:
    rows = [row for row in results.where("harmless_costs_more", language_pair=pair, scorer=scorer) if row["value"]]
    if not rows:
        return ""
    worst = max(rows, key=lambda row: row["value"])
    return f"; {worst['perturbation']} costs more than a harmful change in {worst['value']:.0f} % of comparisons"


def _agreement(results: Results) -> list[str]:
    measure = next((name for name in STATISTICS if results.where(name)), None)
    if measure is None:
        return []
    rows = [row for row in results.known(measure) if row["level"] is not None]
    pairs = values(rows, "language_pair")
    pair = "average" if "average" in pairs else pairs[0] if pairs else None
    rows = [row for row in rows if row["language_pair"] == pair]
    where = "averaged over language pairs, " if pair == "average" else f"{pair}, " if pair else ""
    sentences = []
    for perturbation in values(rows, "perturbation"):
        falls = _falls([row for row in rows if row["perturbation"] == perturbation])
        if not falls:
            continue
        scorers = [row["scorer"] for _, row in falls]
        (before, worst), (start, best) = falls[0], falls[-1]
        sentence = (
            f"Under {perturbation}, {scorer_text(worst['scorer'], scorers)}'s agreement with humans ({where}"
            f"{statistic_text(measure)}) goes from {number(before, 3)} to {number(worst['value'], 3)} at "
            f"{level_with_unit(perturbation, worst['level'])}"
        )
        if len(falls) > 1:
            name = scorer_text(best["scorer"], scorers)
            sentence += f"; {name} keeps the most of its own ({number(start, 3)} to {number(best['value'], 3)})"
        sentences.append(sentence + ".")
    return sentences


def _falls(rows: list[Row]) -> list[tuple[float, Row]]:
    """Per scorer: agreement at the lowest level, and the row of the highest; the largest loss first."""
    falls = []
    for scorer in values(rows, "scorer"):
        mine = sorted((row for row in rows if row["scorer"] == scorer), key=lambda row: row["level"])
        if len(mine) > 1:
            falls.append((mine[0]["value"], mine[-1]))
    return sorted(falls, key=lambda fall: fall[1]["value"] - fall[0])


def _challenge(results: Results) -> list[str]:
    rows = results.known("detection_accuracy")
    scorers = values(rows, "scorer")
    sentences = []
    for scorer in scorers:
        mine = [row for row in rows if row["scorer"] == scorer]
        overall = next((row for row in mine if row["perturbation"] is None and row["group"] is None), None)
        phenomena = [row for row in mine if row["perturbation"] is not None]
        said = f"{scorer_text(scorer, scorers)} prefers the good translation "
        said += f"in {overall['value']:.1f} % of pairs" if overall else "most of the time"
        if phenomena:
            worst = min(phenomena, key=lambda row: row["value"])
            said += f"; it is weakest at {worst['perturbation']} ({worst['value']:.1f} %)"
        sentences.append(said + ".")
    return sentences


PAGE = Page(metric_tables, metric_verdict, metric_views, EXAMPLES, compared=("delta", "darr", "kendall_like"))
