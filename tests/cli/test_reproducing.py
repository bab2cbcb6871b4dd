"""`babelquake reproduce` and `babelquake list papers`."""

import json
from collections.abc import Callable
from pathlib import Path

from typer.testing import Result


def test_a_paper_without_a_table_lists_what_it_has(cli: Callable[..., Result]) -> None:
    rows = json.loads(cli("reproduce", "kanojia2021", "--json").stdout)
    assert [row["table"] for row in rows] == ["table1", "table4", "table5", *(f"figure{n}" for n in range(1, 7))]
    assert {row["paper"] for row in json.loads(cli("list", "papers", "--json").stdout)} >= {"niu2020", "vu2022"}


def test_what_is_needed_is_said(cli: Callable[..., Result]) -> None:
    told = cli("reproduce", "kanojia2021", "table1", status=2).stderr
    assert "--data FOLDER" in told and "MLQE-PE" in told
    nowhere = cli("reproduce", "kanojia2021", "table1", "--data", "nowhere", status=2).stderr
    assert "nowhere does not exist. kanojia2021 table1 needs the MLQE-PE data: Ru-En (dev.ruen.df.short.tsv" in nowhere
    told = cli("reproduce", "kanojia2021", "table1", "--data", ".", status=2).stderr
    assert f"{Path().resolve().name} has no files for: Ru-En (dev.ruen.df.short.tsv" in told


def test_a_table_of_which_nothing_runs_here_says_what_it_needs(cli: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "rated.de-en.tsv").write_text(
        "source\treference\ttranslation\tsystem\tscore\nJa.\tYes.\tYes.\tA\t90\nJa.\tYes.\tNo.\tB\t10\n"
    )
    told = cli("reproduce", "vu2022", "table4", "--data", "data/rated.de-en.tsv", "--resamples", "100", status=2).stderr
    assert "BERT-multi was not run: it needs bert-base-multilingual-cased" in told and "--judge" in told


def test_finished_runs_or_data_but_not_both(cli: Callable[..., Result]) -> None:
    told = cli("reproduce", "vu2022", "table9", "--data", "x", "--from", "lt-en=y", status=2).stderr
    assert "only one of them" in told
    assert "y is not a run folder" in cli("reproduce", "vu2022", "table9", "--from", "lt-en=y", status=2).stderr
