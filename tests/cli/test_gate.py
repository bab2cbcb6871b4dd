"""The gate on models that fall apart, from the command line to its exit status."""

import json
import sys
from pathlib import Path

import pytest

from .conftest import Command

SCORERS = ("chrf", "chrf++", "bleu", "bleu[lowercase=true]", "ter", "chrf[char_order=3]", "bleu[tokenize=char]")
SENTENCE = "the train to Hamburg is not late again today because 12 of the 30 signals near our old bridge broke"
SENTENCES = 18
LOSES = """
import sys
clean = set(open("clean.txt", encoding="utf-8").read().splitlines())
for line in sys.stdin:
    line = line.rstrip("\\n")
    words = line.split(" ")
    kept = words if line in clean else [word for place, word in enumerate(words) if place % 5 not in (1, 3)]
    print(" ".join(kept), flush=True)
"""
"""A program that copies what it knows, and two words of five less of everything else."""


@pytest.fixture
def material(tmp_path: Path) -> Path:
    """Distinct English sentences as their own references, and the program."""
    words = SENTENCE.split()
    texts = [" ".join(words[start:] + words[:start]).capitalize() + "." for start in range(SENTENCES)]
    (tmp_path / "clean.txt").write_text("\n".join(texts) + "\n", "utf-8")
    lines = ["source\treference", *(f"{text}\t{text}" for text in texts)]
    (tmp_path / "news.en-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    (tmp_path / "loses.py").write_text(LOSES, "utf-8")
    return tmp_path


@pytest.mark.slow
def test_two_words_in_five_lost_on_every_perturbed_source_stop_the_gate(cli: Command, material: Path) -> None:
    """Suite `all`, seven scorers, several hundred tests: under one correction for all of them none was significant."""
    judged = [word for scorer in SCORERS for word in ("--scorer", scorer)]
    many = ("--data", "news.en-en.tsv", "--suite", "all", *judged)
    common = (*many, "--replicates", "1", "--resamples", "400", "--quiet")
    cli("mt", "--system", "command[cmd=cat]", *common, "--out", "old")
    cli("mt", "--system", f"command[cmd={sys.executable} loses.py]", *common, "--out", "new")
    stopped = cli("compare", "old", "new", "--fail-on", "regression", "--json", status=1)
    changes = json.loads(stopped.stdout)["changes"]
    fallen = [change for change in changes if change["measure"] == "robust" and change["new"] < change["old"] - 5]
    assert len(changes) > 300 and len(fallen) > 150
    assert sum(change["regression"] for change in fallen) / len(fallen) > 0.9
    cli("compare", "old", "old", "--fail-on", "regression")


DEAD = "import sys\nfor line in sys.stdin:\n    print('I would like to thank the rapporteur.', flush=True)\n"


@pytest.mark.slow
def test_a_dead_model_does_not_pass(cli: Command, shared_data: Path, tmp_path: Path) -> None:
    """Eighty sentences of Europarl: chrF falls from 58 to about 10, while ROBUST and CONSIS become 100."""
    (tmp_path / "dead.py").write_text(DEAD, "utf-8")
    data = ("--data", str(shared_data / "europarl" / "test.de-en.tsv"), "--limit", "80", "--suite", "niu2020")
    common = (*data, "--scorer", "chrf", "--scorer", "bleu", "--quiet")
    cli("mt", "--system", "bundled[model=de-en-bpe,name=mine]", *common, "--out", "good")
    cli("mt", "--system", f"command[cmd={sys.executable} dead.py,name=mine]", *common, "--out", "dead")
    stopped = cli("compare", "good", "dead", "--fail-on", "regression", status=1)
    answer = stopped.stdout.splitlines()[0]
    assert "worse on clean text" in answer and "p < .001" in answer
    worse = next(line for line in stopped.stdout.splitlines() if line.startswith("Worse"))
    assert "clean quality by chrF" in worse and worse in stopped.stderr
    assert "Better" not in stopped.stdout
    cli("compare", "good", "good", "--fail-on", "regression", "--require", "quality[chrf] >= 50")
    cli("compare", "good", "dead", "--require", "quality[chrf] >= 50", status=1)
