"""A single text where a list is meant is refused with the fix: letters are never taken for texts."""

from collections.abc import Callable
from typing import Any

import pytest

import babelquake as bq
from babelquake.errors import UserError

CALLS: dict[str, Callable[[str], object]] = {
    "perturb": lambda text: bq.perturb("case", text),
    "perturb_table": lambda text: bq.perturb_table("case", text),  # type: ignore[arg-type]
    "segments": lambda text: bq.scorer("chrf").segments(text, [text]),
    "corpus": lambda text: bq.scorer("chrf").corpus([text], text),
    "translate": lambda text: bq.system("command[cmd=cat]").translate(text),
    "own system": lambda text: bq.system("bundled[model=de-en-bpe]").translate(text),
}


@pytest.mark.parametrize("name", CALLS)
def test_one_text_is_no_list(name: str) -> None:
    with pytest.raises(UserError, match=r"must be a list of texts, one per segment: write \[text\] for a single one"):
        CALLS[name]("Das ist ein Text.")


MISSING: dict[str, Callable[[list[Any]], object]] = {
    "perturb": lambda texts: bq.perturb("case", texts),
    "perturb_table": lambda texts: bq.perturb_table("case", texts),
    "translations": lambda texts: bq.scorer("chrf").segments(texts, ["Ja.", "Nein."]),
    "references": lambda texts: bq.scorer("chrf").segments(["Ja.", "Nein."], texts),
    "sources": lambda texts: bq.scorer("chrf").segments(["Ja.", "Nein."], ["Ja.", "Nein."], texts),
    "translate": lambda texts: bq.system("command[cmd=cat]").translate(texts),
}


@pytest.mark.parametrize("name", MISSING)
@pytest.mark.parametrize("nothing", [None, float("nan"), 7])
def test_what_is_no_text_is_named_by_its_place(name: str, nothing: object) -> None:
    with pytest.raises(UserError, match=f"must be a list of texts; number 2 is {nothing!r}"):
        MISSING[name](["Ja.", nothing])


def test_a_tuple_is_as_good_as_a_list() -> None:
    assert bq.system("command[cmd=cat]").translate(("Ja.", "Nein.")) == ["Ja.", "Nein."]
