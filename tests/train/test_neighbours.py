"""Counter-fitting moves what the constraints name, and leaves the rest."""

import lzma
from pathlib import Path

import numpy as np
import pytest

from babelquake.errors import UserError
from babelquake.train.neighbours import FILE, build, close_pairs, counter_fit, normalised, numbered, read_similarity


def space(words: int = 30, width: int = 20) -> np.ndarray:
    return np.random.default_rng(4).normal(size=(words, width)).astype(np.float32)


def test_synonyms_meet_antonyms_part_and_others_stay() -> None:
    vectors = space()
    vectors[3] = vectors[2] + 0.1 * vectors[5]  # close from the start, but antonyms
    fitted = counter_fit(vectors, np.array([[0, 1]]), np.array([[2, 3]]))
    before = normalised(vectors)
    assert fitted[0] @ fitted[1] > 0.8 > before[0] @ before[1]
    assert fitted[2] @ fitted[3] < before[2] @ before[3] - 0.2
    assert np.allclose(fitted[6:], before[6:], atol=1e-6)


def test_one_round_by_hand() -> None:
    """Unit vectors at a right angle: each moves a tenth of the other's way, then is normalised."""
    from babelquake.train.neighbours import Setting

    fitted = counter_fit(np.eye(2, dtype=np.float32), np.array([[0, 1]]), np.zeros((0, 2), np.int64), Setting(rounds=1))
    assert np.allclose(fitted[0], np.array([1, 0.1]) / np.sqrt(1.01))


def test_close_pairs_are_found_once() -> None:
    vectors = normalised(np.array([[1, 0], [1, 0.1], [0, 1]], np.float32))
    pairs, distances = close_pairs(vectors, 0.2)
    assert pairs.tolist() == [[0, 1]]
    assert distances[0] == pytest.approx(1 - 1 / np.sqrt(1.01), abs=1e-6)


def test_pairs_of_unknown_words_or_of_one_word_are_left_out() -> None:
    places = {"a": 0, "b": 1}
    assert numbered([("a", "b"), ("b", "a"), ("a", "a"), ("a", "c")], places).tolist() == [[0, 1]]


def test_the_file_has_each_word_with_its_nearest_first(tmp_path: Path) -> None:
    words = ["small", "little", "large", "train"]
    rows = [[1, 0, 0], [0.9, 0.3, 0], [0.8, 0.6, 0], [0, 0, 1]]
    vectors, antonyms = tmp_path / "v.txt", tmp_path / "a.txt"
    vectors.write_text("\n".join(f"{w} {' '.join(map(str, row))}" for w, row in zip(words, rows, strict=True)))
    antonyms.write_text("small large\nlittle large\n")
    simlex = tmp_path / "s.txt"
    simlex.write_text("word1\tword2\tSimLex999\nsmall\tlittle\t9\nsmall\tlarge\t1\nsmall\ttrain\t0.5\n")
    card = build(vectors, [], [antonyms], tmp_path / "out", similarity=simlex, least=1, most=3)
    lines = lzma.decompress((tmp_path / "out" / FILE).read_bytes()).decode().splitlines()
    assert [line.split("\t")[0] for line in lines] == words
    assert lines[0].split("\t")[1] == "little"
    assert "large" not in lines[0].split("\t")
    assert card["figures"]["SimLex-999 pairs covered"] == 3


def test_a_similarity_file_without_its_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("a\tb\n")
    with pytest.raises(UserError, match="word1, word2 and SimLex999"):
        list(read_similarity(tmp_path / "s.txt"))
