"""Perturbations of one's own: `module:function`."""

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
