"""Names become things when asked for, and wrong names get a hint."""

import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from babelquake import registry as module
from babelquake.errors import UserError, did_you_mean
from babelquake.perturb import Perturbation
from babelquake.perturb.card import PERTURBATIONS
from babelquake.perturb.suite import suite
from babelquake.registry import Registry


@pytest.fixture
def things(monkeypatch: pytest.MonkeyPatch) -> Registry[object]:
    points = [
        EntryPoint("path", "pathlib:Path", "tests.things"),
        EntryPoint("json", "another:thing", "tests.things"),
        EntryPoint("gone", "no_such_package:Thing", "tests.things"),
        EntryPoint("empty", "pathlib:NoSuchThing", "tests.things"),
    ]
    monkeypatch.setattr(module, "entry_points", lambda group: points if group == "tests.things" else [])
    return Registry("thing", "tests.things", {"json": "json:dumps", "zip": "zipfile:ZipFile"})


def test_a_thing_is_imported_when_it_is_asked_for(things: Registry[object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "zipfile", raising=False)
    assert "zip" in things.names()
    assert "zipfile" not in sys.modules
    assert things.get("zip").__name__ == "ZipFile"  # type: ignore[attr-defined]


def test_plug_ins_join_and_never_displace_what_ships(things: Registry[object]) -> None:
    assert things.names() == ["empty", "gone", "json", "path", "zip"]
    assert things.get("path") is Path
    assert things.get("json").__name__ == "dumps"  # type: ignore[attr-defined]


def test_a_broken_plug_in_is_set_aside_and_the_rest_works(things: Registry[object]) -> None:
    assert [name for name, _ in things.items()] == ["json", "path", "zip"]
    assert sorted(things.set_aside) == ["empty", "gone", "json"]
    assert "built-in" in things.set_aside["json"] and "'json'" in things.set_aside["json"]


def test_a_plug_in_that_fails_in_its_own_way_is_named(things: Registry[object], tmp_path: Path) -> None:
    (tmp_path / "breaks_when_loaded.py").write_text("1 / 0")
    sys.path.insert(0, str(tmp_path))
    things.names()
    things._plugins["breaks"] = "breaks_when_loaded:Thing"
    with pytest.raises(UserError, match=r"thing 'breaks', a plug-in from breaks_when_loaded:Thing.*ZeroDivisionError"):
        things.get("breaks")
    sys.path.remove(str(tmp_path))


def test_a_wrong_name_gets_a_hint(things: Registry[object]) -> None:
    with pytest.raises(UserError, match=r"^no thing is called 'jsn'. Did you mean 'json'\?$"):
        things.get("jsn")
    with pytest.raises(UserError, match=r"Available: empty, gone, json, path, zip\.$"):
        things.get("quite-another")


@pytest.mark.parametrize(("name", "why"), [("gone", "No module named 'no_such_package'"), ("empty", "has no 'NoSuch")])
def test_a_plug_in_that_cannot_be_loaded_is_named(things: Registry[object], name: str, why: str) -> None:
    with pytest.raises(UserError, match=f"thing '{name}' cannot be loaded: .*{why}"):
        things.get(name)


def test_a_name_is_given_once(things: Registry[object]) -> None:
    things.register("new", 1)
    assert things.get("new") == 1
    with pytest.raises(UserError, match="two things are called 'new'"):
        things.register("new", 2)
    with pytest.raises(UserError, match="two things are called 'json'"):
        things.register("json", 2)


def test_a_plug_in_may_register_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "my_shouting.py").write_text(
        "from babelquake.perturb import perturbation\n"
        "@perturbation('my-shout', family='case', meaning='preserving')\n"
        "def shout(text: str) -> str:\n"
        "    '''Upper case.'''\n"
        "    return text.upper()\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    assert PERTURBATIONS.names()
    for attribute in ("_plugins", "_things"):
        monkeypatch.setattr(PERTURBATIONS, attribute, dict(getattr(PERTURBATIONS, attribute)))
    PERTURBATIONS._plugins["my-shout"] = "my_shouting"
    assert Perturbation("my-shout").apply("hallo") == "HALLO"


def test_of_many_names_the_nearest_are_named_and_what_lists_them_all() -> None:
    known = PERTURBATIONS.names()
    assert len(known) > 50
    for far in ("zzqq", "q"):
        with pytest.raises(UserError) as raised:
            suite(far)
        said = str(raised.value)
        assert "babelquake list perturbations" in said and len(said) < 200
        assert sum(f" {name}," in said or f" {name}." in said for name in known) <= 3
        with pytest.raises(UserError, match="babelquake list perturbations"):
            Perturbation(far)
    with pytest.raises(UserError, match=r"Did you mean 'keyboard-typo' or 'natural-typo'\?$"):
        suite("typo")


def test_hints_see_through_letter_case() -> None:
    assert did_you_mean("BLEU", ["bleu", "chrf"]) == "Did you mean 'bleu'?"
    assert did_you_mean("News.TSV", ["news.tsv"]) == "Did you mean 'news.tsv'?"
    assert did_you_mean("x", []) == ""
