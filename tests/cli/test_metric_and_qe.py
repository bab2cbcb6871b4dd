"""`babelquake metric`, `qe`, `correlate` and `compare` as their documentation writes them."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import Result

from babelquake.report.examples import example_table
from babelquake.runs.measures import COLUMNS
from babelquake.runs.run import Run

Command = Callable[..., Result]
QUICK = ("--resamples", "100", "--cache", "none")
ROWS = [
    ("Der Zug fährt heute nicht nach Hamburg.", "The train does not go to Hamburg today.", "A", 92),
    ("Drei Minister treten zurück", "Three ministers resign", "A", 75),
    ("Der Preis stieg um 12 Prozent.", "The price rose by 12 per cent.", "A", 88),
    ("Was für ein Tag!", "What a day!", "A", 40),
    ("Das Haus am See ist alt.", "The house by the lake is old.", "A", 70),
]


@pytest.fixture
def scored(tmp_path: Path) -> str:
    lines = ["source\treference\ttranslation\tsystem\tscore"]
    lines += [f"{source}\t{text}\t{text}\t{name}\t{score}" for source, text, name, score in ROWS]
    lines += [f"{source}\t{text}\t{text[:9]}\tB\t{score / 3}" for source, text, _, score in ROWS]
    (tmp_path / "scored.de-en.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    return "scored.de-en.tsv"


def test_metric_as_written(cli: Command, data: str, tmp_path: Path) -> None:
    words = ("metric", "--scorer", "chrf", "--scorer", "bleu", "--data", data, "--side", "source")
    found = cli(*words, "--suite", "jwalapuram2023", "--out", "RUN", *QUICK)
    assert "question mark" in found.stdout and "Run folder: RUN" in found.stdout
    measures = pl.read_csv(tmp_path / "RUN" / "measures.csv")
    assert measures.columns == list(COLUMNS) and {"score", "score_perturbed", "delta"} <= set(measures["measure"])
    assert measures["signature"].null_count() == 0
    assert cli(*words, "--suite", "jwalapuram2023", "--out", "RUN", *QUICK).stdout == found.stdout


def test_metric_under_noise(cli: Command, scored: str) -> None:
    rows = json.loads(
        cli(
            "metric",
            "--scorer",
            "chrf",
            "--data",
            scored,
            "--side",
            "reference",
            "--suite",
            "visual[level=0|0.3]",
            "--out",
            "RUN",
            *QUICK,
            "--json",
        ).stdout
    )["measures"]
    assert {(row["measure"], row["level"]) for row in rows} >= {("kendall_like", 0.0), ("pearson", 0.3)}


def test_a_wrong_side_is_named(cli: Command, data: str) -> None:
    message = cli("metric", "-m", "chrf", "-d", data, "--side", "target", "-o", "RUN", status=2).stderr
    assert "--side target: expected source, translation or reference." in message


@pytest.mark.slow
def test_dry_run_counts_what_a_run_makes(cli: Command, scored: str, tmp_path: Path) -> None:
    words = ("qe", "--scorer", "chrf", "--data", scored, "--out", "RUN")
    counted = json.loads(cli(*words, "--dry-run", "--json").stdout)
    assert not (tmp_path / "RUN").exists()
    cli(*words, *QUICK)
    made = pl.read_parquet(tmp_path / "RUN" / "variants.parquet").height
    assert (counted["segments"], counted["selected"], counted["variants"]) == (10, 4, made)
    assert f"{made:,} perturbed texts" in cli(*words, "--dry-run").stdout


def test_qe_prints_tables_and_what_was_left_out(cli: Command, scored: str) -> None:
    words = ("qe", "--scorer", "chrf", "--data", scored, "--replicates", "2", "--masked-lm", "none")
    found = cli(*words, "--out", "RUN", *QUICK).stdout
    assert "does not see" not in found, "eight segments cannot tell"
    assert "MPP − MAP" in found and "Drop per probe" in found
    assert found.count("7 of 8 meaning-altering probes: mask-replace was left out") == 2, "in a note and at the table"
    assert "--out DIR" in cli("qe", "-m", "chrf", "-d", scored, status=2).stderr


@pytest.mark.parametrize("command", ["qe", "metric"])
def test_examples_are_listed_worst_first(cli: Command, scored: str, command: str) -> None:
    words = [command, "--scorer", "chrf", "--data", scored, "--suite", "word-drop", "--replicates", "2", "--out", "RUN"]
    found = cli(*words, *QUICK, "--examples", "20", "--sort", "drop").stdout
    listed = example_table(Run.open("RUN"), 20, "drop")
    drops = [float(row[listed.columns.index("drop")].replace("−", "-")) for row in listed.rows]
    assert drops == sorted(drops, reverse=True) and len(drops) == (8 if command == "qe" else 20)
    worst = listed.rows[0][listed.columns.index("text")]
    assert worst in found[found.index("Examples") :].splitlines()[2]
    assert (
        "--sort size: expected drop or row" in cli(*words, *QUICK, "--examples", "2", "--sort", "size", status=2).stderr
    )


def test_correlate_as_json(cli: Command, scored: str, tmp_path: Path) -> None:
    (tmp_path / "mine.tsv").write_text(
        "translation\tscore\n" + "".join(f"{text}\t{score}\n{text[:9]}\t{score / 3}\n" for _, text, _, score in ROWS)
    )
    words = ("correlate", "--data", scored, "--scorer", "chrf", "--scorer", "scores[file=mine.tsv]", *QUICK)
    rows = json.loads(cli(*words, "--json", "--out", "agreement").stdout)["measures"]
    pearson = {row["scorer"]: row["value"] for row in rows if row["measure"] == "pearson"}
    assert pearson["scores[file=mine.tsv]"] == pytest.approx(1)
    assert {"kendall_like", "spearman", "kendall", "accuracy"} <= {row["measure"] for row in rows}
    assert pl.read_csv(tmp_path / "agreement" / "measures.csv").height == len(rows)
    assert "Pearson's r" in cli(*words).stdout


SHOUT = "import sys\nfor line in sys.stdin:\n    print(line.strip(){}, flush=True)\n"


@pytest.fixture
def runs(cli: Command, tmp_path: Path) -> tuple[str, str]:
    """MT runs of a system that does not mind letter case, and of one that does."""
    lines = [f"der zug nummer {row} kommt heute spät" for row in range(30)]
    (tmp_path / "same.de-de.tsv").write_text("source\treference\n" + "".join(f"{line}\t{line}\n" for line in lines))
    for name, lower in (("sturdy", ".lower()"), ("fragile", "")):
        (tmp_path / f"{name}.py").write_text(SHOUT.format(lower))
        cli(
            "mt",
            "--system",
            f"command[cmd=python {name}.py]",
            "--data",
            "same.de-de.tsv",
            "--suite",
            "case[level=1]",
            "--scorer",
            "chrf",
            "--out",
            name,
            *QUICK,
        )
    return "sturdy", "fragile"


@pytest.mark.slow
def test_the_gate(cli: Command, runs: tuple[str, str], tmp_path: Path) -> None:
    old, new = runs
    gate = ("--fail-on", "regression")
    assert "WORSE" not in cli("compare", old, old, *gate).stdout
    fallen = cli("compare", old, new, *gate, "--markdown", "summary.md", status=1)
    assert "WORSE" in fallen.stdout and "the gate is closed: Worse: 7 of 8 measures" in fallen.stderr
    assert "Worse: 7 of 8 measures" in (tmp_path / "summary.md").read_text("utf-8")
    cli("compare", new, old, *gate)
    cli("compare", old, new)
    cli("compare", old, new, *gate, "--min-drop", "100")
    told = json.loads(cli("compare", old, new, "--json").stdout)
    worse = {row["measure"] for row in told["changes"] if row["outcome"] == "worse"}
    assert worse == {row["measure"] for row in told["changes"]} - {"quality"} and told["failures"]
    cli("compare", old, new, "--require", "quality[chrf] >= 99")
    limit = ("--require", "robust >= 85")
    assert "robust >= 85" in cli("compare", new, new, *limit, status=1).stderr
    assert "robust >= 85" in cli("compare", old, old, *limit, "--confident", status=1).stdout  # too few for a bound
    assert "--require" in cli("compare", old, old, "--confident", status=2).stderr
    assert "not a run folder" in cli("compare", old, "nowhere", *gate, status=2).stderr
    assert "--fail-on rain: expected regression" in cli("compare", old, new, "--fail-on", "rain", status=2).stderr
    cli("metric", "-m", "chrf", "-d", "same.de-de.tsv", "--side", "source", "-p", "case", "-o", "other", *QUICK)
    assert "compare like with like" in cli("compare", old, "other", *gate, status=2).stderr


@pytest.mark.slow
def test_the_gate_is_closed_where_nothing_can_be_tested(cli: Command, tmp_path: Path) -> None:
    (tmp_path / "few.de-de.tsv").write_text("source\treference\nein Hut\tein Hut\nder Tag\tder Tag\n", "utf-8")
    for name, program in (("old", "tr A-Z a-z"), ("new", "cat")):
        words = ("-d", "few.de-de.tsv", "-p", "case[level=1]", "-m", "chrf", "-o", name, *QUICK)
        cli("mt", "-s", f"command[cmd={program}]", *words)
    said = cli("compare", "old", "new", "--fail-on", "regression", status=1)
    assert "Nothing can be tested" in said.stderr and "2 segments" in said.stderr and "too few" in said.stdout
    cli("compare", "old", "old", "--fail-on", "regression")


@pytest.mark.parametrize(
    ("pair", "count"), [("ruen", 1245), ("eten", 766), ("sien", 404), ("neen", 100), ("roen", 1089)]
)
@pytest.mark.slow
def test_kanojia_table_1(cli: Command, shared_data: Path, pair: str, count: int) -> None:
    data = [
        word
        for part in ("dev", "test20")
        for word in ("--data", str(shared_data / "mlqe-pe" / f"{part}.{pair}.df.short.tsv"))
    ]
    found = json.loads(cli("qe", "--scorer", "chrf", *data, "--dry-run", "--json", "--out", "RUN").stdout)
    assert (found["segments"], found["selected"]) == (2000, count) and found["variants"] > 100 * count


@pytest.mark.parametrize("study", ["metric", "qe"])
def test_export_judge_elsewhere_import(cli: Command, scored: str, tmp_path: Path, study: str) -> None:
    suite = "final-delete" if study == "metric" else "word-drop,upper-words"
    words = (study, "--data", scored, "--suite", suite)
    assert "out[1]/texts.jsonl" in cli(*words, "--export", "out[1]").stdout
    assert "no scores yet" in cli(*words, "--import", "out[1]", "--out", "RUN", status=2).stderr
    if study == "metric":  # the other asks the estimator that ships
        assert "--scorer" in cli(*words, "--out", "RUN", status=2).stderr
    texts = (tmp_path / "out[1]" / "texts.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "out[1]" / "mine.txt").write_text("".join(f"{len(line)}\n" for line in texts))
    assert "mine" in cli(*words, "--import", "out[1]", "--out", "RUN", *QUICK).stdout
    other = cli(*words, "--seed", "1", "--suite", "misspell", "--import", "out[1]", "--out", "R2", *QUICK, status=2)
    assert "mine has no score for" in other.stderr


@pytest.mark.parametrize("study", ["metric", "qe"])
def test_the_vocabulary_is_chosen_and_signed(cli: Command, scored: str, tmp_path: Path, study: str) -> None:
    (tmp_path / "words.txt").write_text("zebra\n")
    words = (study, "-m", "chrf", "-d", scored, "-p", "word-insert", *QUICK)
    cli(*words, "--vocabulary", "words.txt", "--out", "RUN")
    texts = pl.read_parquet(tmp_path / "RUN" / "variants.parquet")["text"]
    assert texts.str.contains("(?i)zebra").all()
    signed = pl.read_csv(tmp_path / "RUN" / "measures.csv").filter(pl.col("perturbation").is_not_null())["signature"]
    assert signed.str.contains("vocabulary:words.txt#").all()
    assert "--vocabulary words.txt" in (tmp_path / "RUN" / "report.html").read_text("utf-8")
    cli(*words, "--vocabulary", "data", "--out", "OTHER")
    assert "vocabulary:data#" in (tmp_path / "OTHER" / "measures.csv").read_text("utf-8")
    assert "nowhere.txt" in cli(*words, "--vocabulary", "nowhere.txt", "--out", "THIRD", status=2).output
    refused = cli(study, "-m", "chrf", "-d", scored, "-p", "punct-remove", "--vocabulary", "data", "-o", "X", status=2)
    assert "draws words" in refused.output


@pytest.mark.slow
def test_a_function_without_a_number_is_told_as_it_is(
    cli: Command, scored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_nan.py").write_text(
        "def metric(translations, references):\n    return [float('nan') for _ in translations]\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for study in ("metric", "qe", "correlate"):
        said = cli(study, "-m", "own_nan:metric", "-d", scored, "--out", study, *QUICK, status=2).output
        assert "It gave none (NaN or None)" in said and "the very text" not in said, study


def test_what_is_no_tokenizer_is_told_before_anything_is_scored(cli: Command, scored: str, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("just text\n")
    for what in ("notes.txt", "minlm-en"):
        said = cli("metric", "-m", "chrf", "-d", scored, "--tokenizer", what, "-o", "RUN", *QUICK, status=2).output
        assert "a model that ships, such as minilm-en" in said
    assert not (tmp_path / "RUN" / "scores.parquet").exists()


def test_what_a_user_s_function_says_is_kept_short(
    cli: Command, scored: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own_rude.py").write_text(
        "import sys\ndef loud(translations):\n    raise ValueError('x\\n' * 999)\n"
        "def leaving(translations):\n    sys.exit(3)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    for name, kind in (("loud", "ValueError"), ("leaving", "SystemExit")):
        said = cli("metric", "-m", f"own_rude:{name}", "-d", scored, "-o", name, *QUICK, status=2).output
        assert f"own_rude:{name} failed: {kind}" in said and len(said) < 500


def test_numbers_without_a_verdict_are_not_nothing(cli: Command, scored: str) -> None:
    said = cli("qe", "-m", "chrf", "-d", scored, "-p", "punct-remove", "-o", "RUN", *QUICK, "--brief").stdout
    assert "no measures" not in said


@pytest.mark.slow
def test_a_checkpoint_of_another_kind_leaves_nothing_that_wants_a_restart(cli: Command, scored: str) -> None:
    same = ("metric", "-d", scored, "-p", "case", "--side", "translation", "--out", "RUN", *QUICK)
    assert "of another kind" in cli(*same, "-m", "cross-encoder[model=gpt-en]", status=2).stderr
    cli(*same, "-m", "chrf")


@pytest.mark.parametrize(
    "words",
    [
        ("mt", "--system", "command[cmd=cat]", "--suite", "case", "--dry-run", "--json"),
        ("mt", "--suite", "case", "--export", "lines"),
        ("qe", "--suite", "case", "--dry-run", "--json"),
        ("qe", "--suite", "case", "--export", "texts"),
        ("metric", "--side", "source", "--suite", "case", "--export", "texts"),
    ],
    ids=lambda words: f"{words[0]} {words[-1]}",
)
def test_what_is_to_say_of_the_data_is_said_where_no_run_is_made(
    words: tuple[str, ...], cli: Callable[..., Result], tmp_path: Path
) -> None:
    (tmp_path / "old.de-en.tsv").write_bytes("source\treference\nSch\xf6n.\tFine.\n".encode("cp1252"))
    told = cli(*words, "--data", "old.de-en.tsv")
    assert "read as Windows-1252" in told.stderr and "Windows" not in told.stdout
    assert not cli(*words, "--data", "old.de-en.tsv", "--quiet").stderr
