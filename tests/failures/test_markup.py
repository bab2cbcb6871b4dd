"""Placeholders, tags, URLs and addresses."""

import pytest
from tests.failures.conftest import Kinds

from babelquake.failures import detect


@pytest.mark.parametrize(
    ("source", "translation", "kind"),
    [
        ("Hello {user_name}!", "Ahoj {jmeno_uzivatele}!", "placeholder"),
        ("%s of %d files", "%s z souborů", "placeholder"),
        ("Hi {{name}}.", "Ahoj.", "placeholder"),
        ("Hi %(name)s.", "Ahoj %(jmeno)s.", "placeholder"),
        (
            "{count, plural, one {# file} other {# files}}",
            "{pocet, plural, one {# soubor} other {# souborů}}",
            "placeholder",
        ),
        ("Press <b>OK</b>.", "Stiskněte <b>OK.", "tag"),
        ("Press OK.", "Stiskněte OK</s>.", "tag"),
        ("See https://example.org/a.", "Viz https://example.org/b.", "url"),
        ("Write to me@example.org.", "Napište na ja@example.org.", "email"),
    ],
)
def test_what_programs_read_has_to_survive(kinds: Kinds, source: str, translation: str, kind: str) -> None:
    assert kind in kinds(source, translation)


@pytest.mark.parametrize(
    ("source", "translation"),
    [
        ("Hello {user_name}, {0} of {1}!", "{user_name}, ahoj, {1} z {0}!"),
        (
            "{count, plural, one {# file} other {# files}}",
            "{count, plural, one {# soubor} few {# soubory} other {# souborů}}",
        ),
        ('<a href="en.html">Press</a>', '<a href="cs.html">Stiskněte</a>'),
        ("It is 5 < 6 and 7 > 3, 100% sure.", "Je 5 < 6 a 7 > 3, na 100% jistě."),
        ("See (https://example.org/a).", "Viz https://example.org/a, prosím."),
    ],
)
def test_order_plural_forms_and_attributes_may_differ(kinds: Kinds, source: str, translation: str) -> None:
    assert kinds(source, translation) == set()


def test_the_evidence_names_what_was_lost_and_added() -> None:
    (found,) = detect("Hello {user_name}!", "Ahoj {jmeno}!", "en-cs")
    assert "{user_name}" in found.evidence and "{jmeno}" in found.evidence
