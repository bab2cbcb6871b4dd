"""Variants that the data bring: measured like those that a perturbation makes."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl
import pytest
import sacrebleu

import babelquake as bq
from babelquake.errors import UserError
from babelquake.runs.run import Run

SENTENCES = ["The cat sleeps.", "I like green tea.", "Where is my book?", "We leave at noon."]
RAW = ["teh cat sleps", "i luv green tea", "wheres my bok", "We leave at noon."]
REFERENCES = ["Die Katze schläft.", "Ich mag grünen Tee.", "Wo ist mein Buch?", "Wir gehen am Mittag."]


def upper(texts: Sequence[str]) -> list[str]:
    """A system that says everything louder."""
    return [text.upper() for text in texts]


def pairs(**further: list[str | None]) -> pl.DataFrame:
    """Raw sentences beside what was meant."""
    return pl.DataFrame({"source": SENTENCES, "perturbed": RAW, "reference": REFERENCES, **further})


def measured(run: Run, measure: str, **where: object) -> dict[str, object]:
    """The one row of a measure."""
    rows = run.measures.filter(pl.col("measure") == measure, *(pl.col(name) == value for name, value in where.items()))
    return dict(rows.filter(pl.col("other").is_null()).row(0, named=True))


def test_a_system_is_measured_on_both_versions(tmp_path: Path) -> None:
    run = bq.mt(systems=[upper], data=pairs(), scorers="chrf", out=tmp_path / "r", resamples=400)
    clean = sacrebleu.corpus_chrf(upper(SENTENCES[:3]), [REFERENCES[:3]]).score
    raw = sacrebleu.corpus_chrf(upper(RAW[:3]), [REFERENCES[:3]]).score
    row = measured(run, "robust", perturbation="given")
    assert row["value"] == pytest.approx(100 * raw / clean)
    assert "given:given" in str(row["signature"])


def test_equal_versions_count_as_unchanged_and_not_as_robust(tmp_path: Path) -> None:
    run = bq.mt(systems=[upper], data=pairs(), scorers="chrf", out=tmp_path / "r", resamples=400)
    row = measured(run, "consis", perturbation="given")
    assert (row["n"], row["changed"]) == (3, 3)
    assert any("1 of 4" in note and "unchanged" in note for note in run.info.notes)


def stored(systems: dict[str, tuple[list[str | None], list[str | None]]]) -> pl.DataFrame:
    """The pairs with what systems made of both versions."""
    return pl.concat(
        pairs(
            system=[name] * 4,
            translation=clean,
            translation_perturbed=raw,
            perturbation=["raw"] * 4,
        )
        for name, (clean, raw) in systems.items()
    )


GOOD: tuple[list[str | None], list[str | None]] = (list(REFERENCES), ["Die Katze", "Ich Tee", "Wo Buch", "Wir"])
BAD: tuple[list[str | None], list[str | None]] = (list(REFERENCES), ["x", "Tee", "y", "Wir"])


def test_stored_translations_need_no_system(tmp_path: Path) -> None:
    run = bq.mt(data=stored({"good": GOOD, "bad": BAD}), scorers="chrf", out=tmp_path / "r", resamples=400)
    for name, (clean, raw) in (("good", GOOD), ("bad", BAD)):
        quality = sacrebleu.corpus_chrf([str(text) for text in raw[:3]], [REFERENCES[:3]]).score
        assert measured(run, "quality_perturbed", system=name, perturbation="raw")["value"] == pytest.approx(quality)
        assert measured(run, "quality", system=name, perturbation="raw")["value"] == pytest.approx(100)
        assert clean == REFERENCES


def test_a_system_is_chosen_by_its_name(tmp_path: Path) -> None:
    data = stored({"good": GOOD, "bad": BAD})
    run = bq.mt(systems=["good"], data=data, scorers="chrf", out=tmp_path / "r", resamples=400)
    assert set(run.measures["system"].drop_nulls()) == {"good"}
    with pytest.raises(UserError, match=r"'goood'.*good"):
        bq.mt(systems=["goood"], data=data, scorers="chrf", out=tmp_path / "s", resamples=400)


def test_who_said_nothing_did_not_take_part(tmp_path: Path) -> None:
    data = stored({"good": GOOD, "absent": ([""] * 4, [""] * 4)})
    run = bq.mt(data=data, scorers="chrf", out=tmp_path / "r", resamples=400)
    assert set(run.measures["system"].drop_nulls()) == {"good"}
    assert any("absent did not take part" in note for note in run.info.notes)


def test_equal_sentences_keep_the_translation_of_their_own_document(tmp_path: Path) -> None:
    data = pl.DataFrame(
        {
            "id": ["a", "b"],
            "source": ["Why?", "Why?"],
            "perturbed": ["y", "y"],
            "translation": ["Warum?", "Wieso?"],
            "translation_perturbed": ["y", "ypsilon"],
            "system": ["s", "s"],
        }
    )
    run = bq.mt(data=data, scorers="chrf", out=tmp_path / "r", resamples=400)
    told = run.translations.select("id", "translation").rows()
    assert sorted(told) == [("a", "Warum?"), ("a", "y"), ("b", "Wieso?"), ("b", "ypsilon")]


def test_made_variants_are_added_to_the_clean_side(tmp_path: Path) -> None:
    run = bq.mt(systems=[upper], data=pairs(), suite="case[level=1]", scorers="chrf", out=tmp_path / "r", resamples=400)
    assert set(run.measures["perturbation"].drop_nulls()) == {"given", "case"}
    sources = run.variants.filter(pl.col("perturbation") == "case").join(run.segments.select("row", "source"), on="row")
    assert [text.casefold() for text in sources["text"]] == [text.casefold() for text in sources["source"]]


def test_stored_translations_have_no_made_variants_and_a_note_says_so(tmp_path: Path) -> None:
    data = stored({"good": GOOD})
    run = bq.mt(systems=["good", upper], data=data, suite="case[level=1]", scorers="chrf", out=tmp_path / "r")
    made = run.translations.filter(pl.col("perturbation") == "case")
    assert "good" not in made["system"].to_list()
    assert any("good" in note and "suite" in note for note in run.info.notes)


def test_a_label_that_the_suite_has_too_is_refused(tmp_path: Path) -> None:
    data = pairs(perturbation=["case"] * 4)
    with pytest.raises(UserError, match=r"'case'.*column perturbation"):
        bq.mt(systems=[upper], data=data, suite="case", scorers="chrf", out=tmp_path / "r")


def test_several_versions_of_one_source_are_several_rows(tmp_path: Path) -> None:
    data = pl.concat([pairs(), pairs().with_columns(perturbed=pl.col("perturbed").str.to_uppercase())])
    run = bq.mt(systems=[upper], data=data, scorers="chrf", out=tmp_path / "r", resamples=400)
    assert run.segments.height == 4
    assert run.variants.group_by("row").len().sort("row")["len"].to_list() == [2, 2, 2, 1]


def test_translations_of_one_version_alone_need_a_system(tmp_path: Path) -> None:
    data = pairs(translation_perturbed=["a", "b", "c", "d"])
    with pytest.raises(UserError, match=r"perturbed sources only.*system"):
        bq.mt(data=data, scorers="chrf", out=tmp_path / "r")


def test_a_row_that_repeats_another_is_refused_with_both(tmp_path: Path) -> None:
    file = tmp_path / "pairs.tsv"
    file.write_text("id\tsource\tperturbed\n1\ta\tb\n2\tc\td\n1\ta\tb\n", "utf-8")
    with pytest.raises(UserError, match=r"pairs\.tsv line 4 repeats line 2"):
        bq.mt(systems=[upper], data=file, out=tmp_path / "r")
