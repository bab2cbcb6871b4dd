"""Every move proposes what its paper says, and nothing else."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.attacks.constraints import edit_distance
from babelquake.attacks.moves import (
    DeleteLetter,
    DeleteWord,
    InsertLetter,
    MaskInsert,
    MaskMerge,
    MaskReplace,
    Move,
    SubstituteLetter,
    SwapLetters,
    SwapNeighbour,
    neighbours,
)
from babelquake.attacks.sentence import Sentence
from babelquake.errors import UserError
from babelquake.resource import Gap

SENTENCE = Sentence.of("The cat sat on the mat.")


def texts(toys: Any, move: Move, *places: int) -> list[str]:
    return [candidate.text for candidate in toys.driven(move.candidates(SENTENCE, places))]


def test_deletion_leaves_one_word_out(toys: Any) -> None:
    assert texts(toys, DeleteWord(), 0, 5) == ["cat sat on the mat.", "The cat sat on the."]
    assert toys.driven(DeleteWord().candidates(Sentence.of("Alone!"), [0])) == []


def test_neighbours_come_nearest_first_in_the_words_case(toys: Any) -> None:
    move = SwapNeighbour({"the": ("this", "the", "that"), "cat": ("dog", "lion", "rug")}, most=2)
    assert texts(toys, move, 0, 1, 2) == [
        "This cat sat on the mat.",
        "The dog sat on the mat.",
        "The lion sat on the mat.",
    ]


def test_mask_replacement_keeps_fillers_above_the_floor(toys: Any) -> None:
    log: list[Any] = []
    found = toys.driven(MaskReplace(50, 0.2).candidates(SENTENCE, [1]), None, log)
    assert log == [[Gap("The ", " sat on the mat.")]]
    assert [candidate.words[1] for candidate in found] == ["dog", "red", "rug"]
    assert [candidate.words[1] for candidate in toys.driven(MaskReplace(2, 0.0).candidates(SENTENCE, [1]))] == [
        "dog",
        "red",
    ]


def test_a_clipped_context_hides_the_marks_at_both_ends_and_reaches_neither(toys: Any) -> None:
    quoted = Sentence.of('"Cat mat sat," he said.')
    log: list[Any] = []
    inserted = toys.driven(MaskInsert(1, clipped=True).candidates(quoted, [0, 1, 4]), None, log)
    assert log == [[Gap("Cat ", ' mat sat," he said'), Gap('Cat mat sat," he ', " said")]]
    assert [candidate.text for candidate in inserted] == ['"Cat dog mat sat," he said.', '"Cat mat sat," he dog said.']
    merging = MaskMerge(lambda sentence: ["NOUN"] * len(sentence.words), 1, clipped=True)
    merged = toys.driven(merging.candidates(quoted, range(5)))
    assert [candidate.text for candidate in merged] == ['"Cat dog," he said.', '"Cat mat dog," said.']


def test_mask_insertion_puts_a_word_before_another(toys: Any) -> None:
    log: list[Any] = []
    found = toys.driven(MaskInsert(1).candidates(SENTENCE, [5]), None, log)
    assert log == [[Gap("The cat sat on the ", " mat.")]]
    assert [candidate.text for candidate in found] == ["The cat sat on the dog mat."]


def test_mask_merge_takes_pairs_by_part_of_speech(toys: Any) -> None:
    tags = ("DET", "NOUN", "VERB", "ADP", "DET", "NOUN")
    log: list[Any] = []
    move = MaskMerge(lambda sentence: tags, 1)
    found = toys.driven(move.candidates(SENTENCE, [0, 1, 2, 3, 4, 5]), None, log)
    assert log == [[Gap("", " sat on the mat."), Gap("The cat sat on ", ".")]]
    assert [candidate.text for candidate in found] == ["dog sat on the mat.", "The cat sat on dog."]
    open_only = MaskMerge(lambda sentence: tags, 1, anywhere=False)
    assert texts(toys, open_only, 1, 4, 5) == ["The cat sat on dog."]


def test_every_letter_change_of_a_short_word(toys: Any) -> None:
    words = lambda move: [text.split()[1] for text in texts(toys, move, 1)]  # noqa: E731
    assert words(SwapLetters(every=True)) == ["act", "cta"]
    assert words(DeleteLetter(every=True)) == ["at", "ct", "ca"]
    assert words(SubstituteLetter(every=True, letters="x")) == ["xat", "cxt", "cax"]
    assert words(InsertLetter(every=True, letters="x")) == ["xcat", "cxat", "caxt"]


def test_numbers_and_short_words_can_be_spared(toys: Any) -> None:
    sentence = Sentence.of("the euro costs 1947 or H2O now")
    asking = DeleteLetter(every=True, shortest=4, digits=False).candidates(sentence, range(7))
    with pytest.raises(StopIteration) as end:
        next(asking)
    changed = {text.words[place] for text in end.value.value for place in text.touched}
    assert changed == {"uro", "ero", "euo", "eur", "osts", "csts", "cots", "coss", "cost"}


@given(st.text("abcde", min_size=2, max_size=9), st.integers(0, 99))
def test_one_random_change_of_each_kind_is_one_of_all(word: str, seed: int) -> None:
    sentence = Sentence.of(f"it is {word} here")
    for kind in (SwapLetters, SubstituteLetter, DeleteLetter, InsertLetter):
        one = list(_candidates(kind(seed), sentence))
        assert one == list(_candidates(kind(seed), sentence))
        assert len(one) <= 1
        assert all(1 <= edit_distance(sentence.text, text) <= 2 for text in one)


def _candidates(move: Move, sentence: Sentence) -> list[str]:
    asking = move.candidates(sentence, [2])
    try:
        next(asking)
    except StopIteration as end:
        return [candidate.text for candidate in end.value]
    raise AssertionError("a letter move asks nothing")


def test_spots_and_letters_are_drawn_evenly(toys: Any) -> None:
    """As TextAttack draws them: 5,200 insertions before one of eight letters, of one of 52."""
    words = [
        candidate.words[1]
        for number in range(5200)
        for candidate in toys.driven(InsertLetter().candidates(Sentence.of(f"{number} 12345678"), [1]))
    ]
    spots = Counter(next(place for place, letter in enumerate(word) if letter.isalpha()) for word in words)
    letters = Counter(next(filter(str.isalpha, word)) for word in words)
    assert len(spots) == 8 and all(abs(count - 650) < 4 * 23.8 for count in spots.values())  # sd √(n·⅛·⅞) = 23.8
    assert len(letters) == 52 and all(abs(count - 100) < 4 * 9.9 for count in letters.values())


def test_blank_lines_are_no_words(tmp_path: Path) -> None:
    file = tmp_path / "near.txt"
    file.write_text("Good fine nice\n\n  \nbad\tpoor\n", "utf-8")
    assert neighbours(str(file)) == {"good": ("fine", "nice"), "bad": ("poor",)}
    file.write_text("\n\n", "utf-8")
    with pytest.raises(UserError, match="no words"):
        neighbours(str(file))
