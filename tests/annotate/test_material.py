"""What people are to judge, from runs, tables and data sets."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.annotate.conftest import tuple_rows

from babelquake.annotate.material import read_material
from babelquake.errors import UserError


@pytest.mark.parametrize("ending", ["tsv", "csv", "jsonl", "parquet"])
def test_tables_of_tuples(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"t.{ending}"
    frame = pl.DataFrame(tuple_rows(3))
    if ending == "parquet":
        frame.write_parquet(file)
    elif ending == "jsonl":
        file.write_text("".join(json.dumps(row) + "\n" for row in frame.to_dicts()))
    else:
        frame.write_csv(file, separator="\t" if ending == "tsv" else ",")
    found = read_material(file)
    assert [one.id for one in found] == ["t0", "t1", "t2"]
    assert found[0].texts["perturbed"].split()[3] == "purple"
    assert found[1].groups == {"victim": "bleurt", "recipe": "clare", "system": "sys1", "year": "2012"}


def test_a_run_folder_with_what_an_attack_found(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    rows = [{**row, "success": number != 1, "edits": "[" * 90} for number, row in enumerate(tuple_rows(3))]
    pl.DataFrame(rows).write_parquet(run / "perturbations.parquet")
    pl.DataFrame({"id": ["a"]}).write_parquet(run / "measures.parquet")
    found = read_material(run)
    assert [one.id for one in found] == ["t0", "t2"], "only what succeeded"
    assert set(found[0].groups) == {"victim", "recipe", "system", "year"}


def test_a_run_folder_may_be_called_anything(tmp_path: Path) -> None:
    run = tmp_path / "runs[by=1]"
    run.mkdir()
    (run / "run.json").write_text("{}")
    pl.DataFrame(tuple_rows(3)).write_parquet(run / "attacks.parquet")
    assert len(read_material(run)) == 3


def test_sources_under_attack_are_no_translations_to_rate(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text("{}")
    pl.DataFrame([{**row, "goal": "collapse"} for row in tuple_rows(3)]).write_parquet(tmp_path / "attacks.parquet")
    with pytest.raises(UserError, match="no translations to rate"):
        read_material(tmp_path)


def test_one_translation_attacked_twice_is_two_tuples(tmp_path: Path) -> None:
    rows = tuple_rows(2)
    rows[1]["id"] = rows[0]["id"]
    pl.DataFrame(rows).write_csv(tmp_path / "t.tsv", separator="\t")
    assert [one.id for one in read_material(tmp_path / "t.tsv")] == ["t0", "t0/2"]


def test_data_sets_are_judged_one_by_one_or_in_pairs(tmp_path: Path) -> None:
    lines = ["id\tsource\treference\ttranslation\tsystem"]
    lines += [f"{n}\tQuelle {n}\tref {n}\t{system} says {n}\t{system}" for n in (1, 2) for system in "ABC"]
    file = tmp_path / "d.tsv"
    file.write_text("\n".join(lines) + "\n")
    singles = read_material(file)
    assert len(singles) == 6
    assert (singles[0].segment, singles[0].systems) == ("1", {"translation": "A"})
    assert len({one.id for one in singles}) == 6
    pairs = read_material(file, gather="two")
    assert len(pairs) == 6
    assert pairs[0].texts == {"A": "A says 1", "B": "B says 1"}


def test_what_is_no_material(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "run.json").write_text("{}")
    with pytest.raises(UserError, match="not an attack run"):
        read_material(run)
    (tmp_path / "d.tsv").write_text("source\treference\na\tb\n")
    with pytest.raises(UserError, match="no translations"):
        read_material(tmp_path / "d.tsv")
    (tmp_path / "broken.tsv").write_text("original\tperturbed\na\n")
    with pytest.raises(UserError, match="line 2"):
        read_material(tmp_path / "broken.tsv")


def test_columns_and_several_files_are_rated_as_one(tmp_path: Path) -> None:
    for number in (1, 2):
        text = f"Source\tFirst\tSecond\nsatz {number}\ta {number}\tb {number}\n"
        (tmp_path / f"{number}.tsv").write_text(text, "utf-8")
    columns = {"source": "Source", "translation:A": "First", "translation:B": "Second"}
    found = read_material([tmp_path / "1.tsv", tmp_path / "2.tsv"], columns=columns)
    assert [(one.systems["translation"], one.texts["translation"]) for one in found] == [
        ("A", "a 1"),
        ("B", "b 1"),
        ("A", "a 2"),
        ("B", "b 2"),
    ]
