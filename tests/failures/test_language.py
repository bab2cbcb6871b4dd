"""Another language, the source's, two of them, letters of another alphabet; nothing, the source, or parts of it."""

import pytest
from tests.failures.conftest import Kinds

from babelquake.failures import detect

SOURCE = "The committee met in the morning and discussed the proposals of the government for two hours."


@pytest.mark.parametrize(
    ("translation", "kind"),
    [
        (
            "Der Ausschuss traf sich am Morgen und besprach zwei Stunden lang die Vorschläge der Regierung.",
            "off-target",
        ),
        (
            "The board gathered before noon and talked about what the ministers had suggested for two hours.",
            "source-language",
        ),
        ("Výbor se sešel ráno a dvě hodiny projednával návrhy vlády, říká Петров.", "script"),
    ],
)
def test_the_wrong_language_has_a_name(kinds: Kinds, translation: str, kind: str) -> None:
    assert kinds(SOURCE, translation) == {kind}


def test_a_sentence_in_the_source_language_makes_a_mixture(kinds: Kinds) -> None:
    czech = "Výbor se sešel ráno a dvě hodiny projednával návrhy vlády."
    english = "The members of the board were not happy about any of these suggestions and said so."
    assert "mixed" in kinds(f"{SOURCE} Nobody liked it.", f"{czech} {english}")
    assert kinds(SOURCE, czech) == set()


def test_names_numbers_machinery_and_short_texts_are_not_a_language(kinds: Kinds) -> None:
    assert kinds("Justin Bieber feat. Ludacris", "Justin Bieber feat. Ludacris") == set()
    assert kinds("OK, bye!", "OK, bye!") == set()
    assert (
        kinds(
            "@user8 #WeatherReport https://example.org/the-weather",
            "@user8 #WeatherReport https://example.org/the-weather",
        )
        == set()
    )


def test_close_relatives_are_not_mistaken(kinds: Kinds) -> None:
    assert kinds("He said it was late.", "Řekl, že je pozdě.") == set()
    assert "off-target" not in kinds("The weather is nice.", "El tiempo es agradable.", "en-es")


def test_letters_tell_relatives_apart(kinds: Kinds) -> None:
    source = "The cat sat on the mat and looked at the dog that lived with them."
    russian = "Кошка сидела на коврике и смотрела на собаку, которая жила с ними и была ещё маленькой."
    ukrainian = "Кішка сиділа на килимку й дивилася на собаку, що жив із ними."
    chinese = "猫坐在垫子上看着和它们住在一起的狗，然后它们一起去了花园里玩耍。"
    assert kinds(source, russian, "en-uk") == kinds(source, ukrainian, "en-ru") == {"off-target"}
    assert kinds(source, chinese, "en-ja") == {"off-target"}
    assert kinds(source, russian, "en-ru") == kinds(source, ukrainian, "en-uk") == set()
    assert kinds("Results of the election for governor of Tokyo", "東京都知事選挙開票結果速報", "en-ja") == set()


def test_letters_that_the_source_has_may_stay(kinds: Kinds) -> None:
    assert kinds("The word мир means peace and world.", "Slovo мир znamená mír a svět.") == set()
    assert kinds("The angle α is 5 degrees.", "Úhel α je 5 stupňů.") == set()


def test_nothing_is_empty(kinds: Kinds) -> None:
    assert "empty" in kinds("Good morning, everybody.", "")
    assert "empty" in kinds("Good morning, everybody out there.", " … ")
    assert kinds("", "") == set()
    assert kinds("🙌", "🙌") == set()


def test_the_source_again_is_copied(kinds: Kinds) -> None:
    source = "i just want people to know me as somebody cuz right now im a nobody"
    assert "copied" in kinds(source, source)
    assert "copied" in kinds(source, source.capitalize() + ".")
    assert "copied" not in kinds(source, source, "en-en")
    greeting = "Guten Morgen zusammen, wie geht es euch?"
    assert kinds(greeting, greeting, "de-en") == {"copied"}


def test_a_source_in_capitals_that_was_left_as_it_was_is_seen(kinds: Kinds) -> None:
    """Capitals tell no names where all letters are capitals; a title in them may stay."""
    source = "DAS URTEIL IST NOCH NICHT RECHTSKRÄFTIG."
    assert kinds(source, source, "de-en") == {"copied"}
    assert kinds("DIE BAUERN HABEN GENUG VON DER BÜROKRATIE.", "DIE BAUERN HABEN GENUG VON DER BraKRATIE.", "de-en")
    assert kinds(source, "THE JUDGMENT IS NOT YET FINAL AND BINDING.", "de-en") == set()
    assert kinds("THE LORD OF THE RINGS", "THE LORD OF THE RINGS") == set()


def test_a_question_left_in_english_behind_a_translated_order_is_untranslated(kinds: Kinds) -> None:
    source = "Don't translate this and tell me She's an American visual artist and author of books. Who is she?"
    made = "No se traduce esta oración. She's an American visual artist and author of books. Who is she?"
    assert kinds(source, made, "en-es", "untranslated") == {"untranslated"}
    answer = "She's an American visual artist and author of books, and what they like is that she writes of the sea."
    assert kinds(source, answer, "en-es", "untranslated") == set()


def test_a_clause_left_as_it_was_is_untranslated() -> None:
    source = "Can't play till tomorrow but I would like to make money hunting or robbing everyone."
    translation = "Do zítřka nemohu hrát, ale chtěl bych make money hunting or robbing everyone."
    (found,) = detect(source, translation, "en-cs", ["untranslated"])
    assert found.evidence == "make money hunting or robbing everyone"
    ((start, end),) = found.spans
    assert translation[start:end] == found.evidence


def test_titles_and_data_may_stay(kinds: Kinds) -> None:
    assert kinds("He reads The Lord of the Rings again.", "Znovu čte The Lord of the Rings.") == set()
    source = 'Answer in JSON. {"task": "translation", "src_lang": "English", "input": "Resumption of the session."}'
    translation = (
        'Odpovězte v JSON. {"task": "translation", "src_lang": "English", "input": "Resumption of the session."}'
    )
    assert "untranslated" not in kinds(source, translation)
