"""The source as translation, other numbers, names, units and dates."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.perturb import Perturbation

WORDS = ["5", "٣", "km", "€", "Paris", "Rom", "Montag", "May", "%", ",", "CDU"]
RUSSIAN = "На слушании в декабре Блэквуд сказал, что не имел намерения оскорбить буддизм."


def change(name: str, text: str, lang: str | None = "en", replicate: int = 0, source: str | None = None) -> str | None:
    return Perturbation(name).apply(text, lang=lang, replicate=replicate, source=source)


def test_map8_of_kanojia_table_3_is_the_source() -> None:
    assert change("source-copy", "At a hearing in December, Blackwood said …", source=RUSSIAN) == RUSSIAN
    assert change("source-copy", "No source here.") is None


def test_one_digit_of_one_number_changes() -> None:
    text = "In 2014 it won 20 seats and 4,5 % or १२ more."
    for replicate in range(50):
        changed = change("number", text, replicate=replicate)
        assert changed is not None
        assert sum(old != new for old, new in zip(text, changed, strict=True)) == 1
        assert re.sub(r"\d", "#", changed) == re.sub(r"\d", "#", text)
        assert not re.search(r"\b0\d", changed)
    assert change("number", "No numbers") is None


@pytest.mark.parametrize(
    ("lang", "before", "after"),
    [
        ("en", "In Paris, Angela Merkel spoke.", "In Angela Merkel, Paris spoke."),
        ("de", "Gestern traf Angela Merkel die CDU.", "Gestern traf CDU die Angela Merkel."),
        ("en", "Yesterday Merkel spoke.", None),
        ("ja", "彼は大学に行く。", None),
    ],
)
def test_two_names_change_places(lang: str, before: str, after: str | None) -> None:
    assert change("name-swap", before, lang) == after


@pytest.mark.parametrize(
    ("lang", "before", "after"),
    [
        ("en", "It is 20 kilometres away.", "It is 20 miles away."),
        ("en", "It cost €30.", "It cost $30."),
        ("en", "The second time", None),
        ("de", "Das sind 5 Kilometer.", "Das sind 5 Meilen."),
        ("pl", "5 km", None),
    ],
)
def test_units_change(lang: str, before: str, after: str | None) -> None:
    assert change("unit-or-date", before, lang) == after


def test_months_and_days_become_others() -> None:
    days = {change("unit-or-date", "See you on Monday.", replicate=replicate) for replicate in range(60)}
    assert days == {f"See you on {day}day." for day in ("Tues", "Wednes", "Thurs", "Fri", "Satur", "Sun")}
    assert change("unit-or-date", "It may march on.") is None


@given(
    st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)),
    st.sampled_from(["number", "name-swap", "unit-or-date", "source-copy"]),
    st.sampled_from(["en", "de", "uk", "ja", None]),
)
def test_any_text_is_served_the_same_way_twice(text: str, name: str, lang: str | None) -> None:
    changed = change(name, text, lang, source=RUSSIAN)
    assert changed == change(name, text, lang, source=RUSSIAN)
    if name == "number":
        assert (changed is None) == (not any(map(str.isdecimal, text)))
