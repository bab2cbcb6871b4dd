"""Words that are remembered give the tokens of whole texts."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.models.shipped import folder
from babelquake.models.tokenizers import WordByWord

tokenizers = pytest.importorskip("tokenizers", reason="needs the extra 'neural'")

PIECES = ["[UNK]", "[MASK]", "<mask>", "<|endoftext|>", "don't", "a", " ", "\n", "'s"]
TEXTS = st.lists(
    st.one_of(
        st.text(),
        st.text("ab '.,-\t\n\r\u00a0\u3000é\u0301中🙂1"),
        st.lists(st.sampled_from(["[UNK]", "[MASK]", "<mask>", "<|endoftext|>", "don't", "a", " ", "\n", "'s"])).map(
            "".join
        ),
    ),
    max_size=4,
)


def shipped(name: str) -> Any:
    return tokenizers.Tokenizer.from_file(str(folder(name) / "tokenizer.json"))


def with_greedy_mask() -> Any:
    """Byte-level pieces and a mask that takes the spaces before it along, as RoBERTa has."""
    made = shipped("gpt-en")
    made.add_special_tokens([tokenizers.AddedToken("<mask>", lstrip=True, special=True)])
    return made


def across_spaces() -> Any:
    """A vocabulary with spaces in its pieces: cutting there would give other tokens."""
    made = tokenizers.Tokenizer(tokenizers.models.Unigram([("<unk>", 0.0), ("a b", -1.0), ("a", -2.0)], unk_id=0))
    return made


MADE = {
    "wordpiece": shipped("minilm-en"),
    "bytes": shipped("gpt-en"),
    "greedy mask": with_greedy_mask(),
    "across": across_spaces(),
}
REMEMBERING = {name: WordByWord(backend) for name, backend in MADE.items()}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("special", [True, False])
@given(texts=TEXTS)
def test_tokens_are_those_of_whole_texts(name: str, special: bool, texts: list[str]) -> None:
    whole = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
    found = [MADE[name].encode(text, add_special_tokens=special) for text in whole]
    assert REMEMBERING[name](whole, special) == (
        [one.ids for one in found],
        [one.special_tokens_mask for one in found],
    )


@pytest.mark.parametrize("name", ["wordpiece", "bytes", "across"])
@given(first=st.text(), second=st.text("ab '[UNK]"))
def test_pairs_are_those_of_the_tokenizer(name: str, first: str, second: str) -> None:
    one, other = (text.encode("utf-8", "replace").decode("utf-8") for text in (first, second))
    found = MADE[name].encode(one, other)
    assert REMEMBERING[name].pairs([one], [other]) == ([found.ids], [found.type_ids])


def test_shipped_tokenizers_are_cut_at_spaces() -> None:
    assert REMEMBERING["wordpiece"]._cut is not None
    assert REMEMBERING["bytes"]._cut is not None
    assert REMEMBERING["across"]._cut is None


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("babelquake.models.tokenizers.ROOM", 10)
    words = WordByWord(MADE["wordpiece"])
    texts = [f"word{number} and another{number}" for number in range(9)]
    one_by_one = [words([text], True)[0][0] for text in texts]
    assert len(words._known) < 9
    assert one_by_one == WordByWord(MADE["wordpiece"])(texts, True)[0]
