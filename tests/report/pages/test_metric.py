"""Agreement by layer: which scorers belong together and what is drawn of them; a verdict claims nothing untested."""

import json
from pathlib import Path
from typing import Any

import pytest

import babelquake as bq
from babelquake.report.charts import PALETTE, _cycled
from babelquake.report.pages.metric import in_order, layer_charts, layer_tables, swept
from babelquake.report.verdict import verdict
from babelquake.runs.measures import NAMES, Results

LAYERS = ("10", "2", "mean", "first")


def row(scorer: str, level: float | None, value: float = 0.3, **more: Any) -> dict[str, Any]:
    place = {"language_pair": "lt-en", "scorer": scorer, "perturbation": "visual", "level": level, "measure": "darr"}
    return {**dict.fromkeys(NAMES), **place, "value": value, "low": value - 0.1, "high": value + 0.1, **more}


@pytest.fixture
def results() -> Results:
    named = [f"bertscore[layer={layer},model={model}]" for model in ("one", "two") for layer in LAYERS]
    alone = ["chrf", "my metric (v2)]", "bertscore[layer=3,model=three]"]
    levels = (0.0, 0.1, 0.3)
    return Results([row(name, level, 0.4 - level) for name in [*named, *alone] for level in levels])


def test_numbers_come_by_size_and_words_after_them() -> None:
    assert in_order(["mean", "10", "best", "2", "first"]) == ["2", "10", "first", "best", "mean"]


def test_scorers_that_differ_in_their_layer_alone_are_a_sweep(results: Results) -> None:
    rows = swept(results.rows)
    assert {found["encoder"] for found in rows} == {"one", "two"}
    assert {found["layer"] for found in rows} == set(LAYERS)


def test_other_options_stay_in_the_encoder_s_name() -> None:
    rows = [row(f"bertscore[idf={idf},layer={layer},model=one]", 0.0) for idf in ("true", "false") for layer in (1, 2)]
    assert {found["encoder"] for found in swept(rows)} == {
        "BERTScore[idf=true,model=one]",
        "BERTScore[idf=false,model=one]",
    }


def test_clean_and_most_attacked_references_stand_in_chart_and_table(results: Results) -> None:
    (chart,) = layer_charts(results, "lt-en")
    drawn = json.dumps(chart.spec())
    assert '"kind": "clean"' in drawn and '"kind": "level 0.3"' in drawn and "level 0.1" not in drawn
    (table,) = layer_tables(results)
    assert table.columns == ("encoder", "references", "2", "10", "first", "mean")
    assert table.rows[:2] == (
        ("one", "clean", *["0.400"] * 4),
        ("one", "letters with odd marks (30 %)", *["0.100"] * 4),
    )


def test_without_a_sweep_or_without_an_attack_there_is_no_chart(results: Results) -> None:
    assert layer_charts(Results([row("chrf", 0.0), row("chrf", 0.3)]), "lt-en") == []
    assert layer_charts(Results([found for found in results.rows if found["level"] == 0]), "lt-en") == []


def test_a_colour_that_comes_again_comes_with_another_shape() -> None:
    names = [str(place) for place in range(40)]
    both = list(zip(_cycled(PALETTE, names), _cycled("abcdefgh", names, 1), strict=True))
    assert len(set(both)) == 40


PAIRS = [("The dog sleeps.", "The dog is asleep."), ("He does not come.", "He is not coming.")]


def said(out: Path, perturbation: str) -> str:
    data = out.with_suffix(".en-en.tsv")
    rows = [f"{reference}\t{reference}\t{translation}" for reference, translation in PAIRS]
    data.write_text("\n".join(["source\treference\ttranslation", *rows]) + "\n", "utf-8")
    return " ".join(verdict(bq.metric(scorers="chrf", data=str(data), suite=perturbation, out=out)))


def test_too_few_segments_are_not_called_unmoved(tmp_path: Path) -> None:
    found = said(tmp_path / "few", "lower-words")
    assert "cannot be tested" in found and "does not move" not in found


def test_harmful_changes_alone_say_nothing_of_harmless_ones(tmp_path: Path) -> None:
    assert "not tested with any harmless change" in said(tmp_path / "harmful", "word-repeat")
