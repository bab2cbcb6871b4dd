from pathlib import Path

import polars as pl
import pytest

import babelquake as bq
from babelquake.errors import UserError
from babelquake.report.examples import example_columns, example_table, examples, with_texts
from babelquake.runs.run import Run


def test_translation_examples_hold_both_translations(runs: dict[str, Run]) -> None:
    table = examples(runs["mt"]).collect()
    assert table.height == runs["mt"].variants.height * 2
    row = table.filter(row=0, perturbation="case", system=runs["mt"].translations["system"][0]).to_dicts()[0]
    assert row["original"] == "Das Haus ist alt." and row["text"].lower() == "das haus ist alt."
    assert row["before"] == "The house is old." and row["drop"] == pytest.approx(100 - row["consistency"])


@pytest.mark.parametrize("study", ["metric", "qe"])
def test_judged_examples_hold_both_scores(runs: dict[str, Run], study: str) -> None:
    table = with_texts(runs[study], examples(runs[study]).collect())
    row = table.filter(perturbation="negation-remove", scorer="chrf").to_dicts()[0]
    assert "not" in row["original"] and "not" not in row["text"]
    assert row["drop"] == pytest.approx(row["before"] - row["after"]) and row["drop"] > 0
    assert table["before"].null_count() == table["text"].null_count() == 0


def test_challenge_examples_come_from_the_data(runs: dict[str, Run]) -> None:
    row = examples(runs["challenge"]).collect().to_dicts()[0]
    assert (row["original"], row["text"]) == ("The house is old.", "The house are old.!")


def test_the_worst_come_first(runs: dict[str, Run]) -> None:
    table = example_table(runs["mt"], 3)
    drops = [float(row[table.columns.index("drop")]) for row in table.rows]
    assert drops == sorted(drops, reverse=True)


def test_an_unknown_order_is_refused(runs: dict[str, Run]) -> None:
    with pytest.raises(UserError, match="expected drop or row"):
        example_table(runs["mt"], 3, "beauty")


def test_more_errors_are_damage(runs: dict[str, Run]) -> None:
    """TER counts errors: what it gained is what the text lost, as for a score that fell."""
    table = examples(runs["qe"]).collect().filter(perturbation="source-copy")
    assert (table.filter(scorer="ter")["after"] > table.filter(scorer="ter")["before"]).all()
    assert (table["drop"] > 0).all()


def test_a_source_is_never_called_a_reference(tmp_path: Path) -> None:
    """Without references, quality estimation compares with sources; examples show those as what they are."""
    sides = ["Source", "Reference", "Translation"]
    for kept, shown in ((sides, {*sides}), (sides[::2], {"Source", "Translation"})):
        rows = [{"Source": f"Haus {n}.", "Reference": f"House {n}.", "Translation": f"A house {n}."} for n in range(6)]
        data = pl.DataFrame(rows).select(kept).rename(str.lower).with_columns(language_pair=pl.lit("de-en"))
        data.write_csv(tmp_path / f"{len(kept)}.tsv", separator="\t")
        run = bq.qe(
            scorers="chrf",
            data=tmp_path / f"{len(kept)}.tsv",
            suite="case",
            out=tmp_path / str(len(kept)),
            resamples=100,
        )
        assert {text["label"] for text in example_columns(run, 100)["texts"]} == shown
