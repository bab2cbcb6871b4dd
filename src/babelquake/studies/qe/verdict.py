"""What a run of `qe` found: which model tells harmful from harmless changes, and what each does not see."""

from collections.abc import Iterator

from babelquake.runs.findings import Finding, Number
from babelquake.runs.info import Flag
from babelquake.runs.results import Results, values
from babelquake.runs.run import Run
from babelquake.studies.judge_reliability import judge_findings
from babelquake.studies.pitfalls import pitfall_findings


def qe_findings(run: Run) -> list[Finding]:
    """Per language pair: the best and the worst model, agreement of rankings; then the warnings."""
    results = Results.of(run).whole
    found: list[Finding] = [*pitfall_findings(run)]
    for pair in values(results.where("discrimination", "drop"), "language_pair"):
        found += _models(results, pair)
        for row in results.known("rank_agreement", language_pair=pair):
            number = Number.of(row)
            found.append(Finding(what="ranks_agree", language_pair=pair, numbers=(number,), test=number))
    return [*found, *judge_findings(results), *_warnings(run.info.facts.flags)]


def _models(results: Results, pair: str | None) -> Iterator[Finding]:
    rows = results.known("discrimination", language_pair=pair)
    if len(rows) == 1:
        number = Number.of(rows[0])
        yield Finding(
            what="discriminates",
            weight="answer",
            who=number.scorer,
            language_pair=pair,
            numbers=(number,),
            test=number,
            facts={"digits": min(3, results.digits(number.scorer))},
        )
    rows = results.known("discrimination_standardised", language_pair=pair)
    if len(rows) > 1:
        rows.sort(key=lambda row: -float(row["value"]))
        ends = rows[0]["scorer"], rows[-1]["scorer"]
        test = results.between("discrimination_standardised", "scorer", *ends, language_pair=pair)
        yield Finding(
            what="discriminates_best",
            weight="answer",
            who=ends[0],
            language_pair=pair,
            numbers=tuple(map(Number.of, rows)),
            test=Number.of(test) if test else None,
        )


def _warnings(flags: list[Flag]) -> Iterator[Finding]:
    """How many warnings the study gave each model, and the first of them."""
    for scorer in dict.fromkeys(flag.scorer for flag in flags):
        texts = [flag.text for flag in flags if flag.scorer == scorer]
        yield Finding(what="warnings", who=scorer, facts={"count": len(texts), "first": texts[0]})
