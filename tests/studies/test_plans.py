"""Every study has a plan that is made, forecast and carried out from Python."""

import inspect

import polars as pl

import babelquake as bq
from babelquake.studies.card import STUDIES, function_of

PAIR = {"language_pair": "de-en"}


def test_every_study_has_a_plan_with_the_arguments_of_the_study() -> None:
    for name in STUDIES.names():
        planned, done = getattr(bq.plan, name), function_of(name)
        assert inspect.signature(planned).parameters == inspect.signature(done).parameters


def test_ratings_are_planned_counted_and_analysed() -> None:
    ratings = pl.DataFrame(
        {
            "annotator": ["a", "a", "b", "b"] * 3,
            "system": ["A", "B"] * 6,
            "segment": [str(number // 4) for number in range(12)],
            "score": [50, 60, 70, 40, 30, 80, 50, 60, 40, 90, 30, 20],
        }
    )
    plan = bq.plan.human(data=ratings)
    found = plan.forecast()
    assert (found.segments, found.scorers[0].texts, found.scorers[0].what) == (3, 12, "ratings")
    assert found.seconds is not None
    assert plan.run().info.study == "human"


def test_translations_to_check_are_planned_counted_and_checked() -> None:
    data = pl.DataFrame({"source": ["Ja.", "Nein."], "translation": ["Yes.", "Nein."]})
    plan = bq.plan.check(data=data, encoder="none", quiet=True, **PAIR)
    assert plan.forecast().scorers[0].texts == 2
    assert plan.run().info.study == "check"


def test_hypotheses_of_a_challenge_set_are_planned_counted_and_judged() -> None:
    columns = {"id": ["1", "1"], "source": ["Ja.", "Ja."], "translation": ["Yes.", "No."], "reference": ["Yes."] * 2}
    data = pl.DataFrame({**columns, "system": ["hyp-1", "hyp-2"]})
    plan = bq.plan.challenge(data=data, scorers="chrf", quiet=True, **PAIR)
    assert [(one.name, one.texts) for one in plan.forecast().scorers] == [("chrf", 2)]
    accuracy = plan.run(resamples=100).measures.filter(measure="outranks_all")
    assert accuracy["value"].to_list() == [100.0]
