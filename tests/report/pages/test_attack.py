"""The page of an attack run: verdict, tables, transfer heat map, marked edits."""

import json
from pathlib import Path

import polars as pl
import pytest

from babelquake.cli.printing import natural_width
from babelquake.report.comparison import comparison_page, versus_heat
from babelquake.report.examples import example_table, examples
from babelquake.report.first_screen import worst_examples
from babelquake.report.html import write_html
from babelquake.report.pages import page_of, tables, views
from babelquake.report.pages.attack import edits_text
from babelquake.report.remedies import against_attacks
from babelquake.report.verdict import verdict
from babelquake.runs.run import Run
from babelquake.studies.attack.study import attack
from babelquake.studies.compare import compare

ROWS = [
    ("Das Haus ist alt.", "The old house stands by the river.", "The old house stands near the river.", "wmt12"),
    ("Er kommt.", "He came home late last night again.", "He came home late yesterday night.", "wmt12"),
    ("Sie <b>lacht</b>.", "She laughs about every single joke.", "She laughs about <b>all</b> jokes.", "wmt22"),
    ("Es regnet.", "Rain falls over the northern hills today.", "It rains in the hills today.", "wmt22"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return rated_run(tmp_path_factory.mktemp("attack") / "run")


def rated_run(out: Path, by: str | None = None, unrated: int = 0) -> Run:
    """Two recipes against two victims, with ratings of what was found but for the last few."""
    data = pl.DataFrame(ROWS, schema=["source", "reference", "translation", "year"], orient="row")
    arguments = {"constraints": "none", "resamples": 100, "goal": "overpenalise[by=0.5]", "out": out, "by": by}
    first = attack(recipes=["input-reduction", "deepwordbug"], victims=["chrf", "ter"], data=data, **arguments)
    found = first.table("attacks").filter("success")["tuple"]
    names = found.head(len(found) - unrated).to_list()
    ratings = pl.DataFrame(
        [
            {"tuple": name, "side": side, "z": place / 7 - (side == "perturbed") / 5}
            for place, name in enumerate(names)
            for side in ("original", "perturbed")
        ]
    )
    return attack(
        recipes=["input-reduction", "deepwordbug"], victims=["chrf", "ter"], data=data, ratings=ratings, **arguments
    )


def test_the_verdict_names_the_best_attack_on_every_victim(run: Run) -> None:
    said = verdict(run)
    assert said[0].startswith("Small edits fool chrF in ") and "falls by more than 0.5 standard deviations" in said[0]
    assert "deserve" not in said[0], "people have rated the edits"
    assert said[1].startswith("TER is fooled ") and "chrF" in said[1]
    assert any("of what fools" in sentence for sentence in said)
    assert said[-1].startswith("Whether the metrics go further than people cannot be tested")


def test_combinations_with_enough_ratings_are_counted(tmp_path: Path) -> None:
    run = rated_run(tmp_path / "run", by="language_pair", unrated=2)
    assert "People agree that the metrics go too far in 3 of 3 combinations" in verdict(run)[-1]
    assert verdict(run)[-1].endswith("p < .05); 1 cannot be tested.")
    found = {table.title: table for table in tables(run)}
    assert "Significant in 3 of 3 cells. † cannot be tested: too few texts." in found["Metric and people"].note
    assert [len(found[name].rows) for name in ("Correlation with people", "Metric and people")] == [3, 4]


def test_the_verdict_names_two_recipes_that_do_equally_well(tmp_path: Path) -> None:
    data = pl.DataFrame(ROWS, schema=["source", "reference", "translation", "year"], orient="row")
    recipes = ["input-reduction", "input-reduction[positions=tracked]"]
    run = attack(
        recipes=recipes,
        victims="chrf",
        data=data,
        goal="overpenalise[by=0.01]",
        constraints="none",
        out=tmp_path / "run",
    )
    (said,) = verdict(run)
    assert said.count("100 %") == 2 and "; Input Reduction (positions=tracked) succeeds in 100 %." in said
    assert said.endswith("Read them: some may change the meaning and deserve it."), "nobody has rated the edits"


def test_a_victim_that_withstood_so_many_questions_may_not_withstand_more(tmp_path: Path) -> None:
    data = pl.DataFrame(ROWS, schema=["source", "reference", "translation", "year"], orient="row")
    run = attack(
        recipes="deepwordbug", victims="chrf", data=data, constraints="none", max_queries=2, out=tmp_path / "run"
    )
    said = "chrF withstood DeepWordBug within 2 questions each: no edit of 4 sentences succeeded."
    assert verdict(run) == [said]


def test_tables_state_shares_with_denominators(run: Run) -> None:
    found = {table.title: table for table in tables(run)}
    assert list(found) == [
        "Successful attacks",
        "What it took",
        "Kinds of edits",
        "Most damaging edits",
        "Transfer",
        "Lengths",
        "Metric and people",
    ]
    shares = found["Successful attacks"]
    assert shares.columns == ("victim", "attack", "wmt12 (2)", "wmt22 (2)", "all (4)")
    of_all = shares.rows[0][4]
    share, count = of_all.rstrip(")").split(" (")
    assert float(share) == 100 * int(count) / 4
    assert len(found["Transfer"].rows) == 2 and "/" in found["Transfer"].rows[0][1]
    assert max(map(natural_width, found.values())) <= 80
    assert found["Metric and people"].note.endswith("† cannot be tested: too few texts.")
    assert "as many of each year; p, one-sided" in found["Lengths"].note


def test_the_page_asks_what_was_searched_for(run: Run, tmp_path: Path) -> None:
    assert page_of(run).question(run) is None
    page = tmp_path / "page.html"
    write_html([run], page)
    assert ">Which small edits does this metric punish far too hard?" in page.read_text("utf-8")
    run = Run.open(run.folder)
    assert page_of(run).examples.columns(run, _shown(run))["called"] == "damage"
    run.info.config["goal"] = "inflate[by=1.0]"
    write_html([run], page)
    assert ">Which small edits make this metric score far too high?" in page.read_text("utf-8")
    assert page_of(run).examples.columns(run, _shown(run))["called"] == "gain"


def _shown(run: Run) -> pl.DataFrame:
    return examples(run).collect().with_columns(cell=pl.col("perturbation"))


def test_the_first_screen_shows_the_largest_move_whoever_is_the_victim(run: Run) -> None:
    """Scores of attacks are in standard deviations of the victims already."""
    (largest, *_) = worst_examples(run)
    found = run.table("attacks").filter("success").sort("gain", descending=True)
    assert str(largest["source"]) == found["perturbed"][0]


def test_advice_against_inflation_is_not_to_average(run: Run, tmp_path: Path) -> None:
    """A text for all translations raises the mean too."""
    assert any("single sentences" in advice.title for advice in against_attacks(run))
    data = pl.DataFrame(ROWS, schema=["source", "reference", "translation", "year"], orient="row")
    goal = {"recipes": "reference-words", "goal": "inflate[by=0.1]", "constraints": "none"}
    inflated = attack(victims=["chrf", "ter"], data=data, out=tmp_path / "run", **goal)
    titles = [advice.title for advice in against_attacks(inflated)]
    assert titles[0].startswith("Do not optimise") and not any("single sentences" in title for title in titles)


def test_charts_show_shares_transfer_and_people(run: Run) -> None:
    charts = {chart.name: chart.spec() for view in views(run) for chart in view.charts}
    assert set(charts) == {"attack-success", "attack-transfer", "attack-degradation"}
    assert json.dumps(charts["attack-transfer"]).count('"shown": ') >= 4
    rated = run.table("rated").filter(victim="chrf", recipe="input-reduction", group="wmt12")
    quartiles = [rated["human_drop"].quantile(share, "linear") for share in (0.25, 0.5, 0.75)]
    text = json.dumps(charts["attack-degradation"], ensure_ascii=False)
    middle = {"label": "wmt12 · chrF · Input Reduction", "name": "people"}
    middle |= dict(zip(("value", "low", "high"), (quartiles[1], quartiles[0], quartiles[2]), strict=True))
    assert json.dumps(middle, ensure_ascii=False) in text


def test_edits_read_like_edits() -> None:
    edits = [
        {"kind": "replace", "place": 1, "old": "pot", "new": "casserole"},
        {"kind": "delete", "place": 2, "old": "not", "new": ""},
        {"kind": "insert", "place": 3, "old": "", "new": "good"},
    ]
    assert edits_text(json.dumps(edits)) == "pot → casserole; − not; + good"
    assert edits_text(json.dumps(edits[1:2] * 200)) == "− not; " * 10 + "and 190 more"
    assert edits_text(json.dumps(edits[1:2] * 11)).count("not") == 11


def test_the_page_escapes_texts_and_lists_examples(run: Run, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    write_html([run], page)
    assert "<b>all</b>" not in page.read_text("utf-8")
    assert len(example_table(run, 3).rows) == 3


def test_two_attacks_stand_side_by_side(run: Run) -> None:
    """Their scores are of sentences and victims, not of perturbed texts: there is no table segment by segment."""
    changes = compare(run, run)
    page = comparison_page(run, run, changes)
    assert page.passed and [table.title for table in page.tables] == ["Not significantly different"]
    (heat,) = versus_heat(run, run, changes)
    success = {
        (" ".join(filter(None, [row["perturbation"], row["group"]])), row["scorer"]): row["value"]
        for row in run.measures.filter(measure="success").iter_rows(named=True)
    }
    assert {label for label, _ in heat.rows} == {label for label, _ in success}
    for label, tiles in heat.rows:
        for subject, (old, new, _) in zip(heat.subjects, tiles, strict=True):
            assert float(old.text) == float(new.text) == pytest.approx(success[label, subject], abs=0.05)
    assert {change.measure for change in changes} == {"success"}
