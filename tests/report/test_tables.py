from pathlib import Path
from typing import Any

import pytest

import babelquake as bq
from babelquake.cli.printing import fitting, natural_width
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.report.pages import tables
from babelquake.report.table import Table
from babelquake.runs.measures import Measure, measures_frame
from babelquake.runs.run import Run
from babelquake.studies.kinds import agreement
from babelquake.studies.kinds import metric as kinds

from .conftest import new, old, rated


def titled(run: Run, title: str) -> Table:
    return next(table for table in tables(run) if table.title.startswith(title))


def test_every_row_is_as_wide_as_its_header(runs: dict[str, Run]) -> None:
    for run in runs.values():
        assert tables(run)
        for table in tables(run):
            assert table.rows
            assert {len(row) for row in table.rows} == {len(table.columns)}


def test_tables_name_perturbations_as_people_do(runs: dict[str, Run]) -> None:
    typed = {str(name) for run in runs.values() for name in run.measures["perturbation"].drop_nulls()} - {"articles"}
    cells = [row[0] for table in tables(runs["mt"]) for row in table.rows]
    assert "typos (20 % of words)" in cells and not typed & set(cells)


def test_attacks_that_count_differently_name_their_units_row_by_row(tmp_path: Path) -> None:
    found = [
        Measure(agreement.KENDALL_LIKE, 0.3, 20, scorer="chrf", perturbation=name, level=0.1, language_pair="de-en")
        for name in ("visual", "intrude")
    ]
    run = Run.resume(tmp_path / "run", "metric", {}).finish(measures_frame(found))
    assert [row[0] for row in titled(run, "Agreement").rows] == [
        "letters with odd marks (probability per letter)",
        "punctuation inside words (share of words; in them, probability per gap)",
    ]


def test_the_first_question_is_answered_first(runs: dict[str, Run]) -> None:
    first = tables(runs["mt"])[0]
    assert first.title == "Overall" and {row[1] for row in first.rows} == {"old", "new"}


def test_lines_compare_systems_within_each_perturbation(runs: dict[str, Run]) -> None:
    table = titled(runs["mt"], "BLEU")
    assert [row[:2] for row in table.rows[:2]] == [("typos (20 % of words)", "old"), ("typos (20 % of words)", "new")]
    delta = table.columns.index("Δ")
    assert table.rows[0][delta].endswith("*") and not table.rows[1][delta].endswith("*")


def test_how_many_texts_were_changed_is_shown(runs: dict[str, Run]) -> None:
    for name, title in (("mt", "chrF"), ("metric", "Sensitivity")):
        table = titled(runs[name], title)
        n, changed = (table.columns.index(column) for column in ("n", "changed"))
        assert all(0 < int(row[changed]) <= int(row[n]) for row in table.rows)
        assert any(int(row[changed]) < int(row[n]) for row in table.rows)


def test_stars_are_explained_by_what_was_done(runs: dict[str, Run]) -> None:
    for name, title in (("mt", "chrF"), ("metric", "Sensitivity"), ("qe", "Drop")):
        note = titled(runs[name], title).note
        assert "step-down max-T within" in note and "Holm" not in note


def test_sensitivity_names_meaning(runs: dict[str, Run]) -> None:
    lines = titled(runs["metric"], "Sensitivity").rows
    assert {line[1:3] for line in lines} >= {
        ("final full stop missing", "preserving"),
        ("negation removed", "altering"),
    }


def test_harmless_changes_are_listed_worst_first(runs: dict[str, Run]) -> None:
    shares = [float(line[3]) for line in titled(runs["metric"], "Harmless").rows]
    assert shares == sorted(shares, reverse=True)


def test_harmless_changes_of_several_levels_stay_apart(tmp_path: Path) -> None:
    rows = [
        Measure(kinds.HARMLESS_COSTS_MORE, 100 * level, n=5, scorer="chrf", perturbation="misspell", level=level)
        for level in (0.1, 0.2)
    ]
    run = Run.resume(tmp_path / "r", "metric", {}).finish(measures_frame(rows))
    assert [line[2:4] for line in titled(run, "Harmless").rows] == [
        ("typos (20 % of words)", "20.0"),
        ("typos (10 % of words)", "10.0"),
    ]


def test_agreement_has_noise_levels_across_and_names_their_unit(runs: dict[str, Run]) -> None:
    table = titled(runs["agreement"], "Agreement with humans: Pearson")
    assert table.columns == ("perturbation", "scorer", "0", "0.1", "0.3")
    assert [row[:2] for row in table.rows] == [("letters with odd marks", "chrf"), ("letters with odd marks", "bleu")]
    assert table.note.startswith("Level: ")


def test_challenge_sets_show_phenomena_and_severities(runs: dict[str, Run]) -> None:
    lines = titled(runs["challenge"], "Detection").rows
    assert [line[:2] for line in lines[:2]] == [("all", "12"), ("articles", "4")]
    assert ("severity: minor", "6") in [line[:2] for line in lines]


def test_models_are_ranked_as_in_kanojias_table_4(runs: dict[str, Run]) -> None:
    table = titled(runs["qe"], "Quality estimation")
    assert [row[0] for row in table.rows] == ["chrf", "bleu", "ter"]
    place = table.columns.index("MPP − MAP")
    assert all(row[place].startswith("+") and row[place].endswith("*") for row in table.rows)
    assert table.columns[-3:] == ("rank", "raw rank", "rank by r")
    assert "MAP is over 7 of 8 meaning-altering probes" in table.note


def test_probes_keep_the_papers_order_and_titles(runs: dict[str, Run]) -> None:
    first = [row[0] for row in titled(runs["qe"], "Drop").rows]
    assert first[0] == "punctuation removed (MPP1)"
    assert first.index("determiners removed (MPP3)") < first.index("negation removed (MAP1)")


def test_flags_are_told(runs: dict[str, Run]) -> None:
    flags = runs["qe"].info.facts.flags
    assert flags and titled(runs["qe"], "Flags").rows[0] == (
        flags[0].scorer,
        "de-en",
        flags[0].perturbation,
        flags[0].text,
    )


def test_an_unknown_study_is_refused(tmp_path: object) -> None:
    run = Run.resume(f"{tmp_path}/r", "astrology", {})
    with pytest.raises(UserError, match="astrology"):
        tables(run)


def test_differences_of_error_rates_are_said_to_be_turned_round(runs: dict[str, Run]) -> None:
    """MPP − MAP of TER is not the number that subtracting the columns gives."""
    plain = Run.open(runs["qe"].folder)
    plain.info.facts.lower_is_better = []
    for title in ("Quality estimation", "Drop"):
        assert "Less is better for ter: differences are turned round there." in titled(runs["qe"], title).note
        assert "turned round" not in titled(plain, title).note


@pytest.mark.slow
@pytest.mark.parametrize("study", ["correlate", "qe", "metric", "mt"])
def test_tables_fit_into_eighty_columns_with_names_that_can_be_read(study: str, tmp_path: Path) -> None:
    """A column of names keeps 22 characters; what goes for it is named."""
    scorers = ["chrf[name=embedding-similarity-large]", "bleu[name=another-scorer-of-that-length]"]
    options: dict[str, Any] = {"out": tmp_path, "resamples": 200, "engine": Engine(quiet=True)}
    data, suite = rated(12), "punct-remove,word-drop"
    run = {
        "correlate": lambda: bq.correlate(scorers=scorers, data=data, **options),
        "qe": lambda: bq.qe(scorers=scorers, data=data, suite=suite, replicates=1, **options),
        "metric": lambda: bq.metric(scorers=scorers, data=data, suite=suite, **options),
        "mt": lambda: bq.mt(systems=[old, new], data=data, suite=suite, scorers=scorers, **options),
    }[study]()
    assert all(natural_width(fitting(table, 80)[0]) <= 80 for table in tables(run))


def test_parts_of_the_data_are_shown_where_systems_are_weak(tmp_path: Path) -> None:
    rows = [
        ("Ein Satz.", "ein saz", "A sentence.", "A sentence.", "a sa", "even"),
        ("Zwei.", "zwo", "Two.", "Two.", "Two.", "odd"),
    ]
    names = ("source", "perturbed", "reference", "translation", "translation_perturbed", "domain")
    data = [dict(zip(names, row, strict=True)) | {"system": system} for row in rows for system in ("S", "T")]
    run = bq.mt(data=data, by="domain", scorers="chrf", out=tmp_path / "r", resamples=400)
    parts: list[Table] = []
    others: list[Table] = []
    for table in tables(run):
        (parts if table.title.startswith("By part") else others).append(table)
    assert [line[1] for table in parts for line in table.rows] == ["even", "odd"]
    assert all("even" not in line for table in others for line in table.rows)
