"""Generators that ask together, and memories that keep them from asking twice."""

from typing import Any

import pytest

from babelquake.attacks.requests import Agreement, Asking, Closeness, Memory, Perplexity, Rendering
from babelquake.generators import together
from babelquake.resource import Gap
from babelquake.scorers.base import Question


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
        first = yield [Question("a"), Question("a"), Perplexity("a")]
        second = yield [Question("a"), Question("b")]
        return [*first, *second]

    memory, log = Memory(), []
    values = toys.driven(memory.remembering(asking()), lambda request: float(len(log)), log)
    assert log == [[Question("a"), Perplexity("a")], [Question("b")]]
    assert values == [1.0, 1.0, 1.0, 1.0, 2.0]
    assert memory.queries == 2


def test_requests_of_two_kinds_about_one_text_are_two_requests() -> None:
    text = "x"
    kinds = [Question(text), Perplexity(text), Rendering(text)]
    kinds += [Closeness(text, text), Agreement(text, text), Gap(text, text)]
    assert len(set(kinds)) == len(kinds)

    def ask() -> Asking[list[object]]:
        return (yield [Perplexity(text), Rendering(text)])

    asking = Memory().remembering(ask())
    assert next(asking) == [Perplexity(text), Rendering(text)]
    with pytest.raises(StopIteration) as end:
        asking.send([12.5, "ein Text"])
    assert end.value.value == [12.5, "ein Text"]
