"""Words found in compiled code are those of sacreBLEU's tokenisers, whatever the text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.scorers.strings.test_word_boundaries import first_seen

from babelquake.scorers.strings.tokenise import COMPILED, tokenised, tokeniser, tokeniser_for

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
