"""Chains: by name, checked, around any system, through the engine."""

from collections.abc import Callable, Sequence

import pytest

import babelquake as bq
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.systems.defences import DEFENCES, Before, defence
from babelquake.systems.defences.several import chosen
from babelquake.systems.defended import Defended, behind


def heard(answer: Callable[[str], str]) -> tuple[bq.System, list[str]]:
    """A system that remembers what it was asked."""
    seen: list[str] = []

    def translate(texts: Sequence[str]) -> list[str]:
        seen.extend(texts)
        return [answer(text) for text in texts]

    made = bq.system(translate, "de-en")
    made.language_pair = "de-en"
    return made, seen


@pytest.mark.parametrize("name", DEFENCES.names())
def test_a_defence_says_what_it_is(name: str) -> None:
    kind = DEFENCES.get(name)
    assert kind.stage in ("before", "around", "behind")
    assert (kind.__doc__ or "").strip()
    spec = "llm[model=m,base_url=http://127.0.0.1:9/v1]" if name == "llm" else name
    made = defence(spec, "de", "en")
    assert str(made) and made.signature == defence(spec, "de", "en").signature


def test_wrong_names_and_chains_are_refused_with_a_hint() -> None:
    with pytest.raises(UserError, match="'fold'"):
        defence("fld", "de")
    with pytest.raises(UserError, match=r"fold\+spell"):
        defence("fold++truecase", "de")
    with pytest.raises(UserError, match="none stands alone"):
        defence("fold+none", "de")
    with pytest.raises(UserError, match="stands behind a system"):
        defence("fold+repair", "de").apply(["x"])
    with pytest.raises(UserError, match="margin"):
        defence("spell[margn=1]", "de")


class Careless(Before):
    """What plug-ins may get wrong."""

    def __init__(self, how: str = "") -> None:
        self.how = how

    def correct(self, text: str) -> str:
        return text

    def apply(self, texts: Sequence[str]) -> list[str]:
        match self.how:
            case "fewer":
                return list(texts)[1:]
            case "lines":
                return [text.replace(" ", "\n", 1) for text in texts]
            case "placeholder":
                return [text.replace("{name}", "{nom}") for text in texts]
            case "order":
                return list(texts)[::-1]
            case "sorted":
                return [text + "!" for text in sorted(texts)]
        return list(texts)


@pytest.mark.parametrize(
    ("how", "said"),
    [("fewer", "2"), ("lines", "lines"), ("placeholder", "{nom}"), ("order", "order"), ("sorted", "order")],
)
def test_a_corrector_that_changes_lines_placeholders_or_order_is_caught(
    how: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(DEFENCES._things, "careless", Careless)
    with pytest.raises(UserError, match="careless") as caught:
        defence(f"fold+careless[how={how}]", "de").apply(["c und d", "b {name} x", "a e"])
    assert said in str(caught.value)


def test_a_defended_system_is_a_system() -> None:
    made = bq.system("defended[defence=fold+repair,system=command[cmd=cat]]", "de-en")
    assert isinstance(made, Defended)
    assert made.translate(["Das  ist\tgut.", ""]) == ["Das ist gut.", ""]
    again = bq.system(made.recipe.spec, made.recipe.language_pair)
    assert again.signature == made.signature != bq.system("command[cmd=cat]", "de-en").signature


def test_what_a_defence_leaves_alone_is_translated_once_for_all() -> None:
    system, seen = heard(str.upper)
    engine = Engine(quiet=True)
    defended = behind(system, "fold")
    assert engine.translate(system, ["a b", "c  d"]) == ["A B", "C  D"]
    assert engine.translate(defended, ["a b", "c  d", "c d", "c d"]) == ["A B", "C D", "C D", "C D"]
    assert sorted(seen) == ["a b", "a b", "c  d", "c d"]  # without a cache, once in each call
    assert isinstance(defended, Defended) and defended.spent.calls == defended.spent.texts == 4
    assert behind(system, "none") is system


def test_a_vote_takes_what_most_versions_agree_on() -> None:
    assert chosen([["x y z", "a b c d", "a b c d"], ["only"], ["one", "two"]]) == ["a b c d", "only", "two"]
    system, seen = heard(lambda text: "noise" if "  " in text else "the same translation")
    assert behind(system, "vote[of=fold]").translate(["Das  ist", "gut so"]) == ["the same translation"] * 2
    assert seen == ["Das  ist", "Das ist", "gut so"]
    with pytest.raises(UserError, match="correctors"):
        behind(system, "vote[of=repair]")


def test_a_fallback_asks_again_only_where_something_failed() -> None:
    system, seen = heard(lambda text: "" if "  " in text else "This is a good translation.")
    texts = ["Das ist ein guter Satz.", "Das  ist ein schlechter Satz."]
    assert behind(system, "fallback[by=fold]").translate(texts) == ["This is a good translation."] * 2
    assert seen == [*texts, "Das ist ein schlechter Satz."]
    second = behind(system, "fallback[system=command[cmd=cat]]")
    assert second.translate(texts)[0] == "This is a good translation."


@pytest.mark.parametrize(
    ("source", "translation", "repaired"),
    [
        ("Hallo {name}, wie geht es?", "Hello {Name}, how are you?", "Hello {name}, how are you?"),
        ("Er zahlte 25 Euro.", "He paid 52 euros.", "He paid 25 euros."),
        ("Das ist <b>gut</b>.", "That is < b>good</ b>.", "That is <b>good</b>."),
        ("Guten Tag, Frau Maier!", "Good day, Mrs Maier", "Good day, Mrs Maier!"),
        ("Guten Morgen, Welt.", "Here is the translation: Good morning, world.", "Good morning, world."),
        ("Alles ist gut.", "All is well.", "All is well."),
        ("Seite %d von 10", "Page of 10", "Page %d of 10"),
    ],
)
def test_what_was_lost_is_restored(source: str, translation: str, repaired: str) -> None:
    system, _ = heard(lambda text: translation)
    assert behind(system, "repair").translate([source]) == [repaired]
