"""`babelquake attack` from the command line."""

import re
import shlex
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import Result

from babelquake.attacks.constraints import edit_distance
from babelquake.errors import UserError
from babelquake.runs.run import Run
from babelquake.studies.attack import AttackOptions

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "start" / "metric.md").read_text("utf-8")

ROWS = [
    ("a", "The old house stands by the river.", "The old house stands near the river.", "s1"),
    ("b", "He came home late last night again.", "He came home late yesterday night.", "s2"),
    ("c", "Rain falls over the northern hills today.", "It rains in the hills today.", "s1"),
]


@pytest.fixture
def tuples(tmp_path: Path) -> Path:
    """Three tuples in a file."""
    file = tmp_path / "tuples.tsv"
    table = pl.DataFrame(ROWS, schema=["source", "reference", "translation", "system"], orient="row")
    table.write_csv(file, separator="\t")
    return file


def test_an_attack_prints_its_tables_and_leaves_a_run(cli: Callable[..., Result], tuples: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = cli(
        "attack",
        "--recipe",
        "input-reduction",
        "--victim",
        "chrf",
        "--data",
        tuples,
        "--constraint",
        "none",
        "--goal",
        "overpenalise[by=0.5]",
        "--by",
        "system",
        "--sample",
        "3",
        "--stratify",
        "system",
        "--out",
        out,
    )
    assert result.exit_code == 0, result.output
    assert "Successful attacks" in result.output and "all (3)" in result.output
    assert (out / "report.html").exists() and (out / "augmentation.jsonl").exists()


@pytest.mark.parametrize(("variable", "option", "told"), [("1", [], 1), ("", ["--offline"], 1), ("", [], 0)])
def test_models_that_ship_are_announced_however_the_hub_is_forbidden(
    variable: str,
    option: list[str],
    told: int,
    cli: Callable[..., Result],
    tuples: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"):
        monkeypatch.setenv(name, variable)
    plain = ["--recipe", "deepwordbug", "--victim", "chrf", "--constraint", "none", "--max-queries", "2"]
    result = cli("attack", *plain, *option, "--data", str(tuples), "--out", str(tmp_path / "run"))
    line = "babelquake: offline: the bundled models replace default models"
    assert result.stderr.count(line) == told and result.stderr.startswith(line) == bool(told)


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ["--victim", "chrf", "--victim", "ter", "--constraint", "none", "--stratify", "system,source", "--sample", "2"],
        ["--victim", "chrf", "--constraint", "levenshtein[most=20]", "--constraint", "words[share=0.5]"],
        ["--system", "command[cmd=rev]", "--goal", "collapse[below=60]", "--max-queries", "9"],
    ],
    ids=["none", "constraints", "system"],
)
def test_a_run_can_be_made_again(cli: Callable[..., Result], tuples: Path, tmp_path: Path, words: list[str]) -> None:
    cli("attack", "-r", "input-reduction", "-r", "deepwordbug", "-d", str(tuples), *words, "-o", str(tmp_path / "run"))
    assert "all the same" in cli("rerun", str(tmp_path / "run"), status=0).output


def test_a_rated_run_can_be_made_again(cli: Callable[..., Result], tuples: Path, tmp_path: Path) -> None:
    run, file = str(tmp_path / "run"), tmp_path / "ratings.tsv"
    common = ["attack", "-r", "input-reduction", "-m", "chrf", "-g", "overpenalise[by=0.2]", "-d", str(tuples)]
    common += ["--constraint", "none", "--resamples", "100", "-o", run]
    cli(*common, status=0)
    names = pl.read_parquet(tmp_path / "run" / "attacks.parquet").filter("success")["tuple"].to_list()
    lines = [f"{name}\t{side}\t{z}" for name in names for side, z in (("original", 0.5), ("perturbed", 0.25))]
    file.write_text("\n".join(["tuple\tside\tz", *lines]) + "\n", "utf-8")
    cli(*common, "--ratings", str(file), status=0)
    cli(*common, status=0)
    assert "all the same" in cli("rerun", run, status=0).output


def test_wrong_words_are_answered_with_right_ones(cli: Callable[..., Result], tuples: Path, tmp_path: Path) -> None:
    common = ["attack", "--data", tuples, "--out", tmp_path / "run", "--victim", "chrf", "--constraint", "none"]
    for more, message in (
        (["--recipe", "clair"], "Did you mean 'clare'"),
        (["--recipe", "input-reduction[order=first]"], "expected largest or least"),
        (["--recipe", "input-reduction", "--goal", "colapse"], "Did you mean 'collapse'"),
        (["--recipe", "input-reduction", "--goal", "collapse"], "--system SYSTEM"),
        (["--recipe", "input-reduction", "--by", "sytem"], "Did you mean 'system'"),
        (["--recipe", "input-reduction", "--check", "never"], "expected auto, after or before"),
        (["--recipe", "faster-genetic", "--neighbours", "nowhere.tsv"], "no word neighbours are called"),
    ):
        assert message in cli(*map(str, [*common, *more]), status=2).output


def test_time_limits_have_units() -> None:
    def limit(text: str | None) -> float | None:
        return AttackOptions(data=(), recipes="clare", time_limit=text).seconds

    assert [limit(text) for text in (None, "90s", "30m", "2h", "15")] == [None, 90.0, 1800.0, 7200.0, 15.0]
    for wrong in ("", "soon", "-3s", "0"):
        with pytest.raises(UserError, match="expected a time such as"):
            limit(wrong)


def test_recipes_are_listed(cli: Callable[..., Result]) -> None:
    output = cli("list", "recipes", "--json").output
    for name in ("clare", "faster-genetic", "input-reduction", "deepwordbug"):
        assert f'"name": "{name}"' in output


def test_the_gate_names_the_attack_that_succeeds_more_often(
    cli: Callable[..., Result], tuples: Path, tmp_path: Path
) -> None:
    """A share that rises is a regression, and the largest rise is the worst one."""
    table = pl.read_csv(tuples, separator="\t")
    many = pl.concat(
        table.with_columns(pl.format("{} {}", "source", pl.lit(number)).alias("source")) for number in range(8)
    )
    many.write_csv(tuples, separator="\t")

    def attacked(out: str, most: str) -> None:
        recipes = ("-r", "input-reduction", "-r", "deepwordbug[distance=1]")
        options = ("-g", "overpenalise[by=0.7]", "--constraint", "none", "--max-queries", most)
        cli("attack", *recipes, "-m", "chrf", "-d", tuples, *options, "-o", tmp_path / out)

    attacked("sturdy", "1")
    attacked("frail", "40")
    gate = cli("compare", str(tmp_path / "sturdy"), str(tmp_path / "frail"), "--fail-on", "regression", status=1)
    rose = pl.read_csv(tmp_path / "frail" / "measures.csv").filter(pl.col("group").is_null(), measure="success")
    shares = dict(rose.select("perturbation", "value").iter_rows())
    assert "WORSE" in gate.stdout
    assert shares["input-reduction"] > shares["deepwordbug[distance=1]"] > 0
    assert "Worse: 2 of 2 measures" in gate.stderr and "input-reduction, 0.00 to" in gate.stderr


def test_every_success_of_the_example_is_one_wrong_letter_that_a_reader_forgives(cli: Callable[..., Result]) -> None:
    (command,) = re.findall(r"^babelquake (attack .*?--out runs/attack)$", PAGE, re.M | re.S)
    cli(*shlex.split(command.replace("\\\n", " ")), "-q", "--resamples", "100")
    attacks = Run.open("runs/attack").table("attacks")
    found = attacks.filter("success")
    for before, after in found.select("original", "perturbed").iter_rows():
        pairs = zip(before.split(), after.split(), strict=True)
        ((old, new),) = [(old, new) for old, new in pairs if old != new]
        assert edit_distance(old, new) == 1
        assert len(old) >= 5 and not re.search(r"\d", old)
    counts = dict(found.group_by("victim").len().iter_rows())
    (bleu, total, chrf) = map(int, re.findall(r"in (\d+) of (\d+) sentences.*?chrF in (\d+)", PAGE, re.S)[0])
    assert (counts["bleu"], counts["chrf"]) == (bleu, chrf)
    assert attacks.filter(pl.col("victim") == "bleu").height == total
