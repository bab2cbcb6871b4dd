"""`babelquake reproduce` and `babelquake list papers`."""

import json
from collections.abc import Callable

from typer.testing import Result


def test_a_paper_without_a_table_lists_what_it_has(cli: Callable[..., Result]) -> None:
    rows = json.loads(cli("reproduce", "kanojia2021", "--json").stdout)
    assert [row["table"] for row in rows] == ["table1", "table4", "table5", *(f"figure{n}" for n in range(1, 7))]
    assert {row["paper"] for row in json.loads(cli("list", "papers", "--json").stdout)} >= {"niu2020", "vu2022"}


def test_what_is_needed_is_said(cli: Callable[..., Result]) -> None:
    told = cli("reproduce", "kanojia2021", "table1", status=2).stderr
    assert "give --data FOLDER" in told and "MLQE-PE" in told
    assert (
        "nowhere has no files for: Ru-En (dev.ruen.df.short.tsv"
        in cli("reproduce", "kanojia2021", "table1", "--data", "nowhere", status=2).stderr
    )
