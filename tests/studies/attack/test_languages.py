"""What a run says of the languages of the attacked texts."""

from pathlib import Path

import polars as pl
import pytest
from tests.studies.attack.toys import tuples

from babelquake.studies.attack.study import attack

FEW = {"constraints": "none", "resamples": 100, "max_queries": 3}
UNNAMED = "No language pair given: texts are taken to be English. Use language_pair=… for another language."
UNSPACED = "Most texts have no spaces between words"


def notes(out: Path, data: pl.DataFrame, pair: str | None) -> list[str]:
    return attack(
        recipes="deepwordbug", victims="chrf", data=data.with_columns(language_pair=pl.lit(pair)), out=out, **FEW
    ).info.notes


def test_models_of_english_are_named_where_other_languages_are_attacked(tmp_path: Path) -> None:
    notes = {
        pair: attack(
            recipes="faster-genetic",
            victims="chrf",
            data=tuples(4).with_columns(language_pair=pl.lit(pair)),
            out=tmp_path / pair,
            **FEW,
        )
        for pair in ("de-en", "en-de")
    }
    said = "neighbours-en is of English, and texts in de are attacked: name models of their language."
    assert said in notes["en-de"].info.notes and not any("of English" in note for note in notes["de-en"].info.notes)


@pytest.mark.parametrize(
    ("pair", "unnamed", "unlisted"), [(None, True, None), ("de-en", False, None), ("de-tr", False, "tr")]
)
def test_what_is_taken_for_english_and_what_has_no_stop_words_is_said(
    tmp_path: Path, pair: str | None, unnamed: bool, unlisted: str | None
) -> None:
    said = notes(tmp_path / "run", tuples(4), pair)
    assert (UNNAMED in said) == unnamed
    assert [note for note in said if "stop words" in note] == (
        [f"No stop words of {unlisted} are known, so none are spared."] if unlisted else []
    )
    assert not any(note.startswith(UNSPACED) for note in said)


def test_texts_without_spaces_are_not_said_to_be_changed_a_little(tmp_path: Path) -> None:
    data = pl.DataFrame(
        {
            "source": ["a", "b", "c"],
            "reference": ["这是一个很好的例子。", "我们都很高兴。", "他来了。"],
            "translation": ["这是个好例子。", "我们很高兴。", "ok"],
        }
    )
    assert any(note.startswith(UNSPACED) for note in notes(tmp_path / "run", data, "en-zh"))
