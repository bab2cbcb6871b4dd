"""Wherever Python takes runs, it takes their folders, and one where there may be several."""

from pathlib import Path

import pytest

import babelquake as bq

PAIRS = [(f"Satz {place} ist gut.", f"Sentence {place} is good.") for place in range(8)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> bq.Run:
    folder = tmp_path_factory.mktemp("runs") / "one"
    return bq.mt(
        systems="command[cmd=cat]", data=PAIRS, suite="case[level=1]", scorers="chrf", out=folder, resamples=100
    )


def test_runs_are_named_by_their_folders(run: bq.Run, tmp_path: Path) -> None:
    folder = str(run.folder)
    assert bq.compare(folder, run.folder) == bq.compare(run, run)
    for told in (bq.to_latex, bq.to_markdown, bq.to_model_card):
        assert told(folder) == told([run]) == told([run.folder]) == told(run)
    assert bq.example_table(folder, 2) == bq.example_table(run, 2)
    assert bq.examples(folder).collect().equals(bq.examples(run).collect())


def test_what_is_written_is_named_by_a_path_or_a_string(run: bq.Run, tmp_path: Path) -> None:
    bq.write_html(run, str(tmp_path / "new" / "page.html"))
    assert "<html" in (tmp_path / "new" / "page.html").read_text("utf-8")
    assert all(path.is_file() for path in bq.write_images(run.folder, str(tmp_path / "pictures"), ["svg"]))


def test_a_folder_that_holds_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(bq.UserError, match="not a run folder"):
        bq.compare(tmp_path, tmp_path)
