"""What is still to be sent, by hand: two language pairs, one perturbation that drops the final mark."""

from pathlib import Path
from typing import Any

import pytest

from babelquake.data import Dataset, read
from babelquake.engine import Cache, Engine
from babelquake.errors import UserError
from babelquake.perturb.suite import suite
from babelquake.studies import plans
from babelquake.studies.forecast import Forecast, Unasked
from babelquake.studies.mt.study import mt
from babelquake.systems import system


@pytest.fixture
def two_pairs(tmp_path: Path) -> Dataset:
    """ "Ja." in German, "Nein." in Dutch twice and once blank: 3 + 2 and 5 + 4 characters, clean and without mark."""
    rows = ["source\treference\tlp", "Ja.\tYes.\tde-en", "Nee.\tNo.\tnl-en", "Nee.\tNo.\tnl-en", "\t\tnl-en"]
    (tmp_path / "two.tsv").write_text("\n".join(rows) + "\n")
    return read(str(tmp_path / "two.tsv"))


def test_every_pair_counts_its_own_texts(two_pairs: Dataset, faraway: Any) -> None:
    found = plans.mt(
        systems=["faraway"], data=two_pairs, suite=suite("final-delete"), engine=Engine(quiet=True)
    ).forecast()
    assert (found.segments, found.texts) == (4, 4)
    assert found.systems == (
        Unasked("faraway", "de-en", True, 2, 5, 5 / 1e6 * 20, None),
        Unasked("faraway", "nl-en", True, 2, 7, 7 / 1e6 * 20, None),
    )
    assert not faraway.sent


def test_what_a_defence_asks_a_model_is_counted_beside_what_the_system_is_asked(faraway: Any, tmp_path: Path) -> None:
    (tmp_path / "one.tsv").write_text("source\treference\tlp\nJa.\tYes.\tde-en\n")
    chain = "llm[model=m,base_url=http://127.0.0.1:9/v1,price_in=1]"
    planned = plans.mt(
        systems=["faraway"],
        data=read(str(tmp_path / "one.tsv")),
        defences=["none", chain],
        suite="final-delete",
        engine=Engine(),
    )
    system_itself, model = planned.forecast().systems
    assert (system_itself.name, system_itself.texts, system_itself.tokens) == ("faraway", 2, None)
    assert model.name.startswith("llm[")
    assert model.texts == 2
    assert model.tokens and model.dollars
    assert model.dollars < model.tokens / 1e6
    assert any("about $0.00" in line and "e-" not in line for line in str(planned.forecast()).splitlines())


def test_a_system_that_does_not_know_languages_gets_a_shared_text_once(tmp_path: Path) -> None:
    rows = ["source\treference\tlp", "Ja.\tYes.\tde-en", "Ja.\tYes.\tnl-en"]
    (tmp_path / "two.tsv").write_text("\n".join(rows) + "\n")
    data = read(str(tmp_path / "two.tsv"))
    found = plans.mt(systems="command[cmd=cat]", data=data, suite="final-delete", engine=Engine()).forecast()
    assert [row.texts for row in found.systems] == [2, 0]


def test_what_is_not_sampled_is_not_counted_and_no_budget_is_needed_for_it(faraway: Any, tmp_path: Path) -> None:
    rows = ["source\treference\tlp", *(f"Ja {row}.\tYes {row}.\tde-en" for row in range(9))]
    (tmp_path / "nine.tsv").write_text("\n".join(rows) + "\n")
    nine, engine = read(str(tmp_path / "nine.tsv")), Engine(quiet=True)
    planned = plans.mt(systems=["faraway"], data=nine, suite=suite("final-delete"), full_stops=2, engine=engine)
    found = planned.forecast()
    assert found.texts == 9 + 2 and found.systems[0].characters == 9 * 5 + 2 * 4
    assert planned.export(tmp_path / "out")[1] == 9 + 2
    how: dict[str, Any] = {"full_stops": 2, "resamples": 100, "engine": Engine(quiet=True, budget=9 * 5 + 2 * 4)}
    mt(
        systems=["faraway"],
        data=nine,
        suite="final-delete",
        scorers=["chrf"],
        out=tmp_path / "run",
        **how,
    )
    assert len(faraway.sent) == 9 + 2


def test_what_is_in_the_cache_was_sent(two_pairs: Dataset, faraway: Any, tmp_path: Path) -> None:
    engine = Engine(Cache(tmp_path / "cache.sqlite"), quiet=True)
    engine.translate(system("faraway", "nl-en"), ["Nee."])
    planned = plans.mt(systems=["faraway"], data=two_pairs, suite=suite("final-delete"), engine=engine)
    found = planned.forecast()
    assert [(row.texts, row.characters) for row in found.systems] == [(2, 5), (1, 3)]
    mt(
        systems=["faraway"],
        data=two_pairs,
        suite="final-delete",
        scorers=["chrf"],
        out=tmp_path / "run",
        resamples=100,
        engine=engine,
    )
    assert planned.forecast().systems[1].texts == 0
    assert sum(map(len, faraway.sent)) == 4 + 5 + 3


def expected(*rows: tuple[str, bool, int, float | None]) -> Forecast:
    systems = tuple(Unasked(name, "de-en", remote, 1, size, cost, None) for name, remote, size, cost in rows)
    return Forecast(1, 1, 0, 1, systems, ())


def test_a_budget_counts_remote_systems_alone() -> None:
    expected(("far", True, 10, 1.0), ("near", False, 1000, None)).keep_within(10)
    expected(("near", False, 1000, None)).keep_within(0)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("far", True, 1234, 2.5)], r"1,234 characters .*\(far de-en 1,234\), about \$2.50; budget allows 1,000"),
        ([("far", True, 600, 2.5), ("farther", True, 600, 1.0)], r"1,200 characters .* about \$3.50;"),
        ([("far", True, 600, 2.5), ("odd", True, 600, None)], r"about \$2.50 and what those without a list price"),
        ([("odd", True, 2000, None)], "at an unknown price"),
    ],
)
def test_a_budget_that_is_passed_names_the_numbers(rows: list[Any], message: str) -> None:
    with pytest.raises(UserError, match=message):
        expected(*rows).keep_within(1000)


def test_a_run_that_has_its_translations_sends_nothing(two_pairs: Dataset, faraway: Any, tmp_path: Path) -> None:
    given: dict[str, Any] = {"systems": ["faraway"], "data": two_pairs, "suite": "final-delete", "scorers": ["chrf"]}
    given |= {"out": tmp_path / "run", "resamples": 100, "cache": "none", "quiet": True}
    with pytest.raises(UserError, match="Nothing was sent"):
        mt(**given, budget=1)
    assert not faraway.sent
    mt(**given, budget=100)
    sent = len(faraway.sent)
    mt(**given, budget=0)
    assert len(faraway.sent) == sent == 4


def test_time_is_known_once_a_system_was_asked(two_pairs: Dataset, faraway: Any, tmp_path: Path) -> None:
    engine = Engine(Cache(tmp_path / "cache.sqlite"), quiet=True)
    planned = plans.mt(systems=["faraway"], data=two_pairs, suite="final-delete", scorers="chrf", engine=engine)
    assert planned.forecast().seconds is None
    engine.translate(system("faraway", "de-en"), [f"Satz {row}." for row in range(20)])
    again = planned.forecast().systems
    assert again[0].seconds is not None and again[0].seconds > 0 and again[1].seconds is None


def test_every_study_tells_what_it_would_ask_and_asks_nothing(two_pairs: Dataset) -> None:
    rated = read("sample:rated").first(20)
    planned = {
        "mt": plans.mt(systems="command[cmd=cat]", data=two_pairs),
        "metric": plans.metric(scorers="chrf", data=rated, side="source"),
        "qe": plans.qe(scorers="chrf", data=rated, threshold=0, masked_lm="none"),
        "correlate": plans.correlate(scorers="chrf", data=rated),
        "attack": plans.attack(recipes="deepwordbug", victims="chrf", data=rated, constraints="none", max_queries=9),
    }
    found = {name: plan.forecast() for name, plan in planned.items()}
    assert all(some.segments and some.texts for some in found.values())
    assert found["qe"].variants > found["qe"].selected and found["correlate"].variants == 0
    assert found["attack"].searches == len(rated) and found["attack"].most_questions == 9 * len(rated)


def test_full_stops_are_not_taken_for_a_sample_of_everything(faraway: Any) -> None:
    with pytest.raises(UserError, match=r"full_stops.*limit"):
        plans.mt(systems=["faraway"], data=read("sample"), suite=suite("case"), full_stops=2).forecast()
