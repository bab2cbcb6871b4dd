"""Refusals, comments and answers of chat models; what only the one who asked can tell.

That is an answer of another form, lines that are missing, lines that nobody sent.
"""

import pytest
from tests.failures.conftest import Kinds

from babelquake.failures import DETECTORS, Exchange, Pair, cards_for, failures_in


@pytest.mark.parametrize(
    ("pair", "translation"),
    [
        ("en-cs", "I'm sorry, but I cannot translate that text."),
        ("en-cs", "Omlouvám se, ale tento text nemohu přeložit."),
        ("en-es", "Lo siento, pero no puedo traducir ese texto."),
        ("en-de", "Es tut mir leid, aber ich kann diesen Text nicht übersetzen."),
        ("en-fr", "Je suis désolé, mais je ne peux pas traduire ce texte."),
        ("en-ru", "Извините, но я не могу перевести этот текст."),
        ("en-ja", "申し訳ありませんが、この文章を翻訳することはできません。"),
        ("en-zh", "抱歉，我无法翻译这段文字。"),
    ],
)
def test_refusals_are_seen_in_many_languages(kinds: Kinds, pair: str, translation: str) -> None:
    assert "refusal" in kinds("What the hell is this?", translation, pair)


def test_a_source_that_apologises_is_not_a_refusal(kinds: Kinds) -> None:
    assert "refusal" not in kinds("I'm sorry, but I can't come.", "Omlouvám se, ale nemohu přijít.")


@pytest.mark.parametrize(
    "translation",
    [
        "Here is the translation: Kočka spí.",
        "Překlad: Kočka spí.",
        "Kočka spí.\n\nNote: this is a literal translation of the sentence.",
        "Kočka spí.``` or ```Kocour spí.",
        "„Kočka spí.“",
        "**Kočka spí.**",
    ],
)
def test_something_around_the_translation_is_a_comment(kinds: Kinds, translation: str) -> None:
    assert "comment" in kinds("The cat is asleep.", translation)


def test_notes_quotes_and_stars_of_the_source_are_not_comments(kinds: Kinds) -> None:
    assert kinds('"The cat is asleep."', "„Kočka spí.“") == set()
    assert kinds("Note: the cat is asleep.", "Poznámka: kočka spí.") == set()
    assert kinds("The cat is **asleep**.", "Kočka **spí**.") == set()


@pytest.mark.parametrize(
    "translation",
    [
        "Ano, žraloci mohou dostat rakovinu.",
        "I won't translate that sentence. As for your question, sharks can get cancer.",
        "Mohou žraloci dostat rakovinu? Žraloci rakovinu dostávají stejně jako ostatní zvířata, ale vzácně.",
    ],
)
def test_an_answer_is_not_a_translation(kinds: Kinds, translation: str) -> None:
    assert "answer" in kinds("Can sharks get cancer?", translation)


def test_a_translated_question_is_not_an_answer(kinds: Kinds) -> None:
    assert kinds("Can sharks get cancer?", "Mohou žraloci dostat rakovinu?") == set()
    assert kinds("Yes, but can sharks get cancer?", "Ano, ale mohou žraloci dostat rakovinu") == set()


def test_japanese_quotation_marks_are_quotation_marks(kinds: Kinds) -> None:
    assert kinds("「これは歴史的な瞬間です。」", '"It is a historical moment."', "ja-en", "comment") == set()


def found(exchange: Exchange | None) -> dict[str, str]:
    cards = cards_for(None, None, sources=False, exchanged=True, lines=True)
    return {failure.kind: failure.evidence for failure in failures_in(Pair(None, "x", exchange=exchange), cards)}


def test_each_kind_is_seen_in_what_was_sent_and_answered() -> None:
    assert found(Exchange("the answer is not JSON")) == {"misfit": "the answer is not JSON"}
    assert found(Exchange(lines=((4, 4), (3, 2)))) == {"sentence-omitted": "2 lines for 3 sentences"}
    assert found(Exchange(lines=((4, 5),))) == {"context-leaked": "5 lines for 4 sentences"}
    assert found(Exchange(lines=((4, 4),), foreign="Never sent.")) == {"context-leaked": "Never sent."}
    assert found(Exchange(lines=((4, 4),))) == {} == found(None)


def test_nobody_else_is_asked_about_it() -> None:
    kinds = {kind for kind in DETECTORS.names() if "exchange" in DETECTORS.get(kind).needs}
    assert kinds == {"misfit", "sentence-omitted", "context-leaked"}
    assert not kinds & {card.kind for card in cards_for(None, None)}
    plain = {card.kind for card in cards_for(None, None, exchanged=True)}
    assert plain & kinds == {"misfit"}, "lines are those of documents"
