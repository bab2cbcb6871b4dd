"""Challenge sets and the scores that come back."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.report.verdict import verdict
from babelquake.runs.info import command_line
from babelquake.runs.run import Run
from babelquake.studies.challenge.study import challenge
from babelquake.studies.rerun import rerun

HEADER = "doc_id segment_id source_lang target_lang set_id system_id domain_name method overall".replace(" ", "\t")
SOURCES = 60


def submitted(folder: Path, hypotheses: int = 3) -> Path:
    folder.mkdir(parents=True)
    name = folder.name

    def write(ending: str, line: Callable[[int], str]) -> None:
        (folder / f"{name}.de-zh_CN.{ending}").write_text("".join(line(n) + "\n" for n in range(1, SOURCES + 1)))

    write("src.txt", lambda n: f"Satz {n}.")
    write("meta.txt", lambda n: f"{'news' if n % 2 else 'speech'}\tdocument{n // 10}")
    for number in range(1, hypotheses + 1):
        write(f"hyp-{number}.txt", lambda n, number=number: f"第{n}句{'，还有' * (number - 1)}。")  # type: ignore[misc]
    return folder


def returned(folder: Path, **metrics: Callable[[int, int], float]) -> Path:
    (folder / "primary").mkdir(parents=True)
    for name, score in metrics.items():
        rows = [
            f"d\t{n}\tde\tzh_CN\tchallenge_x\thyp-{k}\tnews\tNaN\t{score(n, k)}"
            for n in range(1, SOURCES + 1)
            for k in (1, 2, 3)
        ]
        (folder / "primary" / f"{name}.tsv").write_text("\n".join([HEADER, *rows]) + "\n")
    return folder


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    scores: dict[str, Callable[[int, int], float]] = {
        "Right": lambda n, k: n - 0.5 * k,
        "Wrong": lambda n, k: n + 0.5 * k,
        "Mostly": lambda n, k: n - 0.5 * k if n % 4 else n + 0.5 * k,
        "Blind": lambda n, k: float(n),
    }
    return submitted(tmp_path / "1-submitted" / "x"), returned(tmp_path / "4-to_return" / "x", **scores)


def scored(folders: Sequence[Path], out: Path, **options: Any) -> Run:
    quick = {"resamples": 500, "engine": Engine(quiet=True)}
    return challenge(data=str(folders[0]), returned=str(folders[1]), out=out, **quick | options)


def value(run: Run, measure: str, scorer: str, **place: Any) -> float:
    rows = run.measures.filter(measure=measure, scorer=scorer)
    for name in ("perturbation", "group", "system"):
        rows = rows.filter(rows[name].eq_missing(place.get(name)))
    return float(rows["value"].item())


def test_accuracy_of_the_better_above_the_worse(folders: tuple[Path, Path], tmp_path: Path) -> None:
    run = scored(folders, tmp_path / "run", by="domain")
    assert [value(run, "detection_accuracy", name) for name in ("Right", "Wrong", "Mostly", "Blind")] == [100, 0, 75, 0]
    assert [value(run, "outranks_all", name) for name in ("Right", "Wrong", "Mostly")] == [100, 0, 75]
    assert value(run, "detection_accuracy", "Mostly", group="news") == 100
    assert value(run, "detection_accuracy", "Mostly", group="speech") == 50
    assert value(run, "detection_accuracy", "Right", perturbation="hyp-3") == 100
    assert value(run, "sensitivity", "Right") == pytest.approx(-value(run, "sensitivity", "Wrong"))
    assert run.measures.filter(measure="detection_accuracy", scorer="Right")["p_corrected"].max() < 0.01
    assert run.measures["language_pair"].unique().to_list() == ["de-zh-CN"]


def test_a_run_can_be_repeated_by_its_command_and_in_python(folders: tuple[Path, Path], tmp_path: Path) -> None:
    run = scored(folders, tmp_path / "run")
    assert command_line(run).startswith("babelquake challenge score ")
    assert rerun(run).same


def test_the_worst_metric_is_named_with_its_test_and_the_blind_one_apart(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    run = scored(folders, tmp_path / "run")
    found = {finding.what: finding for finding in run.info.findings or []}
    assert (found["ranks_worst"].who, found["ranks_worst"].outcome) == ("Wrong", "significant")
    assert (found["ranks_best"].who, found["ranks_best"].outcome) == ("Right", "significant")
    assert found["does_not_look"].who == "Blind"
    said = " ".join(verdict(run))
    assert "Wrong" in said and "0.0 %" in said and "Blind" in said


def test_metrics_that_are_level_are_named_together_and_tested_against_the_next(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    """Two names of one metric differ by nothing, which is no test of whether they are the worst."""
    back = folders[1]
    (back / "primary" / "Wrongest.tsv").write_text((back / "primary" / "Wrong.tsv").read_text())
    run = scored(folders, tmp_path / "run")
    worst = next(finding for finding in run.info.findings or [] if finding.what == "ranks_worst")
    assert worst.facts["level"] == 2 and worst.outcome == "significant" and worst.test is not None
    assert {worst.test.scorer, worst.test.other} <= {"Mostly", "Wrong", "Wrongest"}
    said = " ".join(verdict(run))
    assert "Wrong and Wrongest both" in said and "p = 1" not in said


def test_where_all_metrics_are_level_none_is_the_worst(folders: tuple[Path, Path], tmp_path: Path) -> None:
    for name in ("Wrong", "Mostly", "Blind"):
        (folders[1] / "primary" / f"{name}.tsv").write_text((folders[1] / "primary" / "Right.tsv").read_text())
    run = scored(folders, tmp_path / "run")
    assert [finding.what for finding in run.info.findings or []] == ["ranks_best"]
    assert "lowest" not in (said := " ".join(verdict(run))) and "highest" not in said and "100.0 %" in said


def test_an_order_from_best_to_worst(folders: tuple[Path, Path], tmp_path: Path) -> None:
    run = scored(folders, tmp_path / "run", order="hyp-3,hyp-2,hyp-1")
    assert value(run, "outranks_all", "Wrong") == 100
    assert run.table("pairs").filter(scorer="Wrong").height == 3 * SOURCES
    lower = scored(folders, tmp_path / "lower", lower=["Wrong"])
    assert value(lower, "outranks_all", "Wrong") == 100


def test_a_set_with_one_hypothesis_has_scores_by_category(tmp_path: Path) -> None:
    folder = submitted(tmp_path / "1-submitted" / "x", hypotheses=1)
    (folder / "x.de-zh_CN.internal").write_text("empty\nwhole\n" * (SOURCES // 2))
    back = returned(tmp_path / "4-to_return" / "x", Mine=lambda n, k: float(n % 2))
    run = scored((folder, back), tmp_path / "run")
    assert set(run.measures["measure"]) == {"score"}
    assert value(run, "score", "Mine", system="hyp-1", perturbation="empty") == 1
    assert value(run, "score", "Mine", system="hyp-1", perturbation="whole") == 0


def test_regions_of_one_set_keep_their_own_scores(tmp_path: Path) -> None:
    """MSLC-B has the same texts for en, en_GB and en_US; a metric may score them differently."""
    folder, back = tmp_path / "1-submitted" / "r", tmp_path / "4-to_return" / "r" / "primary"
    folder.mkdir(parents=True)
    back.mkdir(parents=True)
    rows = []
    for target, score in (("en", -2.5), ("en_GB", -7.0), ("en_US", -4.0)):
        for ending in ("src", "hyp-1"):
            (folder / f"r.cs-{target}.{ending}.txt").write_text("".join(f"{ending} {n}.\n" for n in range(1, 4)))
        rows += [f"d\t{n}\tcs\t{target}\tr\thyp-1\tnews\tNaN\t{score}" for n in range(1, 4)]
    (back / "M.tsv").write_text("\n".join([HEADER, *rows]) + "\n")
    run = scored((folder, back.parent), tmp_path / "run")
    scores = run.measures.filter(pl.col("measure") == "score").select("language_pair", "value").rows()
    assert dict(scores) == {"cs-en": -2.5, "cs-en-GB": -7.0, "cs-en-US": -4.0}


def test_a_scorer_here_and_metrics_elsewhere(folders: tuple[Path, Path], tmp_path: Path) -> None:
    name = folders[0] / "x.de-zh_CN"
    Path(f"{name}.ref.txt").write_text(Path(f"{name}.hyp-1.txt").read_text())
    run = scored(folders, tmp_path / "run", scorers=["chrf"])
    assert value(run, "outranks_all", "chrf") == 100
    assert value(run, "outranks_all", "Mostly") == 75


def test_what_does_not_fit_is_named(folders: tuple[Path, Path], tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no such hypothesis.*hyp-1, hyp-2, hyp-3"):
        scored(folders, tmp_path / "a", order="hyp-9")
    with pytest.raises(UserError, match="Blind, Mostly, Right, Wrong"):
        scored(folders, tmp_path / "b", lower=["Chrf"])
    with pytest.raises(UserError, match=r"no returned scores.*overall"):
        scored((folders[0], tmp_path), tmp_path / "c")
    for file in (folders[1] / "primary").iterdir():
        file.write_text(file.read_text().replace("\tde\t", "\tfr\t"))
    with pytest.raises(UserError, match="no row belongs to a hypothesis"):
        scored(folders, tmp_path / "d")


@pytest.fixture(scope="session")
def archives(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tarfile

    folder = tmp_path_factory.mktemp("challenge")
    with tarfile.open(shared_data / "challenge-sets" / "wmt25-challenge-sets.tar.xz") as archive:
        archive.extractall(folder, filter="data")
    return folder / "challenge-sets"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "metrics", "pairs"), [("condrift:ja-zh", 12, 916), ("mslc-a", 20, 480), ("mslc-b1", 20, 18)]
)
def test_the_sets_of_wmt25_come_back(archives: Path, tmp_path: Path, name: str, metrics: int, pairs: int) -> None:
    order = {"mslc-a": [f"hyp-{n}" for n in range(6, 0, -1)], "mslc-b1": ["hyp-2"]}.get(name, [])
    folders = archives / "1-submitted" / name, archives / "4-to_return" / name.partition(":")[0]
    run = scored(folders, tmp_path / "run", order=order, resamples=100)
    whole = run.measures.filter(measure="detection_accuracy").filter(pl.col("perturbation").is_null())
    assert (whole["scorer"].n_unique(), run.table("pairs").filter(scorer="MetricX-25").height) == (metrics, pairs)
