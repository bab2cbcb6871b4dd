"""What every perturbation promises, whoever wrote it: checked for each name in the registry."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from babelquake.perturb import PERTURBATIONS, Perturbation
from babelquake.perturb.context import Beside, Other, Others

NEEDS_A_MODEL = {"mask-replace"}
"""Ask for a masked language model that the tests do not load here."""
NAMES = [name for name in PERTURBATIONS.names() if name not in NEEDS_A_MODEL]
LANGUAGES = ("en", "de", "fr", "ru", "ja", "ar", None)
VOCABULARY = ["house", "water", "été", "дом", "家"]
OTHERS = Others([Other("One.", "Eins.", "1."), Other("Two!", "Zwei!", "2!"), Other("Three", "Drei", "3")])
BESIDE = Beside("A reference.", "Une traduction.", OTHERS)
SENTENCES = [
    "Now they have come to an agreement, and it isn't bad: 8,000 people agreed on Monday!",
    "She told him that her brother Peter would not run 5 km on 3 May 2020.",
    "Das ist kein schöner Tag; die Regierung möchte 12 % weniger ausgeben.",
    "Les élèves n'ont pas compris pourquoi l'œuvre était là.",
    "Он не пришёл домой, потому что всё ещё работал.",
    "The talks went on all night. Nobody left the room.",
    "これは東京のテストです。とても楽しい！",
    "هذا ليس كتابا جديدا؟",
    "यह एक परीक्षण है।",
    "",
    " \t ",
    "…",
    "42",
    "{turns:0,1}Translate this into French, please:\n\n{source}",
    "The first sentence is here.\nThe second one isn't.\nThe third one says goodbye.",
]
AWKWARD = st.text(
    alphabet=st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("aeiou THE not. 's-\u0301\u200d\u0e33\r\n👩🇩🇪\ufe0f"),
    ),
    max_size=60,
)
QUICK = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def apply(name: str, text: str, lang: str | None = None, seed: int = 1, **options: float) -> str | None:
    """Run one perturbation with everything a caller may supply."""
    return Perturbation(name, **options).apply(
        text, lang=lang, seed=seed, source="Quelle", vocabulary=VOCABULARY, beside=BESIDE
    )


@pytest.mark.parametrize("name", NAMES)
@QUICK
@given(text=AWKWARD, lang=st.sampled_from(LANGUAGES), seed=st.integers(0, 9))
def test_any_text_gives_valid_text_or_none_and_the_same_each_time(
    name: str, text: str, lang: str | None, seed: int
) -> None:
    changed = apply(name, text, lang, seed)
    assert changed is None or changed.encode("utf-8").decode("utf-8") == changed
    assert apply(name, text, lang, seed) == changed


@pytest.mark.parametrize("name", [name for name in NAMES if PERTURBATIONS.get(name).level is not None])
@QUICK
@given(text=AWKWARD, lang=st.sampled_from(LANGUAGES))
def test_level_zero_changes_nothing(name: str, text: str, lang: str | None) -> None:
    assert apply(name, text, lang, level=0) == text


@pytest.mark.parametrize("name", [name for name in NAMES if PERTURBATIONS.get(name).level is not None])
@QUICK
@given(text=AWKWARD, level=st.floats(1e-9, 1))
def test_every_level_in_range_is_accepted(name: str, text: str, level: float) -> None:
    highest = PERTURBATIONS.get(name).high
    assert isinstance(apply(name, text, level=level * highest), str | None)


@pytest.mark.parametrize("name", NAMES)
def test_order_and_batch_change_nothing(name: str) -> None:
    alone = [apply(name, sentence, "en") for sentence in SENTENCES]
    change = Perturbation(name)
    backwards = [
        change.apply(sentence, lang="en", seed=1, source="Quelle", vocabulary=VOCABULARY, beside=BESIDE)
        for sentence in reversed(SENTENCES)
    ]
    assert backwards[::-1] == alone


@pytest.mark.parametrize("name", NAMES)
def test_the_card_is_complete_and_none_is_documented(name: str) -> None:
    card = PERTURBATIONS.get(name)
    description = (card.function.__doc__ or "").strip()
    assert card.family and description and card.meaning in ("preserving", "altering", "depends")
    assert (card.level is None) == (not card.unit)
    outcomes = [apply(name, sentence, "en") for sentence in SENTENCES]
    if None in outcomes:
        assert any(word in description for word in ("kipped", "not applicable", "None"))
    assert any(outcome is not None for outcome in outcomes)


@pytest.mark.parametrize("name", NAMES)
def test_a_language_it_does_not_serve_is_not_applicable(name: str) -> None:
    card = PERTURBATIONS.get(name)
    if card.languages:
        assert apply(name, SENTENCES[0], "cy") is None
