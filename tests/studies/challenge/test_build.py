"""From a run to a challenge set, and back with the scores of metrics."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.runs.run import Run
from babelquake.studies.attack.study import attack
from babelquake.studies.challenge.build import build_challenge
from babelquake.studies.challenge.study import challenge
from babelquake.studies.metric.study import metric

QUICK: dict[str, Any] = {"resamples": 100}
HEADER = "doc_id segment_id source_lang target_lang set_id system_id domain_name method overall".replace(" ", "\t")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Twelve translations twice, so that half of the variants are repeated: one change harms, one does not."""
    lines = [f"Satz {n} ist da.\tSentence number {n} is here.\tA sentence {n} is here now.\tS" for n in range(12)]
    more = [line.removesuffix("S") + "T" for line in lines]
    folder = tmp_path_factory.mktemp("made")
    (folder / "d.de-en.tsv").write_text("\n".join(["source\treference\ttranslation\tsystem", *lines, *more]) + "\n")
    return metric(
        scorers=["chrf"],
        data=str(folder / "d.de-en.tsv"),
        suite=["case[level=1]", "word-order"],
        out=folder / "run",
        engine=Engine(quiet=True),
        **QUICK,
    )


def test_a_built_set_has_every_item_once_and_hides_which_is_better(run: Run, tmp_path: Path) -> None:
    count = build_challenge(run.folder, "wmt25", tmp_path, name="mine")
    data = read(str(tmp_path))
    assert data.segments.height == 2 * count <= 48
    pairs = data.segments.select("source", "translation", "category").unique()
    assert pairs.height >= count
    assert set(data.segments["better"]) == {"hyp-1", "hyp-2"}
    assert set(data.segments["expected"]) == {"worse", "same"}
    readme = (tmp_path / "mine.README.txt").read_text()
    assert f"{count} items" in readme and "repeated: " in readme and ".key.tsv" in readme


@pytest.mark.parametrize("layout", ["wmt25", "wmt26", "contrastive"])
def test_there_and_back(run: Run, tmp_path: Path, layout: Any) -> None:
    what = str(tmp_path / "set")
    count = build_challenge(run.folder, layout, what, name="mine")
    scored = challenge(data=what, scorers=["chrf"], out=tmp_path / "here", engine=Engine(quiet=True), **QUICK)
    pairs = scored.table("pairs")
    assert pairs.height == count
    rows = [
        f"d\t{name.rpartition(':')[2].rpartition('_')[2]}\tde\ten\tset\t{system}\tnews\tNaN\t{score}"
        for name, system, score in scored.table("scores").select("id", "system", "score").iter_rows()
    ]
    (tmp_path / "back").mkdir()
    (tmp_path / "back" / "chrF.tsv").write_text("\n".join([HEADER, *rows]) + "\n")
    back = challenge(data=what, returned=str(tmp_path / "back"), out=tmp_path / "r", engine=Engine(quiet=True), **QUICK)

    def numbers(some: Run) -> dict[tuple[str, str | None], float]:
        known = some.measures.filter(pl.col("measure").is_in(["detection_accuracy", "sensitivity"]))
        return {(name, where): value for name, where, value in known.select("measure", "perturbation", "value").rows()}

    assert numbers(back) == pytest.approx(numbers(scored))
    worse = pairs if layout == "contrastive" else pairs.filter(pl.col("expected") == "worse")
    assert worse.height == 12
    (row,) = back.measures.filter(pl.col("perturbation").is_null(), measure="detection_accuracy").to_dicts()
    assert (row["value"], row["n"]) == (pytest.approx(100 * (worse["gap"] > 0).mean()), 12)  # type: ignore[operator]


def test_harmless_changes_are_no_contrast(run: Run, tmp_path: Path) -> None:
    """ACES's columns say that one translation is incorrect: a text in capitals is not."""
    build_challenge(run.folder, "contrastive", tmp_path)
    assert set(read(str(tmp_path)).segments["phenomenon"]) == {"word-order"}
    assert "harmless" in (tmp_path / "challenge.README.txt").read_text()
    case = metric(
        scorers=["chrf"],
        data=read("sample:rated").first(3),
        suite="case[level=1]",
        out=tmp_path / "run",
        engine=Engine(quiet=True),
        **QUICK,
    )
    with pytest.raises(UserError, match=r"contrastive.*harmless.*: 9"):
        build_challenge(case.folder, "contrastive", tmp_path / "none")


def test_a_run_without_translations_is_refused(tmp_path: Path) -> None:
    (tmp_path / "d.de-en.tsv").write_text("source\treference\nSatz eins.\tSentence one.\n")
    run = metric(
        scorers=["chrf"],
        data=str(tmp_path / "d.de-en.tsv"),
        side="source",
        suite="case[level=1]",
        out=tmp_path / "run",
        engine=Engine(quiet=True),
        **QUICK,
    )
    with pytest.raises(UserError, match="Use a run of metric"):
        build_challenge(run.folder, "wmt25", tmp_path / "set")


def test_a_key_that_does_not_fit_is_named(run: Run, tmp_path: Path) -> None:
    build_challenge(run.folder, "wmt25", tmp_path, name="mine")
    key = tmp_path / "mine.de-en.key.tsv"
    key.write_text("".join(key.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(UserError, match=r"mine\.de-en\.key\.tsv has \d+ rows"):
        read(str(tmp_path))


def test_an_attack_and_the_pitfalls_of_metrics_become_challenge_sets(tmp_path: Path) -> None:
    rated, engine = read("sample:rated").first(4), Engine(quiet=True)
    runs = [
        attack(
            data=rated,
            recipes=["reference-words"],
            goal="inflate",
            victims=["chrf"],
            constraints="none",
            out=tmp_path / "attack",
            engine=engine,
            **QUICK,
        ),
        metric(data=rated, scorers=["chrf"], suite="pitfalls", out=tmp_path / "pitfalls", engine=engine, **QUICK),
    ]
    for made in runs:
        count = build_challenge(made.folder, "contrastive", tmp_path / f"set-{made.folder.name}")
        assert count > 0
        assert len(read(str(tmp_path / f"set-{made.folder.name}" / "challenge.tsv")).segments) > 0

    items = pl.read_csv(tmp_path / "set-pitfalls" / "challenge.tsv", separator="\t", quote_char=None)
    categories = set(items["phenomena"])
    assert "reference-repeat" in categories, "compared with the reference, not with the translation"
    assert categories.isdisjoint({"concatenated", "source-swap"}), "translations of another source"
    repeated = items.filter(items["phenomena"] == "reference-repeat")
    assert (repeated["good-translation"] == repeated["reference"]).all()
