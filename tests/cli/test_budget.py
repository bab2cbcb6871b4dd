"""`babelquake mt --dry-run` and `--budget`: what a study costs, before it does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

TEXTS = ("Ja.", "Ja", "Nee.", "Nee")


@pytest.fixture
def words(tmp_path: Path) -> tuple[str, ...]:
    rows = ["source\treference\tlp", "Ja.\tYes.\tde-en", "Nee.\tNo.\tnl-en"]
    (tmp_path / "two.tsv").write_text("\n".join(rows) + "\n")
    return ("mt", "-s", "faraway", "-d", "two.tsv", "-p", "final-delete", "-m", "chrf", "--resamples", "100", "-o", "R")


def test_a_dry_run_prices_every_language_pair(cli: Callable[..., Result], words: tuple[str, ...], faraway: Any) -> None:
    counted = json.loads(cli(*words, "--dry-run", "--json").stdout)
    assert [(row["language_pair"], row["texts"], row["characters"]) for row in counted["systems"]] == [
        ("de-en", 2, 5),
        ("nl-en", 2, 7),
    ]
    shown = cli(*words, "--dry-run").stdout
    assert "faraway de-en: 2 texts to translate, 5 characters, about $0.00" in shown
    assert not faraway.sent


def test_nothing_is_sent_past_the_budget(
    cli: Callable[..., Result], words: tuple[str, ...], faraway: Any, tmp_path: Path
) -> None:
    told = cli(*words, "--budget", "11", status=2).stderr
    assert "12 characters are still to be sent" in told and "about $0.00" in told and "--budget allows 11" in told
    assert not faraway.sent and not (tmp_path / "R").exists()
    assert "--budget allows 11" in cli(*words, "--dry-run", "--budget", "11", status=2).stderr


def test_finished_texts_cost_nothing(cli: Callable[..., Result], words: tuple[str, ...], faraway: Any) -> None:
    cli(*words, "--budget", "12")
    assert sorted(faraway.sent) == sorted(TEXTS)
    cli(*words, "--budget", "0")
    cli(*words, "--budget", "0", "--restart")
    cli(*words, "--budget", "0", "--cache", "none")
    assert "--budget allows 0" in cli(*words, "--budget", "0", "--cache", "none", "--restart", status=2).stderr
    assert sorted(faraway.sent) == sorted(TEXTS)
