"""Text comes apart and goes together again, in every script."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.languages import Language
from babelquake.text import (
    KIND_OF_MARK,
    ending,
    final_marks,
    graphemes,
    has_case,
    is_punctuation,
    is_unspaced,
    main_script,
    map_words,
    match_case,
    replaced,
    script,
    title,
    tokens,
    without,
    words,
)

ANY = st.text(st.characters(), max_size=40)
MIXED = st.one_of(ANY, st.text("ab AB .!?。！？؟।;…\"'»”)\u00a0\u202f\u0301\u200d👩🏽💻🇩🇪e\r\nक्षि", max_size=30))


@given(MIXED)
def test_words_and_tokens_go_back_where_they_stood(text: str) -> None:
    for spans in (words(text), tokens(text)):
        assert all(text[span.start : span.end] == span.text for span in spans)
        assert all(one.end <= other.start for one, other in pairwise(spans))
        assert replaced(text, [(span.start, span.end, span.text) for span in spans]) == text
    assert not replaced(text, [(span.start, span.end, "") for span in tokens(text)]).strip()
    assert map_words(text, lambda word: None) == text


@given(MIXED)
def test_graphemes_join_to_the_text(text: str) -> None:
    assert "".join(graphemes(text)) == text
    assert all(graphemes(text))


@given(MIXED)
def test_an_ending_reassembles_exactly(text: str) -> None:
    found = ending(text)
    assert "".join(found) == text
    assert not found.tail.strip() and not found.space.strip()
    assert found.kind in {"stop", "exclamation", "question", "other", "none"}
    assert bool(found.mark) == (found.kind != "none")


@given(MIXED, st.data())
def test_without_takes_words_and_nothing_but_space_around_them(text: str, data: st.DataObject) -> None:
    every = words(text)
    chosen = [span for span in every if data.draw(st.booleans())]
    gone = {(span.start, span.end) for span in chosen}
    kept = replaced(text, [(start, end, "") for start, end in sorted(gone)])
    assert "".join(without(text, chosen).split()) == "".join(kept.split())


@pytest.mark.parametrize(
    "whole",
    ["é", "e\u0301", "👩🏽‍💻", "🇩🇪", "👨‍👩‍👧‍👦", "☝️", "कि", "한", "각", "1️⃣", "\r\n", "กำ", "n\u0303"],
)
def test_what_people_see_as_one_character_stays_whole(whole: str) -> None:
    assert graphemes(f"a{whole}b") == ["a", whole, "b"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Don't stop, mother-in-law!", ["Don't", "stop", "mother-in-law"]),
        ("l’été à 5,5 %", ["l’été", "à", "5", "5"]),
        ("«Так», — сказав він.", ["Так", "сказав", "він"]),
        ("यह किताब है।", ["यह", "किताब", "है"]),
        ("می‌خواهم بروم؟", ["می‌خواهم", "بروم"]),
        ("'quoted' -dash-", ["quoted", "dash"]),
        ("👍 ok 👍", ["ok"]),
        ("…", []),
    ],
)
def test_words_of_several_scripts(text: str, expected: list[str]) -> None:
    assert [span.text for span in words(text)] == expected


@pytest.mark.parametrize("space", ["", " ", "\u00a0", "\u202f"])
@pytest.mark.parametrize("tail", ["", "\n", "  "])
@pytest.mark.parametrize(
    ("body", "mark", "kind"),
    [
        ("Das ist gut", ".", "stop"),
        ("Das ist gut", "!", "exclamation"),
        ("Ist das gut", "?", "question"),
        ("これは良い", "。", "stop"),
        ("すごい", "！", "exclamation"),
        ("良いですか", "？", "question"),
        ("هل هذا جيد", "؟", "question"),
        ("یہ اچھا ہے", "۔", "stop"),
        ("यह अच्छा है", "।", "stop"),
        ("Τι κάνεις", ";", "question"),
        ("Τι κάνεις", "\u037e", "question"),
        ("Սա լավ է", "։", "stop"),
        ("Well", "...", "other"),
        ("Well", "…", "other"),
        ("As follows", ":", "other"),
        ("This; and that", ";", "other"),
    ],
)
def test_sentence_ends_with_and_without_a_space(body: str, mark: str, kind: str, space: str, tail: str) -> None:
    found = ending(body + space + mark + tail)
    assert found == (body, space, mark, "", tail)
    assert found.kind == kind


@pytest.mark.parametrize(
    ("text", "mark", "closing"),
    [
        ("Er sagte: „Geh!“", "!", "“"),
        ("« Bonjour. »", ".", " »"),
        ("«\u202fVraiment ?\u202f»", "?", "\u202f»"),
        ('He said "no."', ".", '"'),
        ("(It rained.)", ".", ")"),
        ("彼は「はい。」", "。", "」"),
        ('No "mark"', "", ""),
        ("", "", ""),
        (" ", "", ""),
        (".", ".", ""),
    ],
)
def test_closing_quotes_and_brackets_do_not_hide_the_mark(text: str, mark: str, closing: str) -> None:
    found = ending(text)
    assert (found.mark, found.closing) == (mark, closing)
    assert "".join(found) == text


@pytest.mark.parametrize(
    ("text", "lang", "marks"),
    [
        ("Hallo", "de", ".!?"),
        ("你好", "zh", "。！？"),
        ("こんにちは", "ja", "。！？"),
        ("مرحبا", "ar", ".!؟"),
        ("سلام", "ur", "۔!؟"),
        ("नमस्ते", "hi", "।!?"),
        ("নমস্কার", "bn", "।!?"),
        ("Γειά σου", "el", ".!;"),
        ("Привіт", "uk", ".!?"),
        ("12", None, ".!?"),
    ],
)
def test_each_script_has_its_own_final_marks(text: str, lang: str | None, marks: str) -> None:
    found = final_marks(text, Language.known(lang))
    assert found["stop"] + found["exclamation"] + found["question"] == marks
    for kind, mark in found.items():
        assert ending(text + mark).kind == kind


def test_every_mark_of_a_script_is_known_as_final() -> None:
    assert all(ending(f"a{mark}").mark == mark for mark in KIND_OF_MARK)


@pytest.mark.parametrize(
    ("text", "word", "left"),
    [
        ("a b c", "b", "a c"),
        ("a b c", "a", "b c"),
        ("a b c", "c", "a b"),
        ("He said no.", "no", "He said."),
        ("No, he said.", "No", ", he said."),
        ('He said "no" again', "no", 'He said "" again'),
        ("alone", "alone", ""),
    ],
)
def test_a_word_leaves_no_double_space(text: str, word: str, left: str) -> None:
    assert without(text, [span for span in words(text) if span.text == word]) == left


def test_all_words_can_go() -> None:
    assert without("one two three", words("one two three")) == ""


@pytest.mark.parametrize(
    ("word", "like", "expected"),
    [
        ("house", "DOG", "HOUSE"),
        ("house", "Dog", "House"),
        ("house", "dog", "house"),
        ("house", "A", "House"),
        ("house", "a", "house"),
        ("der", "It's", "Der"),
        ("dog", "iPhone", "dog"),
        ("дом", "Мир", "Дом"),
        ("家", "Dog", "家"),
        ("", "Dog", ""),
    ],
)
def test_a_replacement_takes_the_casing_of_what_it_replaces(word: str, like: str, expected: str) -> None:
    assert match_case(word, like) == expected


def test_title_case_keeps_digraphs_and_apostrophes() -> None:
    assert title("don't") == "Don't"
    assert title("ǆep") == "ǅep"
    assert title("ÉTÉ") == "Été"


def test_case_exists_in_some_scripts_only() -> None:
    assert has_case("abc") and has_case("Привіт") and has_case("Γειά")
    assert not has_case("日本語") and not has_case("مرحبا") and not has_case("12 !")


def test_scripts() -> None:
    assert [script(char) for char in "aяعक漢ひ한1!"] == [
        "Latin",
        "Cyrillic",
        "Arabic",
        "Devanagari",
        "Han",
        "Hiragana",
        "Hangul",
        "",
        "",
    ]
    assert main_script("Die Stadt Київ liegt hier") == "Latin"
    assert main_script("12 + 5") == ""
    assert is_unspaced("東京タワー") and is_unspaced("สวัสดี") and not is_unspaced("한국어 문장")
    assert not is_unspaced("Der Tokioter 東京 Turm")


@given(st.characters())
def test_punctuation_is_a_question_any_character_can_answer(char: str) -> None:
    assert is_punctuation(char) in (True, False)
    assert not (is_punctuation(char) and char.isalnum())
