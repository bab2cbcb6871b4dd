"""What every detector promises, whoever wrote it: checked for each kind in the registry."""

import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.failures import DETECTORS, Failure, Pair, cards_for, detect, failures_in
from babelquake.languages import Language

KINDS = DETECTORS.names()
FREE = [kind for kind in KINDS if DETECTORS.get(kind).cost != "encoder"]
GOOD = (
    (
        "en-cs",
        "The committee met on Tuesday and approved 12 of the 15 proposals.",
        "Výbor se sešel v úterý a schválil 12 z 15 návrhů.",
    ),
    (
        "en-es",
        "I don't know whether she will come; ask her at info@example.org.",
        "No sé si vendrá; pregúntale en info@example.org.",
    ),
    ("de-en", "Er zahlte 1.250,50 Euro für <b>{count}</b> Bücher.", "He paid 1,250.50 euros for <b>{count}</b> books."),
    ("en-de", "See https://example.org/a?b=1 for more.", "Mehr dazu unter https://example.org/a?b=1."),
    ("fr-en", "Ils n'ont pas compris pourquoi l'œuvre était là.", "They did not understand why the work was there."),
    ("en-ru", "The museum is closed on Mondays.", "По понедельникам музей закрыт."),
    ("en-ja", "The museum is closed on Mondays.", "月曜日は美術館が休館です。"),
    ("en-ar", "The museum is closed on Mondays.", "المتحف مغلق أيام الاثنين."),
)
TEXT = st.text(
    alphabet=st.one_of(st.characters(), st.sampled_from("abc 12.,{}<>%\"'\n?\u200d\u0301 not the und")), max_size=80
)


@pytest.mark.parametrize("kind", KINDS)
def test_a_card_says_what_it_sees_and_what_it_needs(kind: str) -> None:
    card = DETECTORS.get(kind)
    assert card.description.endswith(".")
    assert card.family
    assert not card.serves(None, None, ()) or not card.needs


@pytest.mark.parametrize(("pair", "source", "translation"), GOOD)
def test_good_translations_have_no_failures(pair: str, source: str, translation: str) -> None:
    assert detect(source, translation, pair) == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(source=TEXT, translation=TEXT, pair=st.sampled_from(("en-cs", "de-en", "en-ja", "xh-zu", "en-es")))
def test_any_text_gets_an_answer_with_evidence_and_a_score(source: str, translation: str, pair: str) -> None:
    for failure in detect(source, translation, pair):
        assert isinstance(failure, Failure)
        assert 0 <= failure.score <= 1
        assert failure.evidence
        assert all(0 <= start <= end <= len(translation) for start, end in failure.spans)
    assert detect(source, translation, pair) == detect(source, translation, pair)


def test_no_kind_speaks_where_it_lacks_what_it_needs() -> None:
    assert detect(None, "Anything at all.", None) == []
    without_languages = {card.kind for card in cards_for(None, None)}
    assert without_languages
    assert all(not any("language" in need for need in DETECTORS.get(kind).needs) for kind in without_languages)
    unknown = {card.kind for card in cards_for(Language("xh"), Language("zu"))}
    assert "negation" not in unknown and "runaway" not in unknown


def test_a_misspelt_kind_is_corrected() -> None:
    with pytest.raises(UserError, match="off-target"):
        detect("a", "b", "en-de", ["off-taget"])


AWKWARD = {
    "100,000 letters": "word " * 20_000,
    "one word of 100,000": "a" * 100_000,
    "10,000 tags": "<b>x</b>" * 10_000,
    "open tags": "<a " * 30_000,
    "open braces": "{" * 50_000,
    "placeholders": "{name} %s " * 10_000,
    "right to left": "مرحبا بالعالم " * 7_000,
    "surrogates": "a\ud83d b\ude00 " * 10_000,
    "digits": "1,234.5 " * 10_000,
    "one long number": "1" * 100_000,
    "questions": "Why? " * 20_000,
    "quotes": '"a" ' * 20_000,
    "capitals": "John Smith " * 9_000,
    "e-mail": "a@" * 50_000,
    "stutter": "abababab" * 12_000,
}


@pytest.mark.parametrize("name", AWKWARD)
def test_long_and_awkward_texts_take_a_moment(name: str) -> None:
    text = AWKWARD[name]
    english, czech = Language("en"), Language("cs")
    cards = cards_for(english, czech)
    failures_in(Pair("warm", "up", english, czech), cards)
    start = time.process_time()
    failures_in(Pair(text, "Krátký překlad.", english, czech), cards)
    failures_in(Pair("A short source.", text, english, czech), cards)
    failures_in(Pair(text, text + ".", english, czech), cards)
    assert time.process_time() - start < 3
