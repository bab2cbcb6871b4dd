"""BLEU is sacreBLEU's, to the last digit."""

import logging
import math
from itertools import product
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from tests.scorers.strings.test_kernels import first_seen

from babelquake.errors import UserError
from babelquake.models.loading import configure
from babelquake.scorers import scorer
from babelquake.scorers.base import Questions
from babelquake.scorers.strings.bleu import COMPILED, tokenised, tokeniser, tokeniser_for, tokeniser_of

OPTIONS: list[dict[str, Any]] = [
    {},
    {"lowercase": True},
    {"effective_order": True},
    {"tokenize": "intl"},
    {"tokenize": "char"},
    {"tokenize": "zh"},
    {"tokenize": "none"},
    {"smooth_method": "floor"},
    {"smooth_method": "floor", "smooth_value": 0.5},
    {"smooth_method": "floor", "smooth_value": 0.0, "effective_order": True},
    {"smooth_method": "add-k"},
    {"smooth_method": "add-k", "smooth_value": 0.3, "effective_order": True},
    {"smooth_method": "add-k", "smooth_value": 0.0},
    {"smooth_method": "none"},
    {"smooth_method": "none", "effective_order": True},
    {"max_ngram_order": 1},
    {"max_ngram_order": 2, "lowercase": True},
    {"max_ngram_order": 7, "effective_order": True},
    {"trg_lang": "zh"},
]


def _compare(agrees: Any, options: dict[str, Any], segments: Any) -> None:
    ours = scorer("bleu", force=True, **options)
    agrees(ours, BLEU(**{**options, "effective_order": True}), BLEU(**options), segments)


def test_value_worked_out_by_hand() -> None:
    """Five words, four of them in the reference of six: p = 4/5, 3/4, 2/3, 1/2 and BP = exp(1 − 6/5)."""
    expected = 100 * math.exp(1 - 6 / 5) * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25
    assert scorer("bleu").corpus(["a b c d x"], ["a b c d e f"]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_awkward_texts_agree_with_sacrebleu(options: Any, awkward: list[str], agrees: Any) -> None:
    _compare(agrees, options, [(left, [right]) for left, right in product(awkward, awkward)])
    for row in range(len(awkward)):
        _compare(agrees, options, [(awkward[row], [awkward[row - 1], awkward[row - 2]])])


@settings(max_examples=200, deadline=None)
@given(data=st.data(), options=st.sampled_from(OPTIONS))
def test_any_text_agrees_with_sacrebleu(data: Any, options: Any, segment_lists: Any, agrees: Any) -> None:
    _compare(agrees, options, data.draw(segment_lists))


@pytest.mark.slow
@pytest.mark.parametrize(("place", "options"), list(enumerate(OPTIONS[:7])))
def test_real_segments_agree_with_sacrebleu(place: int, options: Any, real_segments: Any, agrees: Any) -> None:
    """Every segment under one of the options."""
    _compare(agrees, options, real_segments[place::7])


@pytest.mark.parametrize(("name", "line"), [("ja-mecab", "猫はマットの上に座った。"), ("ko-mecab", "고양이가 앉았다.")])
def test_tokenisers_of_extras_agree_with_sacrebleu(name: str, line: str, agrees: Any) -> None:
    try:
        tokeniser(name)
    except UserError as problem:
        assert f"[{name[:2]}]" in str(problem)
        pytest.skip(str(problem))
    _compare(agrees, {"tokenize": name}, [(line, [line]), (line[:-3], [line])])


def test_a_model_that_cannot_be_downloaded_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu.tokenizers import tokenizer_spm

    def offline(*_: object) -> None:
        raise OSError("no network")

    monkeypatch.setattr(tokenizer_spm, "SACREBLEU_DIR", "nowhere")
    monkeypatch.setattr(tokenizer_spm, "download_file", offline)
    tokeniser.cache_clear()
    with pytest.raises(UserError, match=r"flores200.*no network"):
        scorer("bleu[tokenize=flores200]")


def test_offline_a_model_that_is_not_there_is_not_downloaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sacrebleu.utils.SACREBLEU_DIR", str(tmp_path))
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.download_file", lambda *_: pytest.fail("it was fetched"))
    configure(offline=True)
    tokeniser.cache_clear()
    with pytest.raises(UserError, match=r"'flores200'.*offline.* forbids .* put the file at .*flores200sacrebleuspm"):
        scorer("bleu[tokenize=flores200]")
    assert scorer("bleu[tokenize=intl]").corpus(["a b c d"], ["a b c d"]) == pytest.approx(100)


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from sacrebleu.tokenizers import tokenizer_ja_mecab

    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    tokeniser.cache_clear()
    with pytest.raises(UserError, match=r"pip install .*\[ja\]"):
        scorer("bleu[trg_lang=ja]")


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_signature_contains_sacrebleus(options: Any) -> None:
    metric = BLEU(**options)
    metric.corpus_score(["a"], [["a"]])
    assert f"BLEU|{metric.get_signature()}" in scorer("bleu", **options).signature


def test_the_order_is_part_of_the_signature() -> None:
    assert scorer("bleu[max_ngram_order=2]").signature != scorer("bleu").signature


def test_signature_for_several_references_is_sacrebleus() -> None:
    metric = BLEU()
    metric.corpus_score(["a", "b"], [["a", "b"], ["c", None]])
    assert str(metric.get_signature()) in scorer("bleu").signature_for(None)  # type: ignore[attr-defined]


def test_translations_that_look_tokenised_raise_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    lines = ["a cat ."] * 100
    with caplog.at_level(logging.WARNING, logger="babelquake"):
        scorer("bleu[force=true]").corpus(lines, lines)
        assert not caplog.records
        scorer("bleu").corpus(lines, lines)
    assert "tokenised" in caplog.text


JAPANESE = ["猫はマットの上に座った。", "東京タワー", "国会は予算を承認した。"]
GERMAN = ["Die Katze saß auf der Matte.", "Das Parlament hat den Haushalt gebilligt."]


@pytest.mark.parametrize(
    ("texts", "right"),
    [(JAPANESE, "ja-mecab"), (["猫坐在垫子上，很开心！"], "zh"), (["แมวนั่งบนเสื่อ"], "flores200")],
)
def test_words_without_spaces_are_refused_by_13a(texts: list[str], right: str) -> None:
    for spec in ("bleu", "bleu[tokenize=13a]"):
        with pytest.raises(UserError, match=rf"Write bleu\[tokenize={right}\]"):
            scorer(spec).corpus(texts, texts)
    assert scorer("bleu[force=true]").corpus(texts, texts) < 100.01
    assert scorer("bleu").corpus([*GERMAN, texts[0]], [*GERMAN, texts[0]]) == pytest.approx(100)


def test_a_run_over_german_and_japanese_uses_13a_and_mecab_by_itself() -> None:
    pytest.importorskip("MeCab", reason="needs sacrebleu[ja] for Japanese words")
    pytest.importorskip("ipadic", reason="needs sacrebleu[ja] for Japanese words")
    judge = scorer("bleu")
    judge.attach(pl.DataFrame({"language_pair": ["en-de", "en-ja", None]}))
    changed = [text.replace("猫", "犬").replace("Katze", "Maus") for text in GERMAN + JAPANESE]
    rows = judge.statistics(Questions(changed, [[text] for text in GERMAN + JAPANESE]))
    assert float(judge.aggregate(rows[:2].sum(axis=0))) == pytest.approx(
        BLEU().corpus_score(changed[:2], [GERMAN]).score
    )
    assert float(judge.aggregate(rows[2:].sum(axis=0))) == pytest.approx(
        BLEU(tokenize="ja-mecab").corpus_score(changed[2:], [JAPANESE]).score
    )
    assert "tok:13a+ja-mecab" in judge.signature
    again = scorer(judge.recipe.spec)
    assert again.signature == judge.signature
    assert (again.statistics(Questions(changed, [[text] for text in GERMAN + JAPANESE])) == rows).all()


def test_han_alone_is_read_in_the_language_of_the_data() -> None:
    assert tokeniser_of("東京", {"ja", "de"}) == "ja-mecab"
    assert tokeniser_of("東京", {"zh", "ja"}) == "zh"
    assert tokeniser_of("東京タワー", {"zh", "ja"}) == "ja-mecab"
    assert tokeniser_of("東京", {"de"}) == tokeniser_of("Tokyo", {"ja"}) == "13a"


SPACES = "\t\n\x0b\x0c\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2007\u200b\u2028\u2029\u202f\u205f\u3000"
MARKS = st.text(st.sampled_from(list("a1١.,-'<>&;\"()_~\0。\ud800") + list(SPACES)), max_size=30)
SNIPPETS = (
    "<skipped>",
    "-\n",
    "\n-",
    "&quot;",
    "&amp;",
    "&lt;",
    "&gt;",
    "&amp;lt;",
    "..",
    "5-",
    "-5",
    "1,5",
    "1.",
    ",1",
)
JOINED = st.lists(st.one_of(st.sampled_from(SNIPPETS), MARKS), max_size=6).map("".join)
TEXTS = st.lists(st.one_of(MARKS, JOINED, st.text(st.characters(), max_size=20)), max_size=5)


@pytest.mark.parametrize("name", COMPILED)
@settings(max_examples=200, deadline=None)
@given(texts=TEXTS)
@example(texts=["a\0.\0b, \0 c."])
@example(texts=["<skipped>", "a<skipped>b", "line-\nbreak", "line-<skipped>\nbreak", "line-\n", "<skip<skipped>ped>"])
@example(texts=["a..5", "a...5", "1..5", "1.5", "1,.,5", ".5", "5.", "5.-", "5-5", "5--5", "--5", "1-.5", "(.5)", "٣-"])
@example(texts=["&amp;lt;", "&amp;amp;quot;", "AT&T.", "&", "&quot;5,000&quot;"])
def test_compiled_words_are_sacrebleus(name: str, texts: list[str]) -> None:
    by_line = [tokeniser(name)(text.rstrip()).split() for text in texts]
    assert first_seen(tokenised(texts, name).rows()) == first_seen(by_line)


@pytest.mark.parametrize("name", COMPILED)
def test_every_character_is_taken_as_sacrebleu_takes_it(name: str) -> None:
    texts = [f"a{chr(point)}1{chr(point)}.{chr(point)}-" for point in range(0x3100)]
    by_line = [tokeniser(name)(text.rstrip()).split() for text in texts]
    assert first_seen(tokenised(texts, name).rows()) == first_seen(by_line)


def test_the_target_language_chooses_the_tokeniser() -> None:
    assert [tokeniser_for("auto", lang) for lang in ("de", "zh", "ja", "ko")] == ["13a", "zh", "ja-mecab", "ko-mecab"]
    assert tokeniser_for("char", "zh") == "char"
