"""The gate on models that fall apart, from the command line to its exit status."""

import sys
from pathlib import Path

import pytest

from .conftest import Command

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
    useless, answer = stopped.stdout.splitlines()[:2]
    assert "no better than" in useless and "worse on clean text" in answer and "p < .001" in answer
    worse = next(line for line in stopped.stdout.splitlines() if line.startswith("Worse"))
    assert "clean quality by chrF" in worse and worse in stopped.stderr
    assert "Better" not in stopped.stdout
    cli("compare", "good", "good", "--fail-on", "regression", "--require", "quality[chrf] >= 50")
    cli("compare", "good", "dead", "--require", "quality[chrf] >= 50", status=1)
