"""Abbreviations and chat spelling."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from babelquake.perturb import Perturbation


def change(name: str, text: str, lang: str | None = "en") -> str | None:
    return Perturbation(name).apply(text, lang=lang)


@pytest.mark.parametrize(
    ("name", "lang", "before", "after"),
    [
        ("abbreviate", "en", "For example, the European Union and so on.", "E.g., the EU etc."),
        ("abbreviate", "de", "Das kostet zum Beispiel 20 Millionen Euro.", "Das kostet z. B. 20 Mio. Euro."),
        ("informal", "en", "You are going to be great!", "U r gonna be gr8!"),
        ("informal", "en", "A youth-to-youth plan", None),
        ("abbreviate", "ja", "例えば", None),
    ],
)
def test_expressions_become_shorter(name: str, lang: str, before: str, after: str | None) -> None:
    assert change(name, before, lang) == after


@given(
    st.text(), st.sampled_from(["abbreviate", "informal"]), st.sampled_from(["en", "de", "fr", "es", "it", "ru", None])
)
def test_any_text_is_served_the_same_way_twice(text: str, name: str, lang: str | None) -> None:
    assert change(name, text, lang) == change(name, text, lang)
