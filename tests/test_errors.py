"""A single text where a list is meant is refused with the fix: letters are never taken for texts."""

from collections.abc import Callable

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
    with pytest.raises(UserError, match=r"are a list of texts, one per segment: write \[text\] for a single one"):
        CALLS[name]("Das ist ein Text.")


def test_a_tuple_is_as_good_as_a_list() -> None:
    assert bq.system("command[cmd=cat]").translate(("Ja.", "Nein.")) == ["Ja.", "Nein."]
