"""Character-level changes: what each may do to a word, on the papers' own sentences and on awkward text."""

import re
import unicodedata
from importlib.resources import files

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.perturb import Perturbation, perturb
from babelquake.perturb.spelling import TYPO_LANGUAGES, layouts, typo_list
from babelquake.perturb.suite import suite
from babelquake.perturb.table import perturb_table
from babelquake.perturb.typography import homoglyphs
from babelquake.perturb.zeroe import INTRUDERS, VOWELS, lookalikes
from babelquake.text import graphemes

AGREEMENT = "Now they have come to an agreement."
FINNISH = "Se kyllä tuntuu sangen luultavalta."
SEEDS = range(40)
WHOLE = ["e\u0301", "🇩🇪", "👩‍💻", "नि", "각", "ก็", "☀️"]
"""Graphemes of several code points, each of which stays whole or goes whole."""


def variants(name: str, text: str, lang: str = "en", **options: object) -> set[str]:
    """What a few seeds make of a text."""
    return {changed for seed in SEEDS if (changed := Perturbation(name, **options).apply(text, lang=lang, seed=seed))}


def distance(one: str, other: str) -> int:
    """Edit distance in letters."""
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, row[0] = row[0], i
        for j, b in enumerate(other, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (a != b))
    return row[-1]


def test_niu_table_1_is_a_finnish_misspelling_with_a_neighbouring_key() -> None:
    assert "m" in layouts()["fi"].letter_neighbours["n"]
    assert "Se kyllä tumtuu sangen luultavalta." in {
        changed
        for seed in range(3000)
        if (changed := Perturbation("misspell", level=0.2).apply(FINNISH, lang="fi", seed=seed))
    }


def test_a_misspelt_word_is_one_edit_away() -> None:
    for changed in variants("misspell", FINNISH, "fi", level=1):
        pairs = list(zip(FINNISH.split(), changed.split(), strict=True))
        assert all(distance(word, typo) <= 1 for word, typo in pairs)
        assert sum(word != typo for word, typo in pairs) >= 4


def test_accented_letters_are_never_substituted() -> None:
    for changed in variants("misspell", "äöü", "de", level=1):
        assert len(changed) != 3 and set("äöü") & set(changed)


def test_numbers_and_punctuation_are_not_misspelt() -> None:
    assert variants("misspell", "1234 -- 5.6 !", level=1) == {"1234 -- 5.6 !"}


def test_japanese_loses_or_repeats_characters_only() -> None:
    text = "東京は今日も雨です。"
    made = variants("misspell", text, "ja", level=0.3)
    assert len(made) > 10
    for changed in made:
        assert set(changed) <= set(text)
        assert re.sub(r"(.)\1", r"\1", changed) in _subsequences_of(text, changed)


def _subsequences_of(text: str, changed: str) -> set[str]:
    """The changed text with doubles undone, when it is a subsequence of the text."""
    single = re.sub(r"(.)\1", r"\1", changed)
    letters = iter(text)
    return {single} if all(char in letters for char in single) else set()


@pytest.mark.parametrize(("to", "made"), [("upper", "DON'T STOP"), ("lower", "don't stop"), ("title", "Don't Stop")])
def test_one_style_of_case_alone(to: str, made: str) -> None:
    assert variants("case", "don't Stop", level=1, to=to) == {made}
    everyday = [change.cell for change in suite("everyday").perturbations if change.name == "case"]
    assert (f"case[to={to}]", 1.0) in everyday and len(everyday) == 3
    assert [change.label for change in suite("niu2020").perturbations if change.name == "case"] == ["case"]


def test_case_is_upper_lower_or_title_and_japanese_has_none() -> None:
    assert variants("case", "don't Stop", level=1) == {"DON'T STOP", "don't stop", "Don't Stop"}
    assert perturb("case", ["東京です。", "مرحبا"], level=1) == [None, None]


def test_intruders_stand_between_characters_only() -> None:
    for changed in variants("intrude", AGREEMENT, level=0.3):
        assert changed != AGREEMENT
        kept = [(word, attacked) for word, attacked in zip(AGREEMENT.split(), changed.split(), strict=True)]
        for word, attacked in kept:
            body = attacked.removesuffix(".")
            inserted = {char for char in body if char in INTRUDERS}
            assert "".join(char for char in body if char not in INTRUDERS) == word.removesuffix(".")
            assert len(inserted) <= 1 and body[0] not in INTRUDERS and body[-1] not in INTRUDERS


def test_disemvowelling_removes_all_vowels_of_a_word_and_nothing_else() -> None:
    made = variants("disemvowel", AGREEMENT, level=0.3)
    assert any("grmnt" in changed for changed in made)
    for changed in made:
        for word, attacked in zip(AGREEMENT.split(), changed.split(), strict=True):
            assert attacked in (word, "".join(char for char in word if char not in VOWELS))
        assert " to an " in changed


def test_a_keyboard_typo_hits_one_neighbouring_key_a_word() -> None:
    near = layouts()["en"].neighbours
    assert "3" in near["w"] and "r" in near["e"]
    for changed in variants("keyboard-typo", AGREEMENT, level=0.3):
        wrong = [(a, b) for a, b in zip(AGREEMENT, changed, strict=True) if a != b]
        assert len(wrong) == 3 and all(typed in near[key] for key, typed in wrong)


def test_visual_attacks_keep_the_letter_underneath() -> None:
    assert set("EÈè") <= set(lookalikes()["e"]) | set(lookalikes()["E"])
    for changed in variants("visual", AGREEMENT, level=0.3):
        assert len(changed) == len(AGREEMENT)
        for letter, attacked in zip(AGREEMENT, changed, strict=True):
            assert attacked == letter or attacked in lookalikes()[letter]


def test_shuffles_keep_the_letters() -> None:
    for changed in variants("inner-shuffle", AGREEMENT, level=1):
        for word, attacked in zip(AGREEMENT.split(), changed.split(), strict=True):
            assert sorted(word) == sorted(attacked) and (word[0], word[-1]) == (attacked[0], attacked[-1])
    for changed in variants("full-shuffle", AGREEMENT, level=1):
        assert [sorted(word) for word in AGREEMENT.split()] == [sorted(word) for word in changed.split()]


def test_truncation_and_segmentation() -> None:
    assert variants("truncate", AGREEMENT, level=1) == {"No the hav com to an agreemen."}
    assert variants("segment", AGREEMENT, level=1) == {"Nowtheyhavecometoanagreement."}
    assert perturb("segment", ["one"], level=1) == [None]


def test_natural_typos_come_from_the_list_and_keep_the_casing(tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("typos") / "list.txt"
    file.write_text("# real ones\nreceive recieve\nBerlin Berlim\n", encoding="utf-8")
    text = "Receive it in Berlin, RECEIVE!"
    assert variants("natural-typo", text, level=1, file=file) == {"Recieve it in Berlim, RECIEVE!"}
    assert typo_list(str(file))["receive"] == ("recieve",)
    with pytest.raises(UserError, match="cannot be read"):
        perturb("natural-typo", [text], file=str(file) + ".missing")


def test_natural_typos_without_a_language_are_refused_and_the_languages_named() -> None:
    for call in (lambda: perturb("natural-typo", ["I receive it."]), lambda: perturb_table("natural-typo", ["Ja."])):
        with pytest.raises(UserError) as told:
            call()
        assert all(code in str(told.value) for code in ("natural-typo", "cs, de, en, es, fr", "file="))
    shipped = (files("babelquake.perturb") / "lexicon/natural-typos").iterdir()
    assert sorted(file.name.removesuffix(".txt") for file in shipped) == list(TYPO_LANGUAGES)
    table = perturb_table("everyday", ["I receive it."])
    assert table.filter(perturbation="natural-typo")["text"].to_list() == [None]


def test_german_typos_of_the_public_list(shared_data: object) -> None:
    made = variants(
        "natural-typo", "Das ist ganz geboren.", "de", level=1, file=f"{shared_data}/natural-typos/de.natural"
    )
    assert any("geworen" in changed for changed in made)


def test_repeated_letters_collapse_to_the_word() -> None:
    for changed in variants("repeat-letters", "so good", level=1):
        assert re.sub(r"(.)\1+", r"\1", changed) == "so god" and changed != "so good"


def test_white_space_leaves_the_words() -> None:
    for changed in variants("whitespace", AGREEMENT, level=0.5):
        assert changed.split() == AGREEMENT.split()


def test_diacritics_leave_base_letters() -> None:
    assert perturb("diacritics", ["Très über Łódź", "plain", "ёлка й", "Ελλάδα"]) == [
        "Tres uber Lodz",
        None,
        "елка й",
        "Ελλαδα",
    ]


def test_homoglyphs_come_from_other_scripts() -> None:
    assert "а" in homoglyphs()["a"]
    for changed in variants("homoglyph", "peace", level=1):
        assert all("LATIN" not in unicodedata.name(char) for char in changed)


def test_scanning_confuses_known_shapes() -> None:
    assert {"m", "rn"} <= variants("ocr", "rn", level=1) | variants("ocr", "m", level=1)


@given(st.text(max_size=40))
@settings(max_examples=50, deadline=None)
def test_an_emoji_is_added_and_nothing_else(text: str) -> None:
    changed = Perturbation("emoji").apply(text)
    if changed is None:
        assert not text.strip()
        return
    assert len(changed) > len(text)
    start = next((i for i, (a, b) in enumerate(zip(text, changed, strict=False)) if a != b), len(text))
    assert any(text[:cut] + changed[cut + len(changed) - len(text) :] == text for cut in range(start + 1))


@pytest.mark.parametrize(
    "name",
    [
        "misspell",
        "natural-typo",
        "repeat-letters",
        "intrude",
        "disemvowel",
        "keyboard-typo",
        "phonetic",
        "visual",
        "inner-shuffle",
        "full-shuffle",
        "truncate",
        "segment",
        "whitespace",
        "homoglyph",
        "ocr",
        "case",
    ],
)
@settings(max_examples=40, deadline=None)
@given(words=st.lists(st.lists(st.sampled_from([*WHOLE, "a", "T", "ж"]), min_size=1, max_size=6), max_size=5))
def test_graphemes_are_never_split(name: str, words: list[list[str]]) -> None:
    text = " ".join("".join(word) for word in words)
    changed = Perturbation(name, level=1).apply(text, lang="en", seed=3)
    if changed is not None:
        several = {unit.lower() for unit in graphemes(changed) if len(unit) > 1}
        assert several <= {unit.lower() for unit in graphemes(text)}


def test_every_keyboard_has_its_alphabet() -> None:
    boards = layouts()
    assert {"en", "de", "fr", "es", "it", "pt", "pl", "cs", "tr", "ru", "uk"} <= boards.keys()
    for lang, board in boards.items():
        alphabet = "абвгдежзийклмнопрстуфхцчшщью" if "ЙЦУКЕН" in board.name else "abcdefghijklmnopqrstuvwxyz"
        assert set(alphabet) <= set(board.letters), lang
        assert all(
            key in board.neighbours[other]
            for key, others in board.neighbours.items()
            if key.islower()
            for other in others
        )
    assert set(boards["de"].letter_neighbours["z"]) == set("tugh")
    assert "q" in boards["fr"].letter_neighbours["a"]


def test_one_keyboard_for_all_languages() -> None:
    """Niu 2020 §3: QWERTY; on a German keyboard y and z have changed places, on a French one a and q."""
    qwerty, own = layouts()["en"], layouts()["fr"]
    seen: dict[str, set[str]] = {"own": set(), "qwerty": set()}
    for choice, found in seen.items():
        change = Perturbation("keyboard-typo", level=1, keyboard=choice)
        found |= {(change.apply("aaaa", lang="fr", seed=seed) or "").replace("a", "") for seed in range(60)}
    assert seen["qwerty"] == set(qwerty.typos["a"]) and seen["own"] == set(own.typos["a"])
    for choice, letter in (("qwerty", "t"), ("own", "t")):
        change = Perturbation("misspell", level=1, keyboard=choice)
        words = {change.apply("zzzz", lang="de", seed=seed) or "" for seed in range(200)}
        substituted = {word.replace("z", "") for word in words if len(word) == 4}
        board = layouts()["en" if choice == "qwerty" else "de"]
        assert substituted == set(board.letter_neighbours["z"]) and (letter in substituted) == (choice == "own")


def test_a_keyboard_of_latin_letters_substitutes_no_cyrillic_ones() -> None:
    change = Perturbation("misspell", level=1, keyboard="qwerty")
    for seed in range(40):
        changed = change.apply("молоко", lang="ru", seed=seed) or ""
        assert len(changed) != 6 and all("а" <= letter <= "я" for letter in changed)
