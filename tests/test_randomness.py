"""Draws depend on the key alone: order, batches, processes and resuming change nothing."""

from collections import Counter
from hashlib import blake2b
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.engine import Local
from babelquake.perturb import perturb
from babelquake.randomness import Stream

SENTENCES = [f"Satz Nummer {number} über die Äpfel und Birnen, 東京 und Київ." for number in range(60)]


def misspelt(texts: list[str]) -> list[str | None]:
    return perturb("misspell", texts, lang="de", level=0.5, seed=11)


def test_shuffling_batching_splitting_and_resuming_give_the_same_bytes() -> None:
    expected = dict(zip(SENTENCES, misspelt(SENTENCES), strict=True))
    shuffled = Stream("order").shuffled(SENTENCES)
    assert dict(zip(shuffled, misspelt(shuffled), strict=True)) == expected
    for size in (1, 7, 59):
        parts = [misspelt(SENTENCES[start : start + size]) for start in range(0, len(SENTENCES), size)]
        assert [text for part in parts for text in part] == list(expected.values())
    half = len(SENTENCES) // 2
    assert misspelt(SENTENCES[half:]) == list(expected.values())[half:]


def test_two_processes_give_the_same_bytes_as_one() -> None:
    batches = [SENTENCES[:30], SENTENCES[30:]]
    done = dict(Local(2, "processes").unordered(misspelt, batches))
    assert done[0] + done[1] == misspelt(SENTENCES)


def test_the_sequence_of_a_key_is_fixed_for_ever() -> None:
    rng = Stream(13, "misspell[level=0.1]", 0, "Das ist ein Test.")
    assert [rng.below(1000) for _ in range(5)] == [133, 224, 187, 301, 393]


def test_draws_are_the_blocks_of_blake2b_in_counter_mode() -> None:
    """Worked out by hand: 53 high bits of each little-endian word of hash(key), then of hash(number + key's hash)."""
    first = blake2b(b"7\x1fx").digest()
    blocks = first + blake2b(b"1\x1f" + first).digest() + blake2b(b"2\x1f" + first).digest()
    words = [int.from_bytes(blocks[start : start + 8], "little") for start in range(0, 192, 8)]
    rng = Stream(7, "x")
    assert [rng.random() for _ in words] == [(word >> 11) / 2**53 for word in words]


def test_every_part_of_the_key_counts() -> None:
    keys = [(0, "a", 0, "x"), (1, "a", 0, "x"), (0, "b", 0, "x"), (0, "a", 1, "x"), (0, "a", 0, "y")]
    assert len({Stream(*key).random() for key in keys}) == len(keys)
    assert Stream(0, "\ud800").random() == Stream(0, "\ud800").random()


@given(st.integers())
def test_a_chance_of_nought_never_and_of_one_always(seed: int) -> None:
    rng = Stream(seed)
    assert not any(rng.chance(0) for _ in range(20))
    assert all(rng.chance(1) for _ in range(20))


@given(st.integers(0, 30), st.integers(0, 40), st.integers())
def test_a_sample_has_different_numbers_in_order(n: int, k: int, seed: int) -> None:
    found = Stream(seed).sample(n, k)
    assert len(found) == min(n, k) and found == sorted(set(found))
    assert all(0 <= item < n for item in found)


@given(st.integers(0, 40), st.floats(0, 1), st.integers())
def test_hits_are_trials_in_ascending_order(n: int, probability: float, seed: int) -> None:
    found = Stream(seed).hits(n, probability)
    assert found == sorted(set(found)) and all(0 <= place < n for place in found)
    assert Stream(seed).hits(n, 1) == list(range(n)) and Stream(seed).hits(n, 0) == []


def chi_square(counts: Counter[object], cells: int) -> float:
    expected = sum(counts.values()) / cells
    seen = sum((count - expected) ** 2 for count in counts.values())
    return (seen + (cells - len(counts)) * expected**2) / expected


@pytest.mark.parametrize(
    ("draw", "cells", "bound"),
    [
        (lambda rng: rng.below(10), 10, 27.9),
        (lambda rng: rng.choice("abcd"), 4, 16.3),
        (lambda rng: tuple(rng.sample(5, 2)), 10, 27.9),
        (lambda rng: tuple(rng.shuffled("abcd")), 24, 49.7),
        (lambda rng: tuple(rng.hits(3, 0.5)), 8, 24.3),
    ],
)
def test_draws_are_uniform(draw: object, cells: int, bound: float) -> None:
    """χ² of 6,000 draws from as many keys stays below the 99.9 % point."""
    counts: Counter[object] = Counter(draw(Stream(7, key)) for key in range(6000))  # type: ignore[operator]
    assert chi_square(counts, cells) < bound


def test_shuffling_reaches_every_order_and_leaves_the_original_alone() -> None:
    items = ["a", "b", "c"]
    orders = {tuple(Stream(key).shuffled(items)) for key in range(200)}
    assert orders == set(permutations(items)) and items == ["a", "b", "c"]
