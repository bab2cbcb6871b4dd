"""What there is, as tables and as JSON."""

import json
from collections.abc import Callable

import pytest
from typer.testing import Result

from babelquake.cli.listing import LISTINGS

FIELDS = {"name", "family", "paper", "meaning", "level", "unit", "languages", "side"}


def test_perturbations_as_json(cli: Callable[..., Result]) -> None:
    rows = json.loads(cli("list", "perturbations", "--json").stdout)
    assert all(row.keys() >= FIELDS for row in rows)
    found = {row["name"]: row for row in rows}
    assert (found["misspell"]["level"], found["misspell"]["meaning"]) == (0.1, "preserving")
    assert found["word-drop"]["meaning"] == "altering"


@pytest.mark.parametrize("kind", ["perturbations", "suites", "scorers", "systems", "recipes", "formats", "models"])
def test_every_listing_has_names_and_a_table(cli: Callable[..., Result], kind: str) -> None:
    rows = json.loads(cli("list", kind, "--json").stdout)
    assert len({tuple(row) for row in rows}) == 1, "every row has the same fields"
    names = [row["name"] for row in rows]
    assert names and names == sorted(names)
    table = cli("list", kind).stdout
    assert all(name in table for name in names)


def test_a_wrong_kind(cli: Callable[..., Result]) -> None:
    said = cli("list", "suits", status=2).stderr
    assert "suites" in said and "Value error" not in said


def test_a_narrow_terminal_does_without_what_json_has(
    monkeypatch: pytest.MonkeyPatch, cli: Callable[..., Result]
) -> None:
    """80 columns: names, levels and descriptions, not eleven columns of four letters."""
    monkeypatch.setattr("babelquake.cli.printing.PIPED", 80)
    for kind in ("perturbations", "papers", "models"):
        shown = cli("list", kind).stdout
        assert "--json" in shown
        assert max(map(len, shown.splitlines())) <= 80


def test_bare_list_lists_everything(cli: Callable[..., Result]) -> None:
    found = json.loads(cli("list", "--json").stdout)
    assert set(found) == {str(kind) for kind in LISTINGS}
    shown = cli("list").stdout
    assert all(word in shown for word in ("misspell", "everyday", "bertscore", "ctranslate2", "deepwordbug", "niu2020"))


def test_help_shows_whole_summaries(cli: Callable[..., Result]) -> None:
    assert "..." not in cli("--help").stdout.partition("Commands:")[2]


def test_models_say_which_languages_they_know(cli: Callable[..., Result]) -> None:
    pytest.importorskip("babelquake_models", reason="needs the models that ship")
    found = {row["name"]: row["languages"] for row in json.loads(cli("list", "models", "--json").stdout)}
    assert all(found.values())
    assert {"et", "ne", "ro", "si", "cs", "uk"} <= set(found["vectors-multi"])
    assert "ru-en" in found["qe-multi"] and found["minilm-en"] == ["en"]
