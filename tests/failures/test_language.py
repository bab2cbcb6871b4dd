"""Another language, the source's, two of them, or letters of another alphabet."""

import pytest
from tests.failures.conftest import Kinds

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
