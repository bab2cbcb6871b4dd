"""Words out of order: the same words, elsewhere."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from babelquake.perturb import Perturbation
from babelquake.text import words

LONG = "In the elections, UKIP, a party of the far right, obtained more than 20 seats."


def replicates(name: str, text: str) -> set[str | None]:
    return {Perturbation(name).apply(text, lang="en", replicate=replicate) for replicate in range(20)}


def test_neighbours_swap_and_words_move() -> None:
    assert replicates("word-swap", "Dogs bite, often.") == {"bite Dogs, often."}
    assert replicates("word-swap", "no no no") == {None}
    for text in replicates("word-order", LONG):
        assert text is not None and text != LONG
        assert Counter(word.text for word in words(text)) == Counter(word.text for word in words(LONG))


SENTENCES = st.lists(st.sampled_from(["The", "Straße", "ǅ", "don't", ",", ".", "7", "病院", "カナダ"])).map(" ".join)


@given(st.one_of(st.text(), SENTENCES), st.sampled_from(["word-swap", "word-order"]))
def test_order_keeps_every_character(text: str, name: str) -> None:
    changed = Perturbation(name).apply(text, lang="en")
    assert changed == Perturbation(name).apply(text, lang="en")
    assert changed is None or Counter(changed) == Counter(text)
