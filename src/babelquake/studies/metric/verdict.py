"""What a run of `metric` found: which scorers move for the wrong reasons, what noise costs their judgement."""

from collections.abc import Iterator

from babelquake.perturb.labels import known_card
from babelquake.runs.findings import Finding, Number
from babelquake.runs.results import STATISTICS, Results, Row, distinct, values
from babelquake.runs.run import Run
from babelquake.studies.judge_reliability import judge_findings
from babelquake.studies.metric.best_of import best_of_findings
from babelquake.studies.pitfalls import pitfall_findings


def metric_findings(run: Run) -> list[Finding]:
    """Sensitivity, agreement with people under noise, challenge sets: whatever the run holds."""
    results = Results.of(run)
    return [
        *pitfall_findings(run),
        *best_of_findings(results),
        *_claims(results.whole),
        *_sensitivity(results.whole, run.info.facts.meaning),
        *_agreement(results),
        *_challenge(results),
        *judge_findings(results.whole),
    ]


def _claims(results: Results) -> Iterator[Finding]:
    """Per scorer: do claims inside the translation or its source raise the score?"""
    rows = [row for row in results.known("delta") if _claims_something(row["perturbation"])]
    for pair, scorer in distinct(rows, "language_pair", "scorer"):
        mine = [row for row in rows if (row["language_pair"], row["scorer"]) == (pair, scorer)]
        numbers = sorted(map(Number.of, mine), key=lambda one: -one.known)
        yield Finding(
            what="believes_claims",
            weight="answer",
            who=scorer,
            language_pair=pair,
            numbers=tuple(numbers),
            facts={"digits": min(3, results.digits(scorer))},
        )


def _claims_something(perturbation: str | None) -> bool:
    card = known_card(perturbation or "")
    return card is not None and card.family == "injection" and card.side == "translation"


def _sensitivity(results: Results, meaning: dict[str, str]) -> Iterator[Finding]:
    rows = [row for row in results.known("delta") if not _claims_something(row["perturbation"])]
    for pair in values(rows, "language_pair"):
        here = [row for row in rows if row["language_pair"] == pair]
        for scorer in values(here, "scorer"):
            mine = [row for row in here if row["scorer"] == scorer]
            harmless = [row for row in mine if meaning.get(row["perturbation"], "preserving") == "preserving"]
            yield Finding(
                what="harmless_moves",
                weight="answer",
                who=scorer,
                language_pair=pair,
                numbers=tuple(map(Number.of, harmless)),
                test=_decisive(harmless),
                facts={"digits": min(3, results.digits(scorer))},
            )
            yield from _wrong_order(results, pair, scorer)


def _decisive(rows: list[Row]) -> Number | None:
    """The row whose test is spoken of: the largest significant move, or any other where none is."""
    numbers = [Number.of(row) for row in rows]
    ranked = sorted(numbers, key=lambda number: (number.significant, number.tested, abs(number.known)))
    return ranked[-1] if ranked else None


def _wrong_order(results: Results, pair: str | None, scorer: str) -> Iterator[Finding]:
    """Harmless changes that cost more than harmful ones, and harmful ones that raise the score: not the same fault."""
    for what in ("harmless_costs_more", "rewards_harmful"):
        rows = [row for row in results.known(what, language_pair=pair, scorer=scorer) if row["value"]]
        if rows:
            yield Finding.on(what, max(rows, key=lambda row: float(row["value"])))


def _agreement(results: Results) -> Iterator[Finding]:
    """Per perturbation: whose agreement with people falls most over its levels, and whose least."""
    measure = next((name for name in STATISTICS if results.known(name)), None)
    if measure is None:
        return
    rows = [row for row in results.known(measure) if row["level"] is not None]
    pairs = values(rows, "language_pair")
    pair = "average" if "average" in pairs else pairs[0] if pairs else None
    rows = [row for row in rows if row["language_pair"] == pair]
    for perturbation in values(rows, "perturbation"):
        falls = _falls([row for row in rows if row["perturbation"] == perturbation])
        if falls:
            ends = [falls[0], falls[-1]] if len(falls) > 1 else falls
            both = [row for fall in ends for row in fall]
            yield Finding.on("agreement_falls", *both, weight="answer", level=falls[0][1]["level"])


def _falls(rows: list[Row]) -> list[tuple[Row, Row]]:
    """Per scorer its agreement at the lowest and at the highest level, the largest loss first."""
    falls = []
    for scorer in values(rows, "scorer"):
        mine = sorted((row for row in rows if row["scorer"] == scorer), key=lambda row: float(row["level"]))
        if len(mine) > 1:
            falls.append((mine[0], mine[-1]))
    return sorted(falls, key=lambda fall: float(fall[1]["value"] - fall[0]["value"]))


def _challenge(results: Results) -> Iterator[Finding]:
    rows = results.known("detection_accuracy")
    for scorer in values(rows, "scorer"):
        mine = [row for row in rows if row["scorer"] == scorer]
        overall = [row for row in mine if row["perturbation"] is None and row["group"] is None]
        phenomena = [row for row in mine if row["perturbation"] is not None]
        weakest = [min(phenomena, key=lambda row: float(row["value"]))] if phenomena else []
        numbers = tuple(map(Number.of, (*overall, *weakest)))
        yield Finding(what="detects_errors", weight="answer", who=scorer, numbers=numbers)
