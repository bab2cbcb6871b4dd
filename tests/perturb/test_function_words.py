"""Determiners, negation and pronouns: Kanojia's examples and other languages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.perturb.kanojia import BLACKWOOD, UKIP

from babelquake.languages import Language
from babelquake.perturb import Perturbation
from babelquake.perturb.linguistics import linguistics, word_lists
from babelquake.perturb.suite import suite

NAMES = ["det-remove", "det-replace", "negation-remove", "negation-insert", "pronoun-gender"]
LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "ru", "uk"]
WORDS = [
    "The",
    "the",
    "a",
    "that",
    "not",
    "never",
    "n't",
    "can't",
    "won’t",
    "is",
    "her",
    "he",
    "she",
    "l'eau",
    "n'est",
    "pas",
    "die",
    "nicht",
    "dog",
    ",",
    ".",
    "7",
    "",
]
SENTENCES = st.lists(st.sampled_from(WORDS)).map(" ".join)


def change(name: str, text: str, lang: str | None = "en", replicate: int = 0) -> str | None:
    return Perturbation(name).apply(text, lang=lang, replicate=replicate)


def test_mpp3_of_kanojia_table_2() -> None:
    assert change("det-remove", UKIP) == (
        "In 2014 European Parliamentary elections, UKIP, party of extreā dreaptā, obtained more than 20 seats "
        "in European Parliament."
    )


def test_mpp4_of_kanojia_table_2_puts_other_determiners_in_their_places() -> None:
    lists = word_lists(Language("en"))
    assert lists is not None
    for replicate in range(20):
        changed = change("det-replace", UKIP, replicate=replicate)
        assert changed is not None
        old, new = UKIP.split(), changed.split()
        differing = [(before, after) for before, after in zip(old, new, strict=True) if before != after]
        assert [before for before, _ in differing] == ["the", "the"]
        assert {after for _, after in differing} <= set(lists.replacements)
    assert {"such", "those"} <= set(lists.replacements)


def test_map1_of_kanojia_table_3() -> None:
    assert change("negation-remove", BLACKWOOD) == BLACKWOOD.replace("had not intended", "had intended")
    assert change("negation-remove", UKIP) is None


@pytest.mark.parametrize(
    ("lang", "negated", "affirmed"),
    [
        ("en", "They won't go and he can’t stay.", "They will go and he can stay."),
        ("en", "We cannot wait; she doesn't know.", "We can wait; she does know."),
        ("de", "Er hat das nicht gesagt.", "Er hat das gesagt."),
        ("fr", "Il n'est pas venu.", "Il est venu."),
        ("es", "No es cierto.", "es cierto."),
        ("it", "Non è vero.", "è vero."),
        ("pt", "Ele não veio.", "Ele veio."),
        ("nl", "Hij komt niet.", "Hij komt."),
        ("ru", "Он не пришёл.", "Он пришёл."),
        ("uk", "Він не прийшов.", "Він прийшов."),
    ],
)
def test_negation_is_removed_in_every_listed_language(lang: str, negated: str, affirmed: str) -> None:
    assert change("negation-remove[markers=all]", negated, lang) == affirmed


def test_the_paper_s_negation_markers_are_cut_out() -> None:
    assert change("negation-remove", "They won't go; no vote was not lost.") == "They wo go; vote was lost."
    assert change("negation-remove", "We cannot wait, never.") is None
    assert change("negation-remove", "Not now, or not, or no-one.") == "now, or not, or no-one."
    assert change("negation-remove[markers=all]", "We can wait, never.") == "We can wait,."


@pytest.mark.parametrize(
    ("lang", "affirmed", "negated"),
    [
        ("en", "The vote is valid.", "The vote is not valid."),
        ("de", "Die Abstimmung ist gültig.", "Die Abstimmung ist nicht gültig."),
        ("de", "Er weiß, dass sie kommen kann.", "Er weiß, dass sie nicht kommen kann."),
        ("es", "La votación es válida.", "La votación no es válida."),
        ("it", "Il voto può aspettare.", "Il voto non può aspettare."),
        ("ru", "Он был дома.", "Он не был дома."),
        ("en", "The vote is not valid.", None),
        ("en", "Hello there", None),
        ("pl", "Jest dobrze.", None),
    ],
)
def test_negation_is_inserted_where_the_language_puts_it(lang: str, affirmed: str, negated: str | None) -> None:
    assert change("negation-insert", affirmed, lang) == negated


@pytest.mark.parametrize(
    ("lang", "before", "after"),
    [
        ("en", "She said he lost himself.", "He said she lost herself."),
        ("de", "Er kam.", "Sie kam."),
        ("fr", "Il vient.", "Elle vient."),
        ("uk", "Він тут.", "Вона тут."),
        ("en", "They came.", None),
    ],
)
def test_pronouns_change_gender(lang: str, before: str, after: str | None) -> None:
    assert change("pronoun-gender", before, lang) == after


@pytest.mark.parametrize(
    ("lang", "before", "after"),
    [
        ("de", "Die Frau, die sie sah, kauft das Haus.", "Frau, die sie sah, kauft Haus."),
        ("fr", "Avec l'Europe et la France.", "Avec Europe et France."),
        ("en", "He said that he saw the other man.", "He said that he saw other man."),
        ("en", "No dogs.", None),
        ("en", "That", None),
        ("ja", "この研究は初期段階にある。", None),
    ],
)
def test_only_determiners_of_a_noun_go(lang: str, before: str, after: str | None) -> None:
    """Relative pronouns and conjunctions of the same form stay, and so does negation."""
    assert change("det-remove", before, lang) == after


@pytest.mark.parametrize(
    ("lang", "before", "after"),
    [
        ("en", "No country has the key, and neither man saw a dog.", "No country has key, and neither man saw dog."),
        ("de", "Keine Frau kauft das Haus.", "Keine Frau kauft Haus."),
    ],
)
def test_a_determiner_that_negates_is_not_harmless(lang: str, before: str, after: str) -> None:
    """A tagger calls `no` a determiner, lists do not: both leave it, but in the suite of the paper's authors."""
    assert change("det-remove", before, lang) == after
    probes = {perturbation.name: perturbation for perturbation in suite("kanojia2021").perturbations}
    assert probes["det-remove"].apply(before, lang=lang) == after
    kept = {"No", "neither", "Keine"} & set(before.split())
    for replicate in range(5):
        assert kept <= set((probes["det-replace"].apply(before, lang=lang, replicate=replicate) or "").split())


@given(st.one_of(st.text(), SENTENCES), st.sampled_from(NAMES), st.sampled_from([*LANGUAGES, "ja", None]))
def test_any_text_is_served_the_same_way_twice(text: str, name: str, lang: str | None) -> None:
    assert change(name, text, lang) == change(name, text, lang)


@given(SENTENCES, st.sampled_from(LANGUAGES))
def test_words_that_are_no_determiners_stay(text: str, lang: str) -> None:
    gone = [span.text for span in linguistics(Language(lang)).determiners(text)]
    changed = change("det-remove", text, lang)
    if not gone:
        assert changed is None
    elif changed is not None:
        kept = "".join(text.split())
        for part in gone:
            kept = kept.replace(part, "", 1) if part in kept else kept
        assert sorted("".join(changed.split())) == sorted(kept)


def test_signatures_name_the_lists() -> None:
    assert Perturbation("det-remove").signature("de-AT") == "det-remove|lists:de"
    assert Perturbation("negation-remove").signature("fr") == "negation-remove|lists:fr"
    assert Perturbation("word-drop").signature("ja") == "word-drop[level=1]|lists:none"
