"""Functions and classes of other people as systems."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from babelquake.errors import UserError
from babelquake.systems import SYSTEMS, system

MODULE = """
def translate(texts):
    return [text.upper() for text in texts]

def one(text: str) -> str:
    return text[::-1]

def wrong(texts):
    return "one text"

def crash(texts):
    raise ValueError("no weights")

class Mine:
    def __init__(self, mark="!"):
        self.mark = mark
    def translate(self, texts):
        return [text + self.mark for text in texts]
    @property
    def signature(self):
        return f"mine|{self.mark}"

constant = 7
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"my_module_{abs(hash(tmp_path))}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.chdir(tmp_path)
    return name


def test_a_function_in_the_working_folder_is_a_system(module: str) -> None:
    made = system(f"{module}:translate")
    assert made.translate(["ab", "c"]) == ["AB", "C"]
    assert made.name == f"{module}:translate"
    assert made.signature.startswith(f"{module}:translate|content:")


def test_a_function_of_one_text_says_so_by_its_annotation(module: str) -> None:
    assert system(f"{module}:one").translate(["ab", "c"]) == ["ba", "c"]


def test_a_class_takes_options_and_needs_no_base_class(module: str) -> None:
    made = system(f"{module}:Mine[mark=?]", "de-en")
    assert made.translate(["a"]) == ["a?"]
    assert made.signature == "mine|?"
    assert made.limits.texts >= 1
    made.close()


def test_a_function_may_be_given_itself() -> None:
    def shout(texts: Sequence[str]) -> list[str]:
        return [text.upper() for text in texts]

    made = system(shout)
    assert made.translate(["a"]) == ["A"]
    assert "shout" in made.name


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("no_such_module_here:translate", "No module named"),
        ("{module}:nothing", "has no 'nothing'"),
        ("{module}:constant", "neither a function nor a class"),
        ("{module}:translate[beam=4]", "no option 'beam'"),
    ],
)
def test_what_is_no_system_is_named(module: str, place: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        system(place.format(module=module))


def test_an_answer_that_is_no_list_is_refused(module: str) -> None:
    with pytest.raises(UserError, match="str instead of a list of translations"):
        system(f"{module}:wrong").translate(["a"])


def test_what_fails_in_the_user_s_own_code_is_told_as_theirs(module: str) -> None:
    with pytest.raises(UserError, match=r":crash failed: ValueError: no weights \(my_module_\d+\.py line 12\)"):
        system(f"{module}:crash").translate(["a"])


def test_a_plug_in_needs_translate_and_signature_alone(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(".")
    monkeypatch.setattr(SYSTEMS, "_plugins", {"mine": f"{module}:Mine"})
    monkeypatch.setattr(SYSTEMS, "_things", dict(SYSTEMS._things))
    assert system("mine[mark=~]").translate(["a"]) == ["a~"]


def test_every_system_takes_a_name() -> None:
    made = system("command[cmd=cat,name=copy]")
    assert made.name == "copy"
    assert made.signature == system("command[cmd=cat]").signature
    assert system("deepl[name=the paid one]", "de-en").name == "the paid one"


def test_what_cannot_change_a_translation_is_not_part_of_the_identity() -> None:
    assert system("command[cmd=cat,timeout=5]").identity == system("command[cmd=cat]").identity
    assert system("deepl[rate=2]", "de-en").identity == system("deepl[timeout=9]", "de-en").identity
    assert system("command[cmd=cat]").identity != system("command[cmd=rev]").identity


def test_functions_without_a_name_have_signatures_of_their_own() -> None:
    made = [system(lambda texts, mark=mark: [text + mark for text in texts]) for mark in "!?"]
    assert len({one.signature for one in made}) == 2


def test_what_is_no_function_is_no_system() -> None:
    with pytest.raises(UserError, match="NoneType is not a system"):
        system(None)  # type: ignore[arg-type]


def test_a_function_that_loses_texts_is_told_so() -> None:
    with pytest.raises(UserError, match="returned 1 translations for 2 texts"):
        system(lambda texts: list(texts)[:1]).translate(["Ja.", "Nein."])


def test_translations_may_come_as_an_array_a_series_or_a_generator() -> None:
    for made in (np.array, pl.Series, iter):
        assert system(lambda texts, made=made: made([text + "!" for text in texts])).translate(["Ja."]) == ["Ja.!"]


def test_a_function_of_one_text_that_does_not_say_so_is_told_how() -> None:
    with pytest.raises(UserError, match=r"'list' object has no attribute 'upper'.*def translate\(text: str\)"):
        system(lambda text: text.upper()).translate(["Ja."])
