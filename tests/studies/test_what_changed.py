"""Each pair of translations gets the name a reader would give to its difference."""

import pytest

from babelquake.languages import Language
from babelquake.studies.what_changed import KINDS, kind_of_change

SOURCE = "Der Zug nach Hamburg fährt heute um 9 Uhr ab."
CLEAN = "The train to Hamburg leaves at 9 o'clock today."


@pytest.mark.parametrize(
    ("perturbed", "kind"),
    [
        (CLEAN, "identical"),
        ("the TRAIN to Hamburg leaves at 9 o'clock today!", "surface"),
        ("The train to Hamburg leaves at 9 o' clock today", "surface"),
        ("Der Zug nach Hamburg fährt heute um 9 Uhr ab.", "copied"),
        ("The train train train train train train train train train train train train leaves.", "repetition"),
        (
            "The train to Hamburg leaves today, the train to Hamburg leaves today, the train to Hamburg leaves today.",
            "repetition",
        ),
        ("The train.", "collapse"),
        ("", "collapse"),
        ("Today the train to Hamburg leaves at 9 o'clock.", "reordering"),
        ("The train to Hamburg does not leave at 9 o'clock today.", "negation"),
        ("The train to Hamburg leaves at 10 o'clock today.", "number"),
        ("The train to Homburg leaves at 9 o'clock today.", "name"),
        ("The railway to Hamburg departs at 9 o'clock today.", "other"),
    ],
)
def test_kinds_of_change(perturbed: str, kind: str) -> None:
    assert kind_of_change(CLEAN, perturbed, SOURCE, Language("en")) == kind


@pytest.mark.parametrize(
    ("clean", "perturbed", "source", "lang", "kind"),
    [
        # Jwalapuram Table 6, examples 2, 8 and 1
        (
            "If you ever want to write to me again, I will be waiting",
            "If ever you do not want to write to me, I will be waiting",
            "Якщо ще колись",
            "en",
            "negation",
        ),
        ("Yes we all have firearms here.", "Yes we have all the firearms here.", "Ja wir", "en", "other"),
        ("give me some advice", "Please give me some advice", "なにかアドバイス下さい。", "en", "other"),
        ("Das ist nicht gut.", "Das ist gut.", "This isn't good", "de", "negation"),
        ("彼は東京に行った。", "彼は東京に行った", "He went to Tokyo", "ja", "surface"),
        ("彼は東京に行った。", "東京に彼は行った。", "He went to Tokyo", "ja", "reordering"),
        ("彼は東京に行った。", "東京東京東京東京東京東京東京東京", "He went to Tokyo", "ja", "repetition"),
        ("About 5 people came.", "About 1,000,000 people came in.", "Etwa 5", "en", "number"),
        ("Hmm.", "Hmmm, well, I say...", "Hm.", "en", "other"),
        ("", "Something", "x", "en", "other"),
        ("...", "!!!", "x", None, "surface"),
        ("a b c", "a b d", "x", "cy", "other"),
        # look-alike letters and capitals that a model could not read: nothing of it is a name, a number or a negation
        ("The railway is rebuilt.", "The railway he ⁇ f Emmerich is rebuilt.", "Der Bahnhօf Emmerich", "en", "garbled"),
        ("Without media there is no hope.", " ⁇ h ⁇ e media are not h ⁇ pe.", "Оhոe Medien keine", "en", "garbled"),
        ("The child plays in the garden.", "The child plaуs in the garden.", "Dаs Kind", "en", "garbled"),
        (
            "Specific protection knows no borders.",
            "ARTENSCHUTC KENNT KENNGENZEN.",
            "ARTENSCHUTZ KENNT KEINE GRENZEN.",
            "en",
            "copied",
        ),
        ("Our data belong to us.", "UNSERE DATEN GEH oilREN UNS.", "UNSERE DATEN GEHÖREN UNS!", "en", "copied"),
    ],
)
def test_natural_examples(clean: str, perturbed: str, source: str, lang: str | None, kind: str) -> None:
    assert kind_of_change(clean, perturbed, source, Language.known(lang)) == kind


def test_every_kind_is_explained() -> None:
    assert all(KINDS.values())


def test_a_name_that_is_copied_in_a_good_translation_is_no_copy() -> None:
    source = "Berlin Paris London Madrid"
    clean, perturbed = "Berlin, Paris, London, Madrid", "Berlin Paris London Madrd"
    assert kind_of_change(clean, perturbed, source, Language("en")) != "copied"


def test_long_texts_are_judged_in_reasonable_time() -> None:
    words = " ".join(f"word{number % 97}" for number in range(3000))
    assert kind_of_change("short text", words, "Quelle", Language("en")) in KINDS


def test_letters_without_end_are_a_repetition() -> None:
    assert kind_of_change("The debate was loud.", "NACHRENRRRRRRRRRRRRUUUUUUUUUUU", "DIE DEBATTE") == "repetition"
    humming = ("Mmmmmmmmmm, good.", "Mmmmmmmmmm, very good indeed.", "Mmmmmmmmmm, gut.")
    assert kind_of_change(*humming, Language("en")) != "repetition"
