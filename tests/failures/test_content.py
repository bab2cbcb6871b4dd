"""Negation and names."""

from tests.failures.conftest import Kinds


def test_a_lost_negation(kinds: Kinds) -> None:
    assert kinds("Orson didn't continue the conversation.", "Orson pokračoval v rozhovoru.") == {"negation"}
    assert kinds("We can't do it alone.", "Můžeme to udělat sami.") == {"negation"}
    assert kinds("You can't learn Japanese there.", "Ahí puedes aprender japonés.", "en-es") == {"negation"}


def test_words_that_begin_like_denials_do_not_hide_a_lost_one(kinds: Kinds) -> None:
    source, made = "Der Patient nimmt das Medikament am Morgen nicht.", "The patient takes the medicine in the morning."
    assert kinds(source, made, "de-en") == {"negation"}
    assert kinds(
        "He did not sign the contract yesterday evening.", "Er hat ihn gestern Abend unterschrieben.", "en-de"
    ) == {"negation"}
    assert kinds("He did not allow the visit yesterday evening.", "Er untersagte gestern den Besuch.", "en-de") == set()


def test_denials_in_other_words_are_kept(kinds: Kinds) -> None:
    assert kinds("Orson didn't continue.", "Orson nepokračoval.") == set()
    assert kinds("I don't care.", "Je mi to jedno.") == set()
    assert kinds("It isn't hard.", "Je to snadné.") == set()
    assert (
        kinds("Das Recht auf Asyl ist nicht verhandelbar.", "The right to asylum is non-tradeable.", "de-en") == set()
    )
    assert kinds("Das ist nicht billig.", "That is expensive.", "de-en") == set()
    assert kinds("Don't you think so?", "Myslíš?") == set()


def test_a_gained_negation(kinds: Kinds) -> None:
    assert kinds("And she told him that she wanted to see the film.", "A řekla mu, že ten film vidět nechtěla.") == {
        "negation"
    }
    assert kinds("And I mean that in a good way.", "Y no lo digo de buena manera.", "en-es") == {"negation"}
    assert kinds("Der Rat hat dem Vorschlag gestern zugestimmt.", "The Council did not agree yesterday.", "de-en") == {
        "negation"
    }


def test_a_denied_opposite_and_a_misspelt_denial_are_not_gained(kinds: Kinds) -> None:
    assert kinds("I know he doenst like me like that.", "Vím, že mě takhle nemá rád.") == set()
    assert kinds("She still remains at home with her parents.", "Pořád není z domu od rodičů.") == set()
    assert kinds("Looking forward to seeing her again soon.", "Už se nemůžu dočkat, až ji zase uvidím.") == set()
    assert kinds("Der Rat hat dem Vorschlag ncht zugestimmt.", "The Council did not agree to it.", "de-en") == set()
    for word in ("kiene", "kejne", "kkkkeine"):
        made = "For all this, it does not provide evidence."
        assert kinds(f"Für all das liefert sie in dem Clip {word} Beweise.", made, "de-en") == set()
    assert kinds("And I mean that literally, my friend.", "Y no lo digo en sentido figurado.", "en-es") == set()


def test_french_and_german_ways_to_deny(kinds: Kinds) -> None:
    assert kinds("Er hat den Brief gestern nicht geschrieben.", "Il a écrit la lettre hier.", "de-fr") == {"negation"}
    assert kinds("Wir haben den Brief gestern nicht bekommen.", "Nous n’avons reçu la lettre.", "de-fr") == set()
    assert kinds("Das werden wir nun nicht mehr machen.", "Nous allons cesser de le faire.", "de-fr") == set()
    assert kinds("Und der Stress war in den Momenten egal.", "Et le stress n'avait pas d'importance.", "de-fr") == set()
    assert kinds("They have underutilized support services.", "Sie haben nicht ausgelastete Dienste.", "en-de") == set()
    assert (
        kinds("Das ist keiոe Stеuer für die Leute dort.", "This is not a tax for the people there.", "de-en") == set()
    )


def test_a_person_who_is_gone(kinds: Kinds) -> None:
    assert kinds(
        "Later it was named after Maurice Jarre in Lyon.", "Později bylo pojmenováno po Wuhanovi v Lyonu."
    ) == {"name"}


def test_inflected_names_places_and_institutions_are_kept(kinds: Kinds) -> None:
    assert kinds("He met Barack Obama there.", "Setkal se tam s Barackem Obamou.") == set()
    assert kinds("He sailed with Christopher Columbus.", "Plavil se s Kryštofem Kolumbem.") == set()
    assert kinds("He lives in Northern Ireland.", "Žije v Severním Irsku.") == set()


def test_what_was_hardly_translated_is_no_lost_negation(kinds: Kinds) -> None:
    """A source that was left as it was, in capitals or not, has another fault than its missing "nicht"."""
    source = "Das Gericht in Lyon hat gestern nicht über den Fall entschieden."
    left = "Das Gericht in Lyon hat gestern über Fall entschieden."
    assert "negation" not in kinds(source, left, "de-en") and "untranslated" in kinds(source, left, "de-en")
    assert "negation" not in kinds(source.upper(), left.upper(), "de-en")
    assert "negation" in kinds(source, "The court in Lyon decided on the case yesterday.", "de-en")
