"""Perturbations of one's own: functions, objects and classes, handed over or named as `module:name`."""

from pathlib import Path

import pytest

import babelquake as bq
from babelquake.errors import UserError
from babelquake.perturb import Perturbation, perturb
from babelquake.perturb.suite import suite

CODE = """
def double_spaces(text, level: float = 0.5, rng=None):
    if " " not in text:
        return None
    return "".join("  " if char == " " and rng.chance(level) else char for char in text)

def shout(text, mark: str = "!"):
    return text + mark

def broken(text):
    return text.nothing()

def number(text):
    return 3

def blind(*, strength=1):
    return ""

class Marks:
    def __init__(self, mark="!"):
        self.mark = mark
    def perturb(self, text, level: float = 1.0, rng=None):
        return text + self.mark if rng.chance(level) else text
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_noise.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "own_noise", raising=False)


def test_a_function_is_a_perturbation() -> None:
    assert perturb("own_noise:double_spaces", ["a b", "ab"], level=1) == ["a  b", None]
    assert perturb("own_noise:shout[mark=?]", ["Hi"]) == ["Hi?"]
    levels = [change.level for change in suite("own_noise:double_spaces[level=0.1|0.2],case").perturbations]
    assert levels == [0.1, 0.2, 0.5]
    assert "content:" in Perturbation("own_noise:shout").signature("en")


class Ends:
    """An object that somebody wrote for another tool: it has a method, and no base class."""

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self.seen: list[str] = []

    def perturb(self, sentence: str) -> str | None:
        self.seen.append(sentence)
        return sentence + self.mark if sentence else None


class Called(Ends):
    name = "my endings"
    signature = "endings|v2"


def test_an_object_with_perturb_is_a_perturbation() -> None:
    assert bq.perturb(Ends("!"), ["Hi", ""]) == ["Hi!", None]
    assert bq.perturb(Called("?"), ["Hi"]) == ["Hi?"]
    table = bq.perturb_table([Ends("!"), "case[to=upper,level=1]"], ["Hi"])
    assert dict(table.select("perturbation", "text").iter_rows()) == {"Ends": "Hi!", "case[to=upper]": "HI"}
    assert bq.augment(["Hi"], [Called(".")], share=1) == ["Hi."]
    assert bq.perturb("own_noise:Marks[mark=?]", ["Hi"]) == ["Hi?"]
    assert bq.perturb("own_noise:Marks", ["Hi"], level=0) == ["Hi"]


def test_objects_are_told_apart_by_their_signature_or_their_values() -> None:
    one, other, same = (Perturbation(Ends(mark)).signature("en") for mark in "!?!")
    assert one == same != other
    assert Perturbation(Called("!")).signature("en") == "my endings|endings|v2"
    again = Ends("!")
    assert [change.label for change in suite([again, again]).perturbations] == ["Ends"]
    with pytest.raises(UserError, match="'Ends'"):
        suite([Ends("!"), Ends("?")])


def test_what_cannot_perturb_is_refused() -> None:
    with pytest.raises(UserError, match=r"int is not a perturbation.*perturb\(text\)"):
        perturb(3, ["Hi"])  # type: ignore[arg-type]
    odd = Called("!")
    odd.name = "endings[2]"
    with pytest.raises(UserError, match=r"endings\[2\]"):
        perturb(odd, ["Hi"])


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("own_noise:broken", r"own_noise:broken failed: AttributeError.*own_noise\.py line"),
        ("own_noise:number", "returned int. Expected a text, or None"),
        ("own_noise:blind", "first parameter must be the text"),
        ("own_noise:missing", "has no 'missing'"),
        ("nowhere_at_all:shout", "cannot be loaded"),
        ("own_noise.py:shout", "not a file: own_noise:shout"),
        ("own_noise:shout[level=1]", "has no level"),
    ],
)
def test_mistakes_are_told_as_the_user_s(name: str, told: str) -> None:
    with pytest.raises(UserError, match=told):
        perturb(name, ["Hi there"])


def test_a_file_names_no_code(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("perturbations: ['own_noise:shout']\n")
    with pytest.raises(UserError, match="on the command line or in Python"):
        suite(str(tmp_path / "mine.yaml"))


def test_a_study_takes_it_too(tmp_path: Path) -> None:
    pairs = [("a b c", "a b c"), ("d e f", "d e f")]
    run = bq.mt(
        systems=lambda texts: list(texts),
        data=pairs,
        suite="own_noise:double_spaces[level=1]",
        out=tmp_path / "run",
        resamples=100,
    )
    assert set(run.measures["perturbation"].drop_nulls()) >= {"own_noise:double_spaces"}
    assert "content:" in "".join(run.measures["signature"])


@pytest.mark.parametrize("study", ["mt", "metric", "qe"])
def test_every_study_with_a_suite_takes_an_object(study: str, tmp_path: Path) -> None:
    rated = [{"source": f"Eins {n}.", "reference": f"One {n}.", "translation": f"A {n}.", "system": "s"} for n in "abc"]
    told = {"data": rated, "suite": [Called("!")], "language_pair": "de-en", "out": tmp_path / "run"}
    if study == "mt":
        run = bq.mt(systems=lambda texts: list(texts), **told, resamples=100)
    elif study == "metric":
        run = bq.metric(scorers=["chrf"], side="translation", **told, resamples=100)
    else:
        run = bq.qe(scorers=["chrf"], **told, resamples=100)
    assert "my endings" in set(run.measures["perturbation"].drop_nulls())
    assert "endings|v2" in "".join(run.measures["signature"])
    assert set(run.variants["text"].str.slice(-1)) == {"!"}
