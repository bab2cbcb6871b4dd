"""`babelquake mt` as its documentation writes it."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import Result

from babelquake.runs.measures import COLUMNS

CAT = ("--system", "command[cmd=cat]")
QUICK = ("--resamples", "100")


def test_the_line_as_written(cli: Callable[..., Result], data: str, tmp_path: Path) -> None:
    words = ("mt", *CAT, "--data", data, "--suite", "niu2020", "--scorer", "chrf", "--scorer", "bleu", "--seed", "5")
    found = cli(*words, "--out", "RUN", *QUICK)
    assert "ROBUST" in found.stdout and "typos" in found.stdout and "Run folder: RUN" in found.stdout
    assert found.stdout.count("1 of 4 sources is blank") == 1 and not found.stderr
    measures = pl.read_csv(tmp_path / "RUN" / "measures.csv")
    assert measures.columns == list(COLUMNS)
    assert {"robust", "consis", "inconsistent", "quality", "delta"} <= set(measures["measure"])
    assert cli(*words, "--out", "RUN", *QUICK).stdout == found.stdout
    message = cli(*words, "--out", "RUN", "--resamples", "200", status=2).stderr
    assert "RUN was made with --resamples 100; this command says --resamples 200." in message


def test_measures_as_json(cli: Callable[..., Result], data: str) -> None:
    found = json.loads(cli("mt", *CAT, "--data", data, "--suite", "case", "--out", "RUN", *QUICK, "--json").stdout)
    assert {row["measure"] for row in found["measures"]} >= {"robust", "consis"}
    assert found["verdict"] and found["findings"][0]["what"]


def test_a_wrong_system_leaves_no_folder_behind(cli: Callable[..., Result], data: str, tmp_path: Path) -> None:
    for wrong in ("comand[cmd=cat]", "command", "command[cmd=]"):
        cli("mt", "--system", wrong, "--data", data, "--out", "RUN", status=2)
        assert not (tmp_path / "RUN").exists()
    cli("mt", *CAT, "--data", data, "--suite", "case", "--out", "RUN", *QUICK)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--system", "comand[cmd=cat]", "--data", "DATA", "--out", "R"],
            "no system is called 'comand'. Did you mean 'c",
        ),
        (
            [*CAT, "--data", "new.de-en.tsv", "--out", "R"],
            "new.de-en.tsv does not exist. Did you mean 'news.de-en.tsv'?",
        ),
        ([*CAT, "--data", "DATA", "--columns", "src", "--out", "R"], "--columns src: expected name=column"),
        ([*CAT, "--data", "DATA", "--columns", "source=src", "--out", "R"], "has no column 'src' (for source)"),
        ([*CAT, "--data", "DATA", "--reset", "maybe", "--out", "R"], "--reset maybe: expected auto"),
        ([*CAT, "--data", "DATA", "--suite", "mispell", "--out", "R"], "is called 'mispell'. Did you mean 'misspell'?"),
        ([*CAT, "--data", "DATA", "--scorer", "chfr", "--out", "R"], "no scorer is called 'chfr'. Did you mean 'chrf'"),
        ([*CAT, "--data", "DATA"], "--out DIR"),
        (["--data", "DATA", "--out", "R"], "--system"),
        ([*CAT, "--data", "DATA", "--out", "DATA"], "exists and is not a run folder"),
        (["--data", "DATA", "--import", "nowhere", "--out", "R"], "nowhere has no sources.txt"),
    ],
)
def test_wrong_input_is_named(cli: Callable[..., Result], data: str, words: list[str], message: str) -> None:
    found = cli("mt", *(data if word == "DATA" else word for word in words), status=2)
    assert message in found.stderr


def test_a_program_that_fails_halfway_is_an_interruption(cli: Callable[..., Result], data: str, tmp_path: Path) -> None:
    assert (
        "there is no program 'no-such-program'"
        in cli("mt", "--system", "command[cmd=no-such-program]", "--data", data, "--out", "R", status=2).stderr
    )
    slow = "command[cmd=sleep 60,timeout=0.1]"
    assert "did not answer for" in cli("mt", "--system", slow, "--data", data, "--out", "S", status=3).stderr


def test_dry_run_counts_and_sends_nothing(cli: Callable[..., Result], data: str, tmp_path: Path) -> None:
    words = (
        "mt",
        "--system",
        "command[cmd=false]",
        "--data",
        data,
        "--suite",
        "final-delete,final-delete[mark=question]",
        "--dry-run",
    )
    counted = json.loads(cli(*words, "--json").stdout)
    assert counted["segments"] == 4 and counted["texts"] == 5
    assert counted["systems"][0]["texts"] == 5
    assert "5 texts to translate" in cli(*words).stdout


def test_export_translate_elsewhere_import(cli: Callable[..., Result], data: str, tmp_path: Path) -> None:
    words = ("mt", "--data", data, "--suite", "niu2020,final-delete", "--seed", "3", *QUICK)
    assert "distinct sources in out/sources.txt" in cli(*words, "--export", "out").stdout
    sources = (tmp_path / "out" / "sources.txt").read_text().splitlines()
    assert len(sources) == len(set(sources)) and all(sources)
    assert "no translations yet" in cli(*words, "--import", "out", "--out", "RUN", status=2).stderr
    (tmp_path / "out" / "mine.txt").write_text("".join(line.upper() + "\n" for line in sources[:-1]))
    assert f"line {len(sources)} is missing" in cli(*words, "--import", "out", "--out", "RUN", status=2).stderr
    (tmp_path / "out" / "mine.txt").write_text("".join(line.upper() + "\n" for line in sources))
    assert "mine" in cli(*words, "--import", "out", "--out", "RUN").stdout
    translations = pl.read_parquet(tmp_path / "RUN" / "translations.parquet")
    assert (translations["translation"] == translations["source"].str.to_uppercase()).all()
    other = ("mt", "--data", data, "--suite", "niu2020,final-delete", "--seed", "4", "--import", "out", "--out", "RUN4")
    assert "was exported for other data" in cli(*other, status=2).stderr


def test_import_of_changed_translations_is_another_configuration(
    cli: Callable[..., Result], data: str, tmp_path: Path
) -> None:
    words = ("mt", "--data", data, "--suite", "case", *QUICK)
    cli(*words, "--export", "out")
    file = tmp_path / "out" / "mine.txt"
    file.write_text((tmp_path / "out" / "sources.txt").read_text())
    cli(*words, "--import", "out", "--out", "RUN")
    file.write_text(file.read_text().upper())
    assert "RUN was made with system mine" in cli(*words, "--import", "out", "--out", "RUN", status=2).stderr


def config(tmp_path: Path, text: str) -> str:
    (tmp_path / "run.yaml").write_text(text)
    return "run.yaml"


@pytest.mark.slow
def test_a_yaml_file_holds_a_whole_command(cli: Callable[..., Result], data: str, tmp_path: Path) -> None:
    file = config(
        tmp_path,
        f"system: ['command[cmd=cat]']\ndata: {data}\nsuite: [misspell, case]\nscorer: [chrf, bleu]\n"
        "columns: {source: source, reference: reference}\nseed: 5\nresamples: 100\nout: RUN\nreplicates:\n",
    )
    cli("mt", "-c", file)
    by_file = (tmp_path / "RUN" / "measures.csv").read_bytes()
    cli(
        "mt",
        *CAT,
        "--data",
        data,
        "--suite",
        "misspell,case",
        "--scorer",
        "chrf",
        "--scorer",
        "bleu",
        "--seed",
        "5",
        "--resamples",
        "100",
        "--out",
        "SAME",
    )
    assert (tmp_path / "SAME" / "measures.csv").read_bytes() == by_file
    cli("mt", "-c", file, "--scorer", "chrf", "--out", "OTHER")
    measured = pl.read_csv(tmp_path / "OTHER" / "measures.csv").filter(pl.col("measure") == "quality")
    assert set(measured["scorer"].drop_nulls()) == {"chrf"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("sead: 5", "run.yaml: no option is called 'sead'. Did you mean 'seed'?"),
        ("seed: [5, 6]", "run.yaml: seed takes one value."),
        ("- seed", "must map options to values"),
        ("seed: [5", "YAML"),
        ("seed: five", "--seed"),
    ],
)
def test_a_wrong_yaml_file(cli: Callable[..., Result], data: str, tmp_path: Path, text: str, message: str) -> None:
    found = cli("mt", "-c", config(tmp_path, text), "--data", data, status=2)
    assert message in " ".join(found.stderr.split())


def test_no_yaml_file(cli: Callable[..., Result]) -> None:
    assert "nowhere.yaml: No such file" in cli("mt", "-c", "nowhere.yaml", status=2).stderr
