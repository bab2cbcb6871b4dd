"""Nothing is paid for twice, whatever breaks."""

import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.engine import Cache, Engine, Local
from babelquake.engine.engine import in_batches
from babelquake.errors import ResumableError
from babelquake.resource import Limits, halving
from babelquake.scorers.base import Array, MeanScorer, Questions
from babelquake.spec import Spec
from babelquake.systems import SYSTEMS, System


class Shouting(System):
    """Upper-cases, and remembers what it was sent."""

    def __init__(self, version: str = "1", limits: Limits | None = None) -> None:
        self.spec = Spec("shouting")
        self.version = version
        self.batches: list[list[str]] = []
        self._limits = limits or Limits(texts=4)
        self.fails_at: int | None = None

    @property
    def limits(self) -> Limits:
        return self._limits

    @property
    def signature(self) -> str:
        return f"shouting|v:{self.version}"

    @property
    def sent(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def translate(self, texts: Sequence[str]) -> list[str]:
        if self.fails_at is not None and len(self.batches) == self.fails_at:
            raise ConnectionError("network gone")
        self.batches.append(list(texts))
        return [text.upper() for text in texts]


class Length(MeanScorer):
    """A costly scorer: the length of the translation less the reference's."""

    costly = True
    spec = Spec("length")
    signature = "length|v:1"

    def __init__(self) -> None:
        self.judged: list[str] = []

    def judge(self, questions: Questions) -> Array:
        self.judged += questions.translations
        references = questions.references or []
        pairs = zip(questions.translations, references, strict=True)
        return np.array([len(text) - len(reference[0]) for text, reference in pairs], dtype=np.float64)


TEXTS = [f"text {number % 7} {'x' * (number % 5)}" for number in range(40)]


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache.sqlite")


def test_duplicates_and_blanks_are_not_sent_and_order_is_kept() -> None:
    system, engine = Shouting(), Engine()
    texts = ["b", "a", "b", "", " \t", "c", "a"]
    assert engine.translate(system, texts) == ["B", "A", "B", "", "", "C", "A"]
    assert sorted(system.sent) == ["a", "b", "c"] and engine.calls == 3
    assert engine.translate(system, []) == []


def test_longest_first_in_batches_under_the_limits() -> None:
    system = Shouting(limits=Limits(texts=3, characters=10))
    Engine().translate(system, ["aa", "bbbb", "cccccc", "d", "eeeeeeeeeeeeeee", "ff"])
    assert system.batches == [["eeeeeeeeeeeeeee"], ["cccccc", "bbbb"], ["aa", "ff", "d"]]


@given(st.lists(st.text("ab", max_size=9), max_size=30), st.integers(1, 6), st.one_of(st.none(), st.integers(1, 20)))
def test_batches_hold_everything_once_and_stay_small(texts: list[str], most: int, characters: int | None) -> None:
    batches = in_batches(texts, Limits(texts=most, characters=characters), len)
    assert [text for batch in batches for text in batch] == texts
    assert all(0 < len(batch) <= most for batch in batches)
    if characters is not None:
        assert all(len(batch) == 1 or sum(map(len, batch)) <= characters for batch in batches)


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: you …"),
    ],
)
def test_a_batch_that_does_not_fit_into_memory_is_halved(error: Exception) -> None:
    sizes: list[int] = []

    def answer(batch: list[str]) -> list[str]:
        sizes.append(len(batch))
        if len(batch) > 2:
            raise error
        return [text.upper() for text in batch]

    assert halving(answer, list("abcde")) == list("ABCDE")
    assert sizes == [5, 2, 3, 1, 2]


def test_other_errors_are_raised_and_a_single_text_that_does_not_fit_says_what_to_do() -> None:
    def answer(batch: list[str]) -> list[str]:
        raise RuntimeError("out of memory" if batch == ["a"] else "shape mismatch")

    with pytest.raises(ResumableError, match=r"not enough memory for a single text.*smaller model"):
        halving(answer, ["a"])
    with pytest.raises(RuntimeError, match="shape mismatch"):
        halving(answer, ["a", "b"])


@pytest.mark.parametrize("fails_at", range(5))
def test_a_fault_in_the_middle_then_resumed_sends_no_text_twice(cache: Cache, fails_at: int) -> None:
    system = Shouting()
    system.fails_at = fails_at
    with pytest.raises(ConnectionError):
        Engine(cache).translate(system, TEXTS)
    system.fails_at = None
    engine = Engine(cache)
    ((_, left),) = engine.unsent(system, TEXTS)
    assert len(left) == len(set(TEXTS)) - 4 * fails_at
    assert engine.translate(system, TEXTS) == [text.upper() for text in TEXTS]
    assert sorted(system.sent) == sorted(set(TEXTS))
    assert Engine(cache).unsent(system, [*TEXTS, " ", ""]) == [(system, [])]


def test_a_fault_with_concurrent_calls_sends_no_text_twice(cache: Cache) -> None:
    system = Shouting(limits=Limits(texts=2, concurrent=3))
    system.fails_at = 4
    with pytest.raises(ConnectionError):
        Engine(cache).translate(system, TEXTS)
    system.fails_at = None
    assert Engine(cache).translate(system, TEXTS) == [text.upper() for text in TEXTS]
    assert sorted(system.sent) == sorted(set(TEXTS))


def test_another_signature_is_asked_anew(cache: Cache) -> None:
    for version, asked in (("1", True), ("2", True), ("1", False)):
        system = Shouting(version)
        Engine(cache).translate(system, TEXTS)
        assert bool(system.sent) == asked


def test_a_wrong_number_of_results_is_refused_and_nothing_of_it_kept(cache: Cache) -> None:
    system = Shouting()
    system.translate = lambda texts: ["one"]  # type: ignore[method-assign]
    with pytest.raises(ResumableError, match="shouting gave 1 translations for 4 texts"):
        Engine(cache).translate(system, TEXTS)
    assert cache.info().entries == 0


@pytest.mark.parametrize("workers", [None, Local(3), Local(2, "processes")])
def test_every_executor_gives_the_same_answers(
    cache: Cache, workers: Local | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(SYSTEMS._things, "shouting", Shouting)
    engine = Engine(cache, workers=workers)
    assert engine.translate(Shouting(), TEXTS) == [text.upper() for text in TEXTS]
    assert engine.calls == len(set(TEXTS))


def test_a_costly_scorer_judges_each_pair_once(cache: Cache) -> None:
    batch = Questions(["aa", "b", "aa", "aa"], [["x"], ["x"], ["x"], ["xyz"]], ["s1", "s2", "s3", "s4"])
    for known in (False, True):
        scorer = Length()
        rows = Engine(cache).judge(scorer, batch)
        assert rows.tolist() == [[1, 1], [0, 1], [1, 1], [-1, 1]]
        assert sorted(scorer.judged) == ([] if known else ["aa", "aa", "b"])


def test_cheap_scorers_are_computed_and_not_stored(cache: Cache) -> None:
    from babelquake.scorers import scorer

    chrf = scorer("chrf")
    batch = Questions(["the cat"] * 3, [["the cat"], ["a cat"], ["dog"]])
    rows = Engine(cache).judge(chrf, batch)
    assert np.array_equal(rows, chrf.statistics(batch)) and cache.info().entries == 0
    assert Engine(cache).judge(chrf, Questions([], [])).shape[0] == 0


@pytest.mark.parametrize("name", ["chrf", "chrf++", "ter", "bleu"])
def test_string_scorers_judge_on_all_cores_and_a_few_texts_here(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from babelquake.scorers import scorer

    monkeypatch.setattr("babelquake.scorers.base.cores", lambda: 3)
    made = scorer(name)
    seen: list[str] = []
    plain = made.statistics

    def statistics(questions: Questions) -> Array:
        seen.append(threading.current_thread().name)
        return plain(questions)

    monkeypatch.setattr(made, "statistics", statistics)
    texts = [f"sentence {number} of {number % 7}" for number in range(9_000)]
    questions = Questions(texts, [[text[::-1]] for text in texts])
    assert np.array_equal(Engine(quiet=True).judge(made, questions), plain(questions))
    here = threading.current_thread().name
    assert (here not in seen) == made.threads and len(seen) == (5 if made.threads else 1)
    Engine(quiet=True).judge(made, questions.rows(0, 100))
    assert seen[-1] == here
