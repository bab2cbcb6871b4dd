import pytest

from babelquake.errors import UserError
from babelquake.report.examples import example_table, examples, with_texts
from babelquake.runs.run import Run


def test_translation_examples_hold_both_translations(runs: dict[str, Run]) -> None:
    table = examples(runs["mt"]).collect()
    assert table.height == 4 * 2 * 3
    row = table.filter(system="old", row=0, perturbation="case").to_dicts()[0]
    assert (row["original"], row["text"]) == ("Das Haus ist alt.", "Das Haus ist alt. case?")
    assert (row["before"], row["after"], row["drop"]) == ("The house is old.", "old The house is old.", 3.0)


@pytest.mark.parametrize("study", ["metric", "qe"])
def test_judged_examples_hold_both_scores(runs: dict[str, Run], study: str) -> None:
    table = with_texts(runs[study], examples(runs[study]).collect())
    row = table.filter(row=1, perturbation="negation-remove").to_dicts()[0]
    assert (row["original"], row["text"]) == ("We go home.", "We go home. negation-remove")
    assert (row["before"], row["after"], row["drop"]) == (90.0, 79.0, 11.0)
    assert table["before"].null_count() == table["text"].null_count() == 0


def test_challenge_examples_come_from_the_data(runs: dict[str, Run]) -> None:
    row = examples(runs["challenge"]).collect().to_dicts()[0]
    assert (row["original"], row["text"], row["drop"]) == ("The house is old.", "A house is old.", 5.0)


def test_the_worst_come_first(runs: dict[str, Run]) -> None:
    table = example_table(runs["mt"], 3)
    drops = [float(row[table.columns.index("drop")]) for row in table.rows]
    assert drops == sorted(drops, reverse=True)


def test_an_unknown_order_is_refused(runs: dict[str, Run]) -> None:
    with pytest.raises(UserError, match="expected drop or row"):
        example_table(runs["mt"], 3, "beauty")


@pytest.mark.parametrize("kind", ["metric", "challenge"])
def test_more_errors_are_damage(runs: dict[str, Run], kind: str) -> None:
    run = Run(runs[kind].folder, runs[kind].info.model_copy(deep=True))
    gained = examples(run).collect().filter(scorer="chrf")["drop"]
    run.info.facts.lower_is_better = ["chrf"]
    assert examples(run).collect().filter(scorer="chrf")["drop"].to_list() == (-gained).to_list()
