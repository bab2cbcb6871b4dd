"""Signatures and digests tell different things apart."""

from hypothesis import given
from hypothesis import strategies as st

from babelquake.signature import run_signature, signature
from babelquake.text import digest
from babelquake.version import VERSION

TEXTS = st.lists(st.one_of(st.none(), st.text(st.characters(), max_size=5)), max_size=5)


def test_parts_and_facts_stand_in_the_order_given() -> None:
    assert signature("chrf", "nc:6", seed=5, data=None, case="mixed") == "chrf|nc:6|seed:5|case:mixed"
    assert run_signature(seed=0) == f"seed:0|babelquake:{VERSION}"


def test_a_digest_does_not_change_between_versions() -> None:
    assert digest(["Hallo", "Welt"]) == "3b7a0130d624"


@given(one=TEXTS, other=TEXTS)
def test_a_digest_tells_lists_apart(one: list[str | None], other: list[str | None]) -> None:
    assert (digest(one) == digest(other)) == (one == other)


def test_a_digest_sees_where_texts_end_order_and_absence() -> None:
    assert (
        len(
            {
                digest(["ab", "c"]),
                digest(["a", "bc"]),
                digest(["c", "ab"]),
                digest(["ab", "c", ""]),
                digest(["ab", "c", None]),
            }
        )
        == 5
    )
