"""Published tables as data, and what is measured beside them."""

import gzip
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from babelquake.errors import UserError
from babelquake.papers import Cell, Reproduction, paper, paper_names, reproduce
from babelquake.papers.paper import MEAN
from babelquake.papers.reproducing import _measure
from babelquake.perturb.suite import suite
from babelquake.report.papers import reproduction_table, write_page
from babelquake.spec import parse
from babelquake.studies.metric import MetricOptions

FIVE = ["huang2023", "jwalapuram2023", "kanojia2021", "niu2020", "vu2022"]


def test_the_five_papers_are_here() -> None:
    assert paper_names() == FIVE


@pytest.mark.parametrize("name", FIVE)
def test_every_cell_belongs_to_a_run_and_a_column(name: str) -> None:
    for table in paper(name).tables.values():
        for row in table.rows.values():
            assert row.run in (MEAN, *table.runs) and len(row.published) == len(table.columns)
            for judges, kind in ((table.scorers, "scorer"), (table.systems, "system")):
                assert row.where.get(kind) is None or row.where[kind] in judges
        for column in table.columns.values():
            assert column.scorer is None or column.scorer in table.scorers
            assert column.system is None or column.system in table.systems
            assert column.tokenizer is None or column.tokenizer in table.tokenizers
        unprinted = all(value is None for row in table.rows.values() for value in row.published)
        assert not unprinted or table.stated or table.notes


def test_numbers_of_the_papers() -> None:
    """A few cells, read off the papers."""
    assert paper("kanojia2021").table("table1").rows["Ru-En"].published == [1245]
    assert paper("niu2020").table("table3").rows["BPE + misspelling"].published == [40.01, 33.48, 83.69, 71.51]
    assert paper("vu2022").table("table5").rows["lt-en"].published[0] == 0.364
    assert paper("huang2023").table("table1").rows["CLARE"].published[0] == 98.56
    assert paper("jwalapuram2023").table("table3").rows["Ja − full stop"].published == [-3.5, -1.6, -3.2, -5.7, -2.7]


def test_wrong_names_get_a_hint() -> None:
    with pytest.raises(UserError, match=r"no paper is called 'kanoja2021'\. Did you mean 'kanojia2021'"):
        paper("kanoja2021")
    with pytest.raises(UserError, match=r"has no table 'table9'"):
        paper("kanojia2021").table("table9")


@pytest.fixture
def punctuation(tmp_path: Path) -> Path:
    rows = [(f"Satz {row} ohne Punkt" + "." * (row % 2), f"Sentence {row}" + "." * (row % 2)) for row in range(40)]
    lines = ["source\treference", *("\t".join(row) for row in rows)]
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path / "data"


def test_published_and_measured_stand_side_by_side(punctuation: Path, tmp_path: Path) -> None:
    found = reproduce("jwalapuram2023", "table2", punctuation, out=tmp_path / "out", resamples=100)
    cell = {(cell.row, cell.column): cell for cell in found.cells}
    stop = cell["De + full stop", "BLEU"]
    assert stop.published == -9.7 and stop.measured is not None and stop.measured < 0 and stop.otherwise is None
    assert stop.difference == pytest.approx(stop.measured + 9.7)
    assert cell["De + full stop", "COMET"].measured is None
    assert "comet[model=Unbabel/wmt20-comet-da]" in str(cell["De + full stop", "COMET"].otherwise)
    assert "data has no files for: Ja (ja-en.tsv), Uk (uk-en.tsv)." in found.notes
    table = reproduction_table(found)
    assert {row[0] for row in table.rows} == {f"{lang} + {mark}" for lang in ("De", "En") for mark in MARKS}
    page = write_page(found, tmp_path / "out")
    assert "Insertion of final marks" in page.read_text("utf-8") and page.with_suffix(".md").exists()


MARKS = ("full stop", "exclamation", "question", "random")


def test_every_cell_has_its_n_and_interval_and_small_ones_are_not_shown(punctuation: Path, tmp_path: Path) -> None:
    texts = [f"Satz {row} ohne Punkt" + " und mehr" * (row % 3) for row in range(80)]
    lines = ["source\treference", *(f"{text}\tSentence {row}" for row, text in enumerate(texts))]
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    found = reproduce("jwalapuram2023", "table2", tmp_path / "more", out=tmp_path / "all", resamples=100)
    cell = next(cell for cell in found.cells if cell.row == "De + full stop" and cell.column == "BLEU")
    assert cell.n == 80 and cell.low is not None and cell.high is not None and cell.measured is not None
    assert cell.low <= cell.measured <= cell.high
    shown = {row[:2]: row for row in reproduction_table(found).rows}["De + full stop", "BLEU"]
    assert shown[3] and " to " in shown[4] and shown[5] == "80"
    few = reproduce("jwalapuram2023", "table2", punctuation, out=tmp_path / "few", resamples=100, limit=38)
    table = reproduction_table(few)
    shown = {row[:2]: row for row in table.rows}["De + full stop", "BLEU"]
    assert shown[3:7] == ("", "", "19", "") and "fewer than 20 segments" in table.note


def test_tables_are_run_as_the_papers_ran_them() -> None:
    for table in ("table5", "table7", "table5-original", "table7-original"):
        said = paper("jwalapuram2023").table(table).options
        assert (said["reset"], said["full_stops"], said["deduplicate"]) == ("paper", 1000, True)
    for table in ("table2", "table3"):
        assert paper("jwalapuram2023").table(table).options["deduplicate"] is True
    assert {one.name: one.default for one in fields(MetricOptions)}["full_stops"] == 1000, (
        "which tables 2 and 3 leave as it is"
    )
    for name, card in paper("niu2020").tables.items():
        if name.startswith("table3"):
            changes = {change.name: change.options for change in suite(card.options["suite"]).perturbations}
            assert changes["misspell"]["keyboard"] == "qwerty" and changes["case"] == {}
    assert paper("kanojia2021").table("table4").options["suite"] == "kanojia2021-authors"


@pytest.mark.parametrize(
    ("name", "table", "judge", "run", "model"),
    [
        ("kanojia2021", "table4", "MonoTQ", "Ru-En", "TransQuest/monotransquest-da-ru_en-reddit_wikiquotes"),
        ("kanojia2021", "figure6", "SiameseTQ", "Ne-En", "TransQuest/siamesetransquest-da-ne_en-wiki"),
        ("jwalapuram2023", "table2", "BERTScore", "Ja", "bert-base-multilingual-cased"),
        ("jwalapuram2023", "table3", "BERTScore", "En", "roberta-large"),
    ],
)
def test_each_run_has_the_model_that_the_paper_used_in_it(
    name: str, table: str, judge: str, run: str, model: str
) -> None:
    card = paper(name).table(table).judges[judge]
    assert dict(parse(card.of_run(card.spec, run)).options)["model"] == model


def test_published_deviations_stand_beside_their_numbers() -> None:
    row = paper("niu2020").table("table3").rows["BPE + misspelling"]
    assert row.sd == [0.65, 0.61, 0.96, 0.74]
    cell = Cell("BPE + misspelling", "ROBUST", 83.69, 82.49, n=2000, published_sd=0.96, sd=1.2, low=80.0, high=84.0)
    table = reproduction_table(Reproduction("niu2020", "table3", "", ("ROBUST",), (cell,), 2))
    assert table.rows == (("BPE + misspelling", "83.69 ±0.96", "82.49 ±1.20", "80.00 to 84.00", "2,000", "−1.20", ""),)


def test_what_stands_in_for_a_model_is_said(punctuation: Path, tmp_path: Path) -> None:
    found = reproduce(
        "jwalapuram2023", "table3", punctuation, out=tmp_path / "out", judges={"COMET": "chrf[beta=3]"}, resamples=100
    )
    cell = next(cell for cell in found.cells if cell.row == "De − full stop" and cell.column == "COMET")
    assert cell.measured is not None and cell.otherwise == (
        "COMET is chrf[beta=3], not comet[model=Unbabel/wmt20-comet-da]"
    )
    with pytest.raises(UserError, match="this table has no 'CMET'"):
        reproduce("jwalapuram2023", "table3", punctuation, out=tmp_path / "out", judges={"CMET": "chrf"})


def test_kanojia_table_1(shared_data: Path, tmp_path: Path) -> None:
    found = reproduce("kanojia2021", "table1", shared_data / "mlqe-pe", out=tmp_path)
    assert {cell.row: cell.difference for cell in found.cells} == {
        "Ru-En": 0,
        "Ro-En": 54,
        "Et-En": 0,
        "Si-En": 0,
        "Ne-En": 0,
    }


def test_figures_are_tables_too() -> None:
    figures = {name: [table for table in paper(name).tables if table.startswith("figure")] for name in FIVE}
    assert figures["vu2022"] == ["figure1", "figure2", "figure3", "figure4"]
    assert len(figures["kanojia2021"]) == 6 and {"figure1", "figure2"} <= set(figures["niu2020"])
    assert figures["huang2023"] == ["figure2", "figure3", "figure5"]
    at_three = paper("vu2022").table("figure2").rows["visual 0.3"].published
    assert at_three == [0.033, None, 0.264, 0.061, 0.036]


def test_sizes_are_counted(punctuation: Path, tmp_path: Path) -> None:
    found = reproduce("jwalapuram2023", "table8", punctuation, out=tmp_path / "out")
    cells = {(cell.row, cell.column): cell.measured for cell in found.cells}
    assert cells["De-En", "none"] == 20 and cells["De-En", "full stop"] == 20 and cells["De-En", "question"] == 0


def test_a_mean_over_runs_says_which_were_measured(
    punctuation: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from babelquake.papers import reproducing
    from babelquake.papers.paper import Paper

    made = paper("jwalapuram2023").model_copy(deep=True)
    table = made.tables["table2"]
    table.stated = ["it falls"]
    table.rows = {"mean": table.rows["De + full stop"].model_copy(update={"run": MEAN})}

    def here(name: str) -> Paper:
        return made

    monkeypatch.setattr(reproducing, "paper", here)
    found = reproduce("jwalapuram2023", "table2", punctuation, out=tmp_path / "out", resamples=100, limit=30)
    cell = next(cell for cell in found.cells if cell.column == "BLEU")
    assert cell.measured is not None and str(cell.otherwise).startswith("the mean is over De, En only")
    assert "The paper says: it falls" in found.notes
    assert "Only the first 30 segments of each run were taken." in found.notes


def test_a_judge_may_be_another_for_each_run(punctuation: Path, tmp_path: Path) -> None:
    found = reproduce(
        "jwalapuram2023",
        "table2",
        punctuation,
        out=tmp_path / "out",
        resamples=100,
        judges={"COMET": "chrf[name=mine-{run}]"},
    )
    cell = next(cell for cell in found.cells if cell.row == "De + full stop" and cell.column == "COMET")
    assert cell.measured is not None and "{run}" in str(cell.otherwise)


def test_training_data_are_counted_on_the_english_side(tmp_path: Path) -> None:
    (tmp_path / "train.en-de.tsv").write_text("source\treference\nGo on !\tWeiter\nNo\tNein, nein\n", "utf-8")
    (tmp_path / "mtnt").mkdir()
    (tmp_path / "mtnt" / "train.fr-en.tsv").write_text("1\tNon\tNo way\n", "utf-8")
    found = reproduce("niu2020", "table2", tmp_path, out=tmp_path / "out")
    cells = {(cell.row, cell.column): cell.measured for cell in found.cells}
    assert cells["En-De", "sentences"] == 2 and cells["En-De", "English words"] == 4
    assert cells["MTNT Fr-En", "English words"] == 2 and cells["En-Fi", "sentences"] is None


def test_a_probe_that_names_its_model_is_found_by_what_the_paper_says() -> None:
    rows = [("mask-replace[lowercase=true,model=minilm-en]", 0.2, 9), ("word-insert[vocabulary=data]", 0.1, 8)]
    made = pl.DataFrame(rows, schema=["perturbation", "value", "n"], orient="row").with_columns(measure=pl.lit("drop"))
    assert _measure(made, {"measure": "drop", "perturbation": "mask-replace[lowercase=true]"})["value"] == 0.2
    assert _measure(made, {"measure": "drop", "perturbation": "word-insert[vocabulary=data]"})["n"] == 8
    assert _measure(made, {"measure": "drop", "perturbation": "mask-replace[lowercase=false]"}) == {}


def test_a_sample_without_the_texts_of_a_table_is_not_blamed_on_judges(punctuation: Path, tmp_path: Path) -> None:
    lines = (punctuation / "de-en.tsv").read_text("utf-8").splitlines()
    ended = [line for line in lines[1:] if line.endswith(".")]
    (punctuation / "de-en.tsv").write_text("\n".join([lines[0], *ended]) + "\n", "utf-8")
    with pytest.raises(UserError, match=r"the first 8 segments \(limit=8\) have too few of the texts"):
        reproduce("jwalapuram2023", "table2", punctuation, out=tmp_path / "out", limit=8, resamples=100)


def test_limits_of_attacks_are_for_tables_that_attack(punctuation: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"max.queries does not work with this table"):
        reproduce("jwalapuram2023", "table2", punctuation, out=tmp_path / "out", max_queries=5)
    with pytest.raises(UserError, match="sample does not work with this table"):
        reproduce("niu2020", "table2", punctuation, out=tmp_path / "out", sample=5)


def test_a_table_that_attacks_takes_a_limit_of_questions(tmp_path: Path) -> None:
    rows = [f"Satz {row}\tIt is {row} o'clock in the old town now\tIt was {row} then\twmt12" for row in range(6)]
    head = "source\treference\ttranslation\tyear"
    (tmp_path / "de-en.tuples.tsv.gz").write_bytes(gzip.compress("\n".join([head, *rows]).encode() + b"\n"))
    judges = {"BERTScore": "chrf", "BLEURT": ""}
    less: dict[str, Any] = {"sample": 3, "max_queries": 4, "recipes": ["input-reduction"], "constraints": []}
    found = reproduce("huang2023", "table1", tmp_path, out=tmp_path / "out", judges=judges, **less)
    assert "Each search asked at most 4 questions." in found.notes
    asked = pl.read_parquet(found.runs["all"] / "attacks.parquet")["queries"]
    assert all(0 < count <= 4 for count in asked)


def test_figures_about_ratings_are_one_command_for_who_has_the_authors_file(tmp_path: Path) -> None:
    draw = np.random.default_rng(5)
    rows = [
        {
            "metric": metric,
            "attack_algo": recipe,
            "year": year,
            "original_score": (score := draw.normal()),
            "adv_score": score - draw.normal(1.5, 0.2),
            "human_original": score + draw.normal(0, 0.1),
            "human_adv": score - draw.normal(0.4, 0.5),
        }
        for metric in ("bertscore", "bleurt", "comet")
        for recipe in ("clare", "deep_word_bug", "faster_genetic", "input_reduction")
        for year in (2012, 2017, 2022)
        for _ in range(25)
    ]
    file = tmp_path / "pairs.csv"
    pl.DataFrame(rows).write_csv(file)
    found = reproduce("huang2023", "figure5", file, out=tmp_path)
    cells = {(cell.row, cell.column): cell for cell in found.cells}
    assert all(cell.measured is not None and cell.n == 25 and not cell.otherwise for cell in found.cells)
    metric, human = (cells["CLARE", f"COMET wmt22 {side}"].measured for side in ("metric", "human"))
    assert metric == pytest.approx(1.5, abs=0.2) and human == pytest.approx(0.4, abs=0.4)
    found = reproduce("huang2023", "figure2", file, out=tmp_path)
    original = next(cell for cell in found.cells if cell.column == "BLEURT wmt12 original")
    assert original.measured is not None and original.measured > 0.9
    pl.DataFrame(rows).rename({"human_adv": "rating"}).write_csv(file)
    with pytest.raises(UserError, match=r"no column human_adv or human_perturbed; it has: .*rating"):
        reproduce("huang2023", "figure5", file, out=tmp_path)


def test_a_table_about_ratings_is_taken_from_a_run_that_has_them(tmp_path: Path) -> None:
    for table in ("figure2", "figure5"):
        with pytest.raises(UserError, match=f"huang2023 {table} is taken from .*people have rated.*all=FOLDER"):
            reproduce("huang2023", table, tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
