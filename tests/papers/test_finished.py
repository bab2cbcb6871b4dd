"""Cells of a published table from runs that were made before."""

from pathlib import Path

import pytest

import babelquake as bq
from babelquake.errors import UserError
from babelquake.papers import reproduce
from babelquake.papers.reproducing import notes_of
from babelquake.report.papers import reproduction_table

TEXT = "source\treference\n" + "".join(f"Satz {row} ohne Punkt\tSentence {row}\n" for row in range(30))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run in a folder whose name has brackets and an equals sign."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "de-en.tsv").write_text(TEXT, "utf-8")
    bq.metric(
        scorers=["bleu", "chrf"],
        data=folder / "de-en.tsv",
        suite="final-insert[mark=stop|random]",
        side="source",
        out=folder / "run[model=a]",
        resamples=100,
    )
    return folder / "run[model=a]"


def test_a_finished_run_serves_as_if_it_had_been_made_for_the_table(made: Path, tmp_path: Path) -> None:
    found = reproduce("jwalapuram2023", "table2", out=tmp_path, runs=[f"De={made}"])
    cells = {(cell.row, cell.column): cell for cell in found.cells}
    delta = bq.Run.open(made).measures.filter(measure="delta", scorer="bleu", perturbation="final-insert[mark=stop]")
    assert cells["De + full stop", "BLEU"].measured == delta["value"][0]
    assert cells["De + question", "BLEU"].otherwise == "no such number was measured"
    assert cells["Ja + full stop", "BLEU"].otherwise == "Ja was not run"
    assert cells["De + full stop", "BLEU"].n == 30
    assert found.notes[-3:] == (
        "Not measured: De + exclamation, De + question.",
        "Taken from finished runs.",
        "No run was given for: Ja, Uk, En.",
    )
    assert found.runs == {"De": made}


def test_runs_that_answer_another_question_are_refused(made: Path, tmp_path: Path) -> None:
    for table, given, told in (
        ("table2", [str(made)], "expected RUN=FOLDER, .* De, Ja, Uk, En"),
        ("table5", [f"De-En={made}"], "is a run of 'metric'; this table needs one of 'mt'"),
        ("table2", [f"De={tmp_path}"], "not a run folder"),
    ):
        with pytest.raises(UserError, match=told):
            reproduce("jwalapuram2023", table, out=tmp_path, runs=given)
    with pytest.raises(UserError, match=r"made with .*side.*source.*needs reference"):
        reproduce("vu2022", "table9", out=tmp_path, runs=[f"lt-en={made}"])


def test_how_little_a_run_saw_is_said(tmp_path: Path) -> None:
    rows = [f"Satz {row}\tIt is {row} o'clock in the old town now\tIt was {row}\t2017" for row in range(12)]
    (tmp_path / "tuples.tsv").write_text("\n".join(["source\treference\ttranslation\tyear", *rows]) + "\n", "utf-8")
    bq.attack(
        recipes="input-reduction",
        victims="chrf",
        data=tmp_path / "tuples.tsv",
        constraints=[],
        by="year",
        sample=5,
        out=tmp_path / "attack",
    )
    judges = {"BERTScore": "chrf"}
    found = reproduce("huang2023", "figure3", out=tmp_path, runs=[str(tmp_path / "attack")], judges=judges)
    assert "Not measured: top 500 disagreement." in found.notes
    shown = reproduction_table(found)
    assert "top 500" not in str(shown.rows)
    rows = [dict(zip(shown.columns, row, strict=True)) for row in shown.rows]
    assert {row["n"] for row in rows} == {"5"} and {row["measured"] for row in rows} == {""}
    assert "fewer than 20 segments" in shown.note
    with pytest.raises(UserError, match=r"made with .*goal.*overpenalise"):
        reproduce("huang2023", "table2", out=tmp_path, runs=[str(tmp_path / "attack")], judges=judges)


def test_what_only_some_runs_say_is_said_with_their_names() -> None:
    said = [("Ru", ["all do", "few rows"]), ("Ro", ["all do"]), ("Et", ["few rows", "all do"])]
    assert notes_of(said) == ["all do", "Ru, Et: few rows"]
    assert notes_of([("all", ["one"]), ("all", ["two"])]) == ["one", "two"]
