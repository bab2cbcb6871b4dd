"""Content words: Kanojia's examples, and what stays as it was; words out of order; the tables made of WordNet 3.0."""

import importlib.util
import sys
from collections import Counter
from collections.abc import Callable
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.perturb.kanojia import BLACKWOOD, UKIP

from babelquake.errors import UserError
from babelquake.languages import Language
from babelquake.perturb import Perturbation
from babelquake.perturb.content_words import antonyms
from babelquake.perturb.linguistics import linguistics, not_stop_words
from babelquake.perturb.suite import suite
from babelquake.perturb.vocabulary import Vocabulary, vocabulary, vocabulary_of
from babelquake.text import words

VOCABULARY = ["party", "Ferris", "seats"]
NAMES = [
    "upper-words",
    "lower-words",
    "word-drop",
    "word-repeat",
    "word-insert",
    "word-replace",
    "antonym",
]
SENTENCES = st.lists(
    st.sampled_from(
        ["The", "Straße", "ǅ", "İstanbul", "had", "don't", "ΣΊΣΥΦΟΣ", "good", ",", ".", "7", "病院", "カナダ"]
    )
).map(" ".join)


def change(name: str, text: str, lang: str | None = "en", replicate: int = 0) -> str | None:
    return Perturbation(name).apply(text, lang=lang, replicate=replicate, vocabulary=VOCABULARY)


def replicates(name: str, text: str, n: int = 20, lang: str = "en") -> set[str]:
    found = {change(name, text, lang, replicate) for replicate in range(n)}
    assert None not in found
    return {text for text in found if text is not None}


@pytest.mark.parametrize(("name", "case"), [("upper-words", str.upper), ("lower-words", str.lower)])
def test_mpp5_and_mpp6_change_the_case_of_random_content_words(name: str, case: Callable[[str], str]) -> None:
    variants = replicates(f"{name}[words=content]", UKIP)
    assert len(variants) > 5
    content = {word.text for word in linguistics(Language("en")).content_words(UKIP)}
    for variant in variants:
        changed = [(old, new) for old, new in zip(words(UKIP), words(variant), strict=True) if old != new]
        assert changed
        assert all(old.text in content and new.text == case(old.text) for old, new in changed)


def test_lower_case_of_kanojia_table_2_can_be_drawn() -> None:
    """MPP6 there: 'parliamentary' and 'ukip' in lower case, 'European Parliament' as it was."""
    shown = UKIP.replace("Parliamentary", "parliamentary").replace("UKIP", "ukip")
    assert shown in replicates("lower-words[level=0.4,words=content]", UKIP, 200)


def test_map2_of_kanojia_table_3_drops_december() -> None:
    assert BLACKWOOD.replace("in December,", "in,") in replicates("word-drop", BLACKWOOD, 150)
    assert all(len(words(text)) == len(words(BLACKWOOD)) - 1 for text in replicates("word-drop", BLACKWOOD))


def test_map3_of_kanojia_table_3_repeats_realizing() -> None:
    assert BLACKWOOD.replace("realizing", "realizing realizing") in replicates("word-repeat", BLACKWOOD, 150)


def test_map4_of_kanojia_table_3_inserts_party() -> None:
    assert BLACKWOOD.replace("Buddhism", "Buddhism party") in replicates("word-insert", BLACKWOOD, 600)


def test_inserted_words_never_stand_beside_themselves() -> None:
    for text in replicates("word-insert[level=20]", "party seats party Ferris Ferris seats", 50):
        every = [word.text for word in words(text)]
        assert sum(left == right for left, right in pairwise(every)) <= 1


def test_map5_of_kanojia_table_3_replaces_outrage_by_ferris() -> None:
    assert BLACKWOOD.replace("outrage", "Ferris") in replicates("word-replace", BLACKWOOD, 300)


def test_map7_of_kanojia_table_3_replaces_words_by_antonyms() -> None:
    """The paper's five words, inflected here: lack, keep, refuse, record, recall."""
    seen: Counter[str] = Counter()
    for text in replicates("antonym", BLACKWOOD, 40):
        seen.update({word.text for word in words(text)} - {word.text for word in words(BLACKWOOD)})
    assert {"lacked", "keep", "refused", "recorded", "recalled"} <= set(seen)
    assert change("antonym", BLACKWOOD, "de") is None
    assert change("antonym", "Good day") in {"Bad day", "Evil day", "Ill day", "Bad night", "Good night"}


def test_mpp5_of_the_authors_upper_cases_any_word_with_probability_one_half() -> None:
    """48 % of all tokens, punctuation included, as they had it; a word that has no case counts as drawn too."""
    changed = total = 0
    for replicate in range(300):
        variant = change("upper-words", UKIP, replicate=replicate) or ""
        pairs = list(zip(words(UKIP), words(variant), strict=True))
        changed += sum(old.text != new.text for old, new in pairs)
        total += sum(old.text != old.text.upper() for old, _ in pairs)
    assert changed / total == pytest.approx(0.5, abs=0.02)
    assert any(change("upper-words", "a cat", replicate=replicate) == "a cat" for replicate in range(30))
    assert change("upper-words", "2014, 20.") is None


def test_a_content_word_of_the_authors_is_no_stop_word_and_numbers_count() -> None:
    found = {word.text for word in not_stop_words(UKIP, Language("en"))}
    assert {"2014", "20", "elections", "party"} <= found and not {"In", "the", "of"} & found
    dropped = replicates("word-drop[content=stop-words]", UKIP, 200)
    assert any("2014" not in text for text in dropped)
    assert not any("2014" not in text for text in replicates("word-drop", UKIP, 200))


def test_map4_inserts_after_a_content_word() -> None:
    content = {word.text for word in linguistics(Language("en")).content_words(UKIP)}
    for text in replicates("word-insert", UKIP, 60):
        every = [word.text for word in words(text)]
        before = {every[place - 1] for place, word in enumerate(every) if word in ("Ferris", "seats") and place}
        assert any(word in content for word in before) or "party" in every


def test_map6_and_map7_change_ten_words_at_most() -> None:
    long = " ".join(["good day and bad night"] * 20) + "."
    for replicate in range(5):
        variant = change("antonym[level=1]", long, replicate=replicate) or ""
        pairs = zip(words(long), words(variant), strict=True)
        assert sum(old.text != new.text for old, new in pairs) == 10


def test_the_shipped_words_make_a_change_depend_on_the_text_alone() -> None:
    """One more line in a file used to change 89 of 100 others."""
    texts = ["The court met on Monday.", "A spokesman denied the report."]
    alone = suite("word-insert,word-replace", 3).variants(["1"], texts[:1], lang="en", seed=3)
    among = suite("word-insert,word-replace", 3).variants(["1", "2"], texts, lang="en", seed=3)
    assert alone["text"].to_list() == among.filter(among["id"] == "1")["text"].to_list()
    assert None not in alone["text"].to_list()


def test_the_vocabulary_is_shipped_or_the_data_s_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "words.txt"
    file.write_text("# mine\nzebra\n", "utf-8")
    assert change_shipped(f"word-replace[vocabulary={file}]", "House") == "zebra"
    signature = Perturbation("word-replace", vocabulary=str(file)).signature("en")
    assert "vocabulary:words.txt#" in signature
    assert "vocabulary:shipped:en#" in Perturbation("word-replace").signature("en")
    drawn = Vocabulary(["zebra", "gnu"])
    assert drawn.signature in Perturbation("word-replace[vocabulary=data]").signature("en", drawn)
    assert Vocabulary(["gnu"]).signature != drawn.signature
    with pytest.raises(UserError, match="shipped, data or a file"):
        change_shipped("word-replace[vocabulary=nowhere]", "House")
    assert change_shipped("word-replace", "Ty a dom", "cy") is None
    for path in files("babelquake.perturb").joinpath("lexicon/content").iterdir():
        found = vocabulary("shipped", Language(path.name.removesuffix(".txt")))
        assert found is not None and len(found) > 90


def change_shipped(spec: str, text: str, lang: str = "en") -> str | None:
    return Perturbation(spec).apply(text, lang=lang)


def test_kanojia_s_vocabulary_is_the_data_s() -> None:
    drawing = {change.name: change.vocabulary for change in suite("kanojia2021").perturbations if change.vocabulary}
    assert drawing == {"word-insert": "data", "word-replace": "data"}
    assert {change.vocabulary for change in suite("kanojia2021").drawing_from("shipped").perturbations} == {
        None,
        "shipped",
    }


def test_the_authors_code_draws_map5_from_every_word_and_map4_from_content_words() -> None:
    texts = ["The minister of the interior did resign.", "Nobody knew about it before."]
    words = vocabulary_of(texts, Language("en"))
    changes = {change.name: change for change in suite("kanojia2021-authors").perturbations}
    assert changes["word-insert"].vocabulary == "data" and changes["word-replace"].vocabulary == "data-all"
    for name in ("word-drop", "word-repeat", "word-insert", "word-replace"):
        assert changes[name].options["content"] == "stop-words", name
    drawn = {
        name: {
            new
            for seed in range(300)
            for new in str(changes[name].apply("A vote", lang="en", seed=seed, vocabulary=words)).split()
        }
        - {"A", "vote"}
        for name in ("word-insert", "word-replace")
    }
    assert drawn["word-insert"] == set(words)
    assert drawn["word-replace"] == set(words.every) > set(words)
    assert {"of", "the", "about", "it"} <= set(words.every) - set(words)


def test_a_word_can_be_inserted_anywhere() -> None:
    def places(spec: str) -> set[int]:
        made = [Perturbation(spec).apply("It is the vote", lang="en", seed=s, vocabulary=["x"]) for s in range(60)]
        return {str(text).split().index("x") for text in made}

    assert places("word-insert[position=any]") == {1, 2, 3, 4}
    assert places("word-insert") == {4}


def test_words_that_draw_from_the_data_need_a_vocabulary() -> None:
    for name in ("word-insert", "word-replace"):
        with pytest.raises(UserError, match="vocabulary"):
            Perturbation(name, vocabulary="data").apply("Some words here.", lang="en")
        assert Perturbation(name).apply("Party", lang="en", vocabulary=[]) is None
        assert Perturbation(name).apply("Party", lang="en", vocabulary=["Party"]) is None


def test_vocabulary_holds_each_word_once() -> None:
    assert vocabulary_of(["A vote, a law.", "The law of 2014"], Language("en")) == ("vote", "law")
    assert vocabulary_of(["カナダ糖尿病協会の責任者"], Language("ja")) == ("カナダ", "糖尿", "病協", "責任")


def test_mask_replace_names_the_option_it_needs() -> None:
    with pytest.raises(UserError, match=r"mask-replace\[model="):
        Perturbation("mask-replace").apply("Some words here.", lang="en")


def test_chinese_and_japanese_lose_or_repeat_pairs_of_characters() -> None:
    assert "彼は大学大学に行く。" in replicates("word-repeat", "彼は大学に行く。", lang="ja")
    assert replicates("word-drop", "彼は大学に行く。", lang="ja") == {"彼はに行く。"}
    assert change("upper-words", "彼は大学に行く。", "ja") is None


def test_a_language_without_lists_has_long_words_for_content_words() -> None:
    assert [word.text for word in linguistics(Language("pl")).content_words("Nie ma tego domu w Łodzi.")] == [
        "tego",
        "domu",
        "Łodzi",
    ]


@given(st.one_of(st.text(), SENTENCES), st.sampled_from(NAMES), st.sampled_from(["en", "de", "ja", "th", None]))
def test_any_text_is_served_the_same_way_twice(text: str, name: str, lang: str | None) -> None:
    assert change(name, text, lang) == change(name, text, lang)


@given(st.one_of(st.text(), SENTENCES), st.sampled_from(["upper-words[words=content]", "lower-words[words=content]"]))
def test_nothing_but_case_changes(text: str, name: str) -> None:
    changed = change(name, text)
    if changed is None:
        case = str.upper if name.startswith("upper") else str.lower
        found = [word.text for word in linguistics(Language("en")).content_words(text)]
        assert all(case(word) == word or case(word).casefold() != word.casefold() for word in found)
    else:
        assert changed != text
        assert changed.casefold() == text.casefold()


LONG = "In the elections, UKIP, a party of the far right, obtained more than 20 seats."


def outcomes(name: str, text: str) -> set[str | None]:
    return {Perturbation(name).apply(text, lang="en", replicate=replicate) for replicate in range(20)}


def test_neighbours_swap_and_words_move() -> None:
    assert outcomes("word-swap", "Dogs bite, often.") == {"bite Dogs, often."}
    assert outcomes("word-swap", "no no no") == {None}
    for text in outcomes("word-order", LONG):
        assert text is not None and text != LONG
        assert Counter(word.text for word in words(text)) == Counter(word.text for word in words(LONG))


MIXED = st.lists(st.sampled_from(["The", "Straße", "ǅ", "don't", ",", ".", "7", "病院", "カナダ"])).map(" ".join)


@given(st.one_of(st.text(), MIXED), st.sampled_from(["word-swap", "word-order"]))
def test_order_keeps_every_character(text: str, name: str) -> None:
    changed = Perturbation(name).apply(text, lang="en")
    assert changed == Perturbation(name).apply(text, lang="en")
    assert changed is None or Counter(changed) == Counter(text)


@pytest.mark.parametrize(
    ("word", "antonym"),
    [
        ("good", "bad"),
        ("Hot", "cold"),
        ("increased", "decreased"),
        ("buying", "selling"),
        ("begins", "ends"),
        ("women", "men"),
        ("offend", "keep"),
        ("deleted", "recorded"),
        ("had", "lacked"),
        ("admitted", "denied"),
    ],
)
def test_antonyms_keep_the_form_of_the_word(word: str, antonym: str) -> None:
    assert antonym in antonyms(word)


def test_words_without_antonyms_have_none() -> None:
    assert antonyms("Parliament") == ()
    assert antonyms("") == ()


@pytest.mark.slow
def test_the_script_makes_the_shipped_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Byte for byte, where WordNet's own files are installed (Debian: wordnet-base)."""
    wordnet = Path("/usr/share/wordnet")
    if not (wordnet / "data.noun").is_file():
        pytest.skip("needs WordNet's files: apt-get install wordnet-base")
    root = Path(__file__).resolve().parents[2]
    place = importlib.util.spec_from_file_location("make_wordnet_table", root / "scripts" / "make_wordnet_table.py")
    assert place is not None
    assert place.loader is not None
    script = importlib.util.module_from_spec(place)
    monkeypatch.setitem(sys.modules, "make_wordnet_table", script)
    place.loader.exec_module(script)
    shipped = script.TARGET
    monkeypatch.setattr(script, "TARGET", tmp_path)
    script.main(wordnet)
    for path in sorted(tmp_path.iterdir()):
        assert path.read_bytes() == (shipped / path.name).read_bytes(), path.name
