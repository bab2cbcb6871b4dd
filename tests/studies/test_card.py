"""A study's card says what the data must have, and the study keeps to it."""

from pathlib import Path

import polars as pl
import pytest

from babelquake.data import dataset
from babelquake.errors import UserError
from babelquake.studies.card import STUDIES, Study, function_of
from babelquake.studies.options import StudyOptions
from babelquake.studies.plan import Plan

WHOLE = pl.DataFrame(
    {
        "source": ["Das Haus.", "Der Zug kommt."],
        "references": [["The house."], ["The train comes."]],
        "translation": ["A house.", "The train comes."],
        "score": [50.0, 90.0],
        "language_pair": ["de-en", "de-en"],
    }
)
GIVEN = {
    "mt": {"systems": ["command[cmd=cat]"]},
    "attack": {"recipes": ["input-reduction"], "victims": ["chrf"]},
    "human": {},
    "check": {},
}
NEEDS = [pytest.param(name, either, id=f"{name} {either}") for name, card in STUDIES.items() for either in card.inputs]


@pytest.mark.parametrize(("study", "either"), NEEDS)
def test_data_without_what_a_study_needs_are_refused(study: str, either: str, tmp_path: Path) -> None:
    lacking = WHOLE.drop(name for name in either.split("|") if name in WHOLE.columns)
    with pytest.raises(UserError, match=r"has n|needs|no "):
        function_of(study)(data=lacking, **GIVEN.get(study, {"scorers": ["chrf"]}), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_the_card_itself_refuses() -> None:
    card = Study("toy", StudyOptions, "Is it there?", inputs=("source", "score|preferences"))
    with pytest.raises(UserError, match="has no score and no preferences, which the study toy needs"):
        card.session(Plan("toy", StudyOptions(data=(), out="nowhere"), dataset(WHOLE.drop("score")), ()))
    assert not Path("nowhere").exists()
