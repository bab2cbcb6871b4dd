"""`babelquake demo`: one story, one report."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import Result

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.runs.run import Run
from babelquake.studies import demonstration
from babelquake.studies.metric.study import metric
from babelquake.studies.mt.study import mt


def tiny(out: Path, restart: bool = False, engine: Engine | None = None) -> Iterator[tuple[str, Run]]:
    """Two studies on four segments."""
    assert engine is not None and engine.cache is None, "nothing of the demo is cached"
    data = read("news.de-en.tsv")
    yield (
        "A program:",
        mt(
            systems=["command[cmd=cat]"],
            data=data,
            suite="case",
            scorers="chrf",
            out=out / "mt",
            resamples=100,
            restart=restart,
            engine=engine,
        ),
    )
    options = {"resamples": 100, "restart": restart, "engine": engine}
    yield (
        "A metric:",
        metric(scorers="chrf", data=data, suite="final-delete", out=out / "metric", side="source", **options),
    )


def test_the_story_is_told_and_the_report_named(
    cli: Callable[..., Result], data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demonstration, "demonstrate", tiny)
    shown = cli("demo", "--out", "told")
    assert shown.stdout.index("A program:") < shown.stdout.index("ROBUST") < shown.stdout.index("A metric:")
    for run in ("mt", "metric"):
        assert Run.open(tmp_path / "told" / run).verdict[0] in shown.stdout
    assert f"The report is {(tmp_path / 'told' / 'report.html').resolve()}" in shown.stdout
    page = (tmp_path / "told" / "report.html").read_text("utf-8")
    assert '<option value="run-0">mt</option>' in page and '<option value="run-1">metric</option>' in page
    assert cli("demo", "--out", "told").stdout == shown.stdout
    assert cli("demo", "--out", "told", "--restart").stdout == shown.stdout


@pytest.mark.slow
def test_the_real_demo_tells_its_story_and_asks_nobody(tmp_path: Path) -> None:
    pytest.importorskip("babelquake_models", reason="needs the models that ship")
    log = tmp_path / "refused.txt"
    main = "import sys; sys.argv[0] = 'babelquake'; from babelquake.cli import main; main()"
    env = {name: value for name, value in os.environ.items() if name != "HF_HUB_OFFLINE"}
    done = subprocess.run(
        [sys.executable, "-c", main, "demo", "--out", "demo"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        env={**env, "BABELQUAKE_CACHE": "c.sqlite", "LOOPBACK_LOG": str(log)},
    )
    assert done.returncode == 0, done.stderr
    assert not log.exists(), log.read_text()
    for name in ("de-en-bpe-dropout", "chrf", "bertscore", "cross-encoder", "The report is"):
        assert name in done.stdout
    assert {path.parent.name for path in (tmp_path / "demo").glob("*/measures.csv")} == {"mt", "metric", "probes"}
    assert (tmp_path / "demo" / "report.html").stat().st_size < 5_000_000
