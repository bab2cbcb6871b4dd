"""Placeholders, tags, URLs, addresses and symbols."""

import pytest
from tests.failures.conftest import Kinds

import babelquake as bq
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
        ("It goes into each <contents> of <div>.", "Jde do každého <obsah> v <div>.", "tag"),
        ("See https://example.org/Ab.", "Viz https://example.org/ab.", "url"),
        ("Nice day 😀👍🏽", "Hezký den 👍🏽", "symbol"),
        ("I can do that 🤠", "To umím 😎", "symbol"),
        ("Nice day", "Hezký den 😀", "symbol"),
        ("A ⁂ rare ꙮ sign 𐍈", "Vzácné znamení", "symbol"),
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
        ("See https://example.org/a.", "Viz https://Example.org/a/."),
        ("Visit www.example shop .", "Navštivte <www.exampleshop>."),
        ("Do you still go to <school>?", "Chodíš ještě do <školy>?"),
        ("I came to <insert city> with her.", "Přijel jsem s ní do <město>."),
        ("A sunny day ☀️ for a 👩‍💻", "Slunečný den ☀ pro 👩‍💻"),
        ("Nice day :)", "Hezký den 🙂"),
    ],
)
def test_order_plural_forms_and_attributes_may_differ(kinds: Kinds, source: str, translation: str) -> None:
    assert kinds(source, translation) == set()


@pytest.mark.parametrize(
    ("pair", "source", "translation"),
    [
        ("en-ko", "%s has joined", "%s님이 참여했습니다"),
        ("en-ja", "%1$s invited %2$s", "%2$sさんが%1$sさんに招待されました"),
        ("en-ja", "%(name)s has joined", "%(name)sさんが参加しました"),
        ("en-zh", "See https://example.com/help for details.", "请访问https://example.com/help了解详情。"),
        ("en-ko", "See www.example.com.", "www.example.com을 방문하세요."),
        ("en-zh", "Mail info@example.com for details.", "请发邮件至info@example.com了解详情。"),
        ("ja-en", "※本品は使い捨て商品です。", "*This product is disposable."),
    ],
)
def test_letters_right_beside_machinery_are_no_part_of_it(
    kinds: Kinds, pair: str, source: str, translation: str
) -> None:
    assert kinds(source, translation, pair) == set()


def test_what_is_lost_beside_such_letters_is_seen(kinds: Kinds) -> None:
    assert kinds("%s has joined", "님이 참여했습니다", "en-ko") == {"placeholder"}
    assert kinds("See https://example.com/a.", "请访问https://example.com/b了解。", "en-zh") == {"url"}


def test_the_evidence_names_what_was_lost_and_added() -> None:
    (found,) = detect("Hello {user_name}!", "Ahoj {jmeno}!", "en-cs")
    assert "{user_name}" in found.evidence and "{jmeno}" in found.evidence


def test_whatever_markup_inserts_and_a_system_drops_is_seen() -> None:
    source = "The committee met on Tuesday and approved the proposals."
    for what, kind in {"tag": "tag", "placeholder": "placeholder", "emoji": "symbol", "rare": "symbol"}.items():
        for seed in range(12):
            (marked,) = bq.perturb("markup", [source], what=what, lang="en", seed=seed)
            assert kind in {failure.kind for failure in detect(marked, source, None)}, marked
            assert kind not in {failure.kind for failure in detect(marked, marked, None)}, marked


def test_a_long_dash_is_no_symbol(kinds: Kinds) -> None:
    assert "symbol" not in kinds("Yes, he said.", "Ano ⎯ řekl.")


def test_letter_case_of_an_e_mail_address_does_not_count(kinds: Kinds) -> None:
    assert "email" not in kinds("Write to Jane@Example.org.", "Pište na jane@example.org.")
    assert "email" in kinds("Write to jane@example.org.", "Pište na jana@example.org.")
