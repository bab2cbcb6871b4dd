"""Generators that ask together, and memories that keep them from asking twice."""

from typing import Any

from babelquake.attacks.asking import Asking, Judgement, Memory, Perplexity, together


def adding(texts: list[str]) -> Asking[float]:
    """Asks for one text after another and adds up the replies."""
    total = 0.0
    for text in texts:
        (value,) = yield [Perplexity(text)]
        total += value
    return total


def test_generators_ask_in_step_and_keep_their_order(toys: Any) -> None:
    log: list[Any] = []
    asking = together([adding(["a", "bbb"]), adding([]), adding(["cc"])])
    assert toys.driven(asking, lambda request: float(len(request.fluency_of)), log) == [4.0, 0.0, 2.0]
    assert log == [[Perplexity("a"), Perplexity("cc")], [Perplexity("bbb")]]


def test_nothing_is_asked_twice_and_only_the_victim_counts(toys: Any) -> None:
    def asking() -> Asking[list[float]]:
        first = yield [Judgement("a"), Judgement("a"), Perplexity("a")]
        second = yield [Judgement("a"), Judgement("b")]
        return [*first, *second]

    memory, log = Memory(), []
    values = toys.driven(memory.remembering(asking()), lambda request: float(len(log)), log)
    assert log == [[Judgement("a"), Perplexity("a")], [Judgement("b")]]
    assert values == [1.0, 1.0, 1.0, 1.0, 2.0]
    assert memory.queries == 2
