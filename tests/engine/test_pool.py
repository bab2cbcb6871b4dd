"""Searches run side by side give the answers they give alone."""

from collections.abc import Generator

import pytest

from babelquake.engine import pool

Search = Generator[list[int], list[int], str]


def search(name: str, rounds: list[int]) -> Search:
    """Asks for as many numbers as each round says and reports all it was told."""
    told: list[int] = []
    for place, count in enumerate(rounds):
        told += yield [100 * len(name) + 10 * place + question for question in range(count)]
    return f"{name}: {told}"


def square(questions: list[int]) -> list[int]:
    return [question**2 for question in questions]


PLANS = {"a": [3, 1], "bb": [2], "ccc": [], "dddd": [1, 0, 4, 2], "eeeee": [5, 5, 5]}


def alone(name: str) -> str:
    asking = search(name, PLANS[name])
    try:
        questions = next(asking)
        while True:
            questions = asking.send(square(questions))
    except StopIteration as end:
        return str(end.value)


@pytest.mark.parametrize("width", [1, 2, 5, 100])
def test_the_answers_are_those_of_each_search_alone(width: int) -> None:
    found = dict(pool((search(name, rounds) for name, rounds in PLANS.items()), square, width))
    assert [found[place] for place in range(len(PLANS))] == [alone(name) for name in PLANS]


def test_questions_are_merged_into_one_list() -> None:
    asked: list[int] = []

    def answer(questions: list[int]) -> list[int]:
        asked.append(len(questions))
        return square(questions)

    list(pool([search(name, rounds) for name, rounds in PLANS.items()], answer))
    assert asked == [3 + 2 + 1 + 5, 1 + 0 + 5, 4 + 5, 2]


def test_no_more_than_width_searches_are_open() -> None:
    open_now = most = 0

    def counted(name: str) -> Search:
        nonlocal open_now, most
        open_now += 1
        most = max(most, open_now)
        yield [1]
        yield [2]
        open_now -= 1
        return name

    assert len(list(pool((counted(str(number)) for number in range(20)), square, width=4))) == 20
    assert most == 4


def test_searches_that_finish_at_once_ask_nothing() -> None:
    def nothing(questions: list[int]) -> list[int]:
        raise AssertionError("asked")

    assert sorted(pool([search("x", []) for _ in range(3)], nothing)) == [(0, "x: []"), (1, "x: []"), (2, "x: []")]
    assert list(pool([], nothing)) == []


def test_too_few_answers_are_noticed() -> None:
    with pytest.raises(ValueError, match="1 answers to 2 questions"):
        list(pool([search("a", [2])], lambda questions: questions[:1]))
