"""Punctuation: the papers' own examples and the figures that follow from them."""

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.perturb.kanojia import UKIP

from babelquake.perturb import Perturbation
from babelquake.perturb.suite import suite
from babelquake.randomness import Stream

SPECS = ["punct-remove", "punct-replace", "punct-replace[marks=last]"] + [
    f"final-{change}[mark={mark}]"
    for change in ("insert", "delete")
    for mark in ("stop", "exclamation", "question", "random")
]


def change(spec: str, text: str, lang: str | None = None, replicate: int = 0) -> str | None:
    return Perturbation(spec).apply(text, lang=lang, replicate=replicate)


def letters_and_digits(text: str) -> str:
    return "".join(char for char in text if unicodedata.category(char)[0] in "LN")


def test_mpp1_of_kanojia_table_2() -> None:
    assert change("punct-remove", UKIP) == (
        "In the 2014 European Parliamentary elections UKIP party of extreā dreaptā obtained more than 20 seats "
        "in the European Parliament"
    )


def test_mpp2_of_kanojia_table_2_replaces_each_mark_by_another() -> None:
    replicates = {change("punct-replace", UKIP, replicate=replicate) for replicate in range(20)}
    assert len(replicates) == 20
    for text in replicates:
        assert text is not None
        assert len(text) == len(UKIP)
        changed = [(old, new) for old, new in zip(UKIP, text, strict=True) if old != new]
        assert [old for old, _ in changed] == [",", ",", ",", "."]


def test_mpp2_of_the_authors_code_replaces_all_marks_of_the_last_kind_by_one() -> None:
    text = "Well, he said, the price (of all things) rose"
    for replicate in range(20):
        made = change("punct-replace[marks=last]", text, replicate=replicate)
        assert made is not None and made[: text.index(")")] == text[: text.index(")")] and made.endswith(" rose")
        changed = change("punct-replace[marks=last]", "a, b, c, d; e,", replicate=replicate)
        assert changed is not None and changed[-1] != "," and changed == "a, b, c, d; e,".replace(",", changed[-1])


@pytest.mark.parametrize(
    ("mark", "before", "after"),
    [
        ("!", "Iran gibt britischen Tanker frei", "Iran gibt britischen Tanker frei!"),
        ("stop", "なにかアドバイス下さい", "なにかアドバイス下さい。"),
        (
            "stop",
            "Якщо ще колись не захочете мені писати, то я чекатиму",
            "Якщо ще колись не захочете мені писати, то я чекатиму.",
        ),
        ("exclamation", "Elon Musk lässt Tesla-Aktien steigen", "Elon Musk lässt Tesla-Aktien steigen!"),
        (
            "exclamation",
            "アンドロイドのハードウェアをきれいにするコツ",
            "アンドロイドのハードウェアをきれいにするコツ！",
        ),
        (
            "question",
            "Der saubere Lake Tahoe vom Keimwandel verunreinigt",
            "Der saubere Lake Tahoe vom Keimwandel verunreinigt?",
        ),
        ("?", "BGM", "BGM?"),
        ("!", "Vorwürfe gegen Trump verschärfen sich", "Vorwürfe gegen Trump verschärfen sich!"),
        (".", "यह ठीक है", "यह ठीक है।"),
        ("?", "هل هذا صحيح", "هل هذا صحيح؟"),
        ("?", "Είναι σωστό", "Είναι σωστό;"),
    ],
)
def test_insertion_in_the_scripts_own_marks(mark: str, before: str, after: str) -> None:
    """Jwalapuram Tables 1, 6 and 10, and further scripts."""
    assert change(f"final-insert[mark={mark}]", before) == after
    assert change(f"final-delete[mark={mark}]", after) == before


@pytest.mark.parametrize(
    ("mark", "before", "after"),
    [
        ("stop", "Ja wir haben hier alle Schusswaffen .", "Ja wir haben hier alle Schusswaffen"),
        (
            "stop",
            "Проблема з температурою водонагрівача та ванною.",
            "Проблема з температурою водонагрівача та ванною",
        ),
        ("exclamation", "«Справа дійсно зрушилася з місця!", "«Справа дійсно зрушилася з місця"),
        ("exclamation", "Boron zum Grusse !", "Boron zum Grusse"),
        (
            "question",
            "Тільки я буду трошки пізніше - десь о 8. Можна ?",
            "Тільки я буду трошки пізніше - десь о 8. Можна",
        ),
        ("question", "LINEは何日に何回送るのが良いですか？", "LINEは何日に何回送るのが良いですか"),
        ("question", "印象に残る日曜日は?", "印象に残る日曜日は"),
    ],
)
def test_deletion_of_jwalapuram_tables_6_and_10(mark: str, before: str, after: str) -> None:
    assert change(f"final-delete[mark={mark}]", before) == after
    for other in {"stop", "exclamation", "question", "random"} - {mark}:
        assert change(f"final-delete[mark={other}]", before) is None
    assert change("final-insert", before) is None


@pytest.mark.parametrize(
    ("text", "kept", "paper"),
    [
        ("It rose by 3.5 %, to $1,200.50.", "It rose by 3.5 % to $1,200.50", "It rose by 35  to 120050"),
        ("At 10:30, -4 degrees (or 5-3)!", "At 10:30 -4 degrees or 5-3", "At 1030 4 degrees or 53"),
        ("COVID-19: 5 men – 6 women; .5 of 7€.", "COVID19 5 men  6 women .5 of 7€", "COVID19 5 men – 6 women 5 of 7€"),
    ],
)
def test_marks_that_make_a_number_stay_but_for_the_paper(text: str, kept: str, paper: str) -> None:
    """3.5 without its point is another number, which is no harmless change."""
    assert change("punct-remove", text) == kept
    assert suite("kanojia2021").perturbations[0].apply(text) == suite("pitfalls").perturbations[-1].apply(text) == kept
    assert suite("kanojia2021-authors").perturbations[0].apply(text) == paper


def test_the_paper_removes_the_marks_of_pythons_string_library_alone() -> None:
    text = "“No” – it’s… over, she said."
    assert change("punct-remove[kinds=ascii]", text) == "“No” – it’s… over she said"
    assert change("punct-remove", text) == "No  its over she said"
    assert change("punct-replace[marks=last]", "“Yes” – he said…") is None


def test_random_changes_the_last_letter_of_an_unpunctuated_sentence() -> None:
    assert (
        change("final-delete[mark=random]", "Iran gibt britischen Tanker frei\n") == "Iran gibt britischen Tanker fre\n"
    )
    added = change("final-insert[mark=random]", "Вона тут")
    assert added is not None
    assert added[:-1] == "Вона тут"
    assert added[-1] in "Вонатут"
    assert change("final-insert[mark=random]", "8") == "88"
    drawn = {str(Perturbation("final-insert[mark=random]").apply("a: b", seed=seed))[-1] for seed in range(60)}
    assert drawn == {"a", ":", "b"}
    assert change("final-delete[mark=random]", "Zoe\u0308") == "Zo"


@given(st.text(), st.sampled_from(SPECS))
def test_any_text_keeps_its_letters_and_repeats(text: str, spec: str) -> None:
    changed = change(spec, text)
    assert changed == change(spec, text)
    if changed is not None and "random" not in spec:
        assert letters_and_digits(changed) == letters_and_digits(text) or any(
            unicodedata.category(char)[0] == "M" or unicodedata.category(char) == "Cf" for char in text
        )
    if changed is not None and "insert" in spec:
        assert len(changed) == len(text) + 1
    if spec.startswith("final"):
        assert changed != text


@pytest.mark.parametrize(
    ("lang", "tokenize", "inserted", "deleted"),
    [("de", "13a", (-10.0, -0.4), (-4.0, -0.6)), ("ja", "ja-mecab", (-6.7, -0.7), (-3.4, -1.6))],
)
def test_metric_sensitivity_of_jwalapuram_tables_2_and_3(
    shared_data: Path, lang: str, tokenize: str, inserted: tuple[float, float], deleted: tuple[float, float]
) -> None:
    """Corpus BLEU and chrF of perturbed against original sources; 1000 of the sentences that end in a full stop."""
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    if lang == "ja":
        pytest.importorskip("MeCab", reason="needs sacrebleu[ja] for Japanese words")
        pytest.importorskip("ipadic", reason="needs sacrebleu[ja] for Japanese words")
    lines = (shared_data / "punctuation" / f"{lang}-en.tsv").read_text("utf-8").splitlines()[1:]
    sources = [line.split("\t")[0] for line in lines]
    for spec, expected in (("final-insert", inserted), ("final-delete", deleted)):
        pairs = [(new, old) for old in sources if (new := change(spec, old, lang)) is not None]
        if spec == "final-delete":
            pairs = [pairs[place] for place in Stream(0, "full stops").sample(len(pairs), 1000)]
        perturbed, original = map(list, zip(*pairs, strict=True))
        assert BLEU(tokenize=tokenize).corpus_score(perturbed, [original]).score - 100 == pytest.approx(
            expected[0], abs=0.15
        )
        assert CHRF().corpus_score(perturbed, [original]).score - 100 == pytest.approx(expected[1], abs=0.1)


@pytest.mark.parametrize(
    ("lang", "text", "stop"),
    [
        ("ja", "NHK WORLD-JAPAN on Demand は無料", "。"),
        ("ja", "Tokyo Skytree", "。"),
        ("zh-TW", "WHO", "。"),
        ("hi", "BBC World Service", "।"),
        ("ur", "BBC اردو", "۔"),
        ("en", "東京", "."),
        ("pt-BR", "東京 é a capital", "."),
        (None, "東京", "。"),
    ],
)
def test_the_mark_is_the_language_s_whatever_script_prevails(lang: str | None, text: str, stop: str) -> None:
    assert change("final-insert", text, lang) == text + stop


def test_no_japanese_sentence_gets_a_latin_full_stop(shared_data: Path) -> None:
    """82 of 857 did when the script of most letters decided."""
    lines = (shared_data / "punctuation" / "ja-en.tsv").read_text("utf-8").splitlines()[1:]
    changed = [change("final-insert", line.split("\t")[0], "ja") for line in lines]
    assert all(text.rstrip().endswith("。") for text in changed if text is not None)
    assert sum(text is not None for text in changed) > 800
