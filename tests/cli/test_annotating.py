"""`babelquake annotate` on the command line."""

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from typer.testing import Result

Command = Callable[..., Result]


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    """Two systems, twenty segments, three annotators who agree that A is better."""
    lines = ["annotator\tsystem\tsegment\tscore"]
    for annotator, shift in (("ann", 0), ("bob", 10), ("cleo", -10)):
        for segment in range(1, 21):
            lines += [f"{annotator}\tA\t{segment}\t{70 + shift + segment % 5}"]
            lines += [f"{annotator}\tB\t{segment}\t{40 + shift + segment % 7}"]
    (tmp_path / "ratings.tsv").write_text("\n".join(lines) + "\n")
    return "ratings.tsv"


def test_nobody_is_ranked_where_most_ratings_were_rejected(cli: Command, tmp_path: Path) -> None:
    """'Vendor B, rank 1, alone' was the answer after 14 of 17 ratings were rejected."""
    lines = ["annotator\thit\tsystem\tsegment\ttype\tscore"]
    for who, careless in (("ann", False), ("bob", True), ("cleo", True)):
        for segment in range(12):
            for kind in ("SYSTEM", "REPEAT", "BAD_REF"):
                looked = 80 + segment % 5 - 40 * (kind == "BAD_REF")
                score = 37 * (segment + 3 * len(kind)) % 101 if careless else looked
                lines.append(f"{who}\th-{who}\t{'AB'[segment % 2]}\t{segment}\t{kind}\t{score}")
    (tmp_path / "careless.tsv").write_text("\n".join(lines) + "\n")
    words = ("annotate", "analyse", "careless.tsv", "--exclude", "hits")
    shown = cli(*words).stdout
    assert "Quality control rejected 72 of 108 ratings" in shown
    assert "No ranks" in shown and "best" not in shown
    assert json.loads(cli(*words, "--json").stdout)["verdict"][0].startswith("Quality control rejected 72 of 108")


def test_analysis_as_json(cli: Command, ratings: str) -> None:
    found = json.loads(cli("annotate", "analyse", ratings, "--json").stdout)
    assert [row["system"] for row in found["systems"]] == ["A", "B"]
    assert found["clusters"] == [["A"], ["B"]]
    assert found["systems"][0]["raw"] == pytest.approx(72.0)
    assert len(found["segments"]) == 40
    assert found["segments"][0]["n"] == 3
    assert found["agreement"]["pearson"] == pytest.approx(1.0)
    assert found["agreement"]["alpha_z"] > 0.95 > found["agreement"]["alpha_raw"], "z takes out strictness"
    assert found["hits_passed"] is None, "without control items nothing can be tested"


def test_analysis_in_words(cli: Command, ratings: str) -> None:
    text = cli("annotate", "analyse", ratings).stdout
    assert "120 ratings by 3 annotators" in text
    assert "Ranking" in text and "wins" in text


def test_exports(cli: Command, ratings: str, tmp_path: Path) -> None:
    cli(
        "annotate",
        "analyse",
        ratings,
        "--export",
        "m.tsv",
        "--export",
        "m.parquet",
        "--export",
        "m.seg.score",
        "--score",
        "raw",
    )
    lines = (tmp_path / "m.seg.score").read_text().splitlines()
    assert lines[:2] == ["A\t71.0", "A\t72.0"]
    assert len(lines) == 40
    assert pl.read_parquet(tmp_path / "m.parquet").shape == (40, 6)
    assert (tmp_path / "m.tsv").read_text().startswith("language_pair\tsystem\tsegment\traw\tz\tn\n")
    again = json.loads(cli("annotate", "analyse", "m.seg.score", "--json").stdout)
    assert again["systems"][0]["raw"] == pytest.approx(72.0)


def test_two_campaigns_are_compared(cli: Command, ratings: str) -> None:
    found = json.loads(cli("annotate", "analyse", ratings, ratings, "--json").stdout)
    assert found["between"]["n"] == 40
    assert found["between"]["pearson"] == pytest.approx(1.0)
    assert "τ-c" in cli("annotate", "analyse", ratings, ratings).stdout


def test_wrong_options_are_told(cli: Command, ratings: str) -> None:
    assert "expected none, hits" in cli("annotate", "analyse", ratings, "--exclude", "all", status=2).stderr
    assert "expected z or raw" in cli("annotate", "analyse", ratings, "--score", "mean", status=2).stderr
    assert "ratings of original" in cli("annotate", "analyse", ratings, "--for-attack", "a.tsv", status=2).stderr
    assert "does not exist" in cli("annotate", "analyse", "rating.tsv", status=2).stderr


def test_prepare_status_and_analyse_a_project(cli: Command, tmp_path: Path) -> None:
    from tests.annotate.conftest import tuple_rows

    rows = tuple_rows(12)
    (tmp_path / "t.tsv").write_text("\n".join(["\t".join(rows[0]), *("\t".join(row.values()) for row in rows)]) + "\n")
    made = cli(
        *("annotate", "prepare", "--from", "t.tsv", "--out", "p.db", "--rated", "6", "--repeated", "2"),
        *("--degraded", "2", "--invite", "ann", "--url", "https://rating.example.org/"),
    ).stdout
    assert "6 tasks, 60 items" in made
    assert "ann: https://rating.example.org/join/" in made and "/admin/join/" in made
    found = json.loads(cli("annotate", "status", "p.db", "--add", "bob", "--link", "ann", "--json").stdout)
    assert set(found["links"]) == {"ann", "bob"} and (found["rated"], found["items"]) == (0, 60)
    text = cli("annotate", "status", "p.db", "--revoke", "bob", "--admin").stdout
    assert "0 of 6 tasks finished" in text and "yes" in text and "/admin/join/" in text
    assert "no translation has 3 or more" in cli("annotate", "analyse", "p.db", status=2).stderr
    assert "never overwritten" in cli("annotate", "prepare", "--from", "t.tsv", "--out", "p.db", status=2).stderr


def test_what_cannot_be_served_is_told(cli: Command, tmp_path: Path) -> None:
    import socket

    from tests.annotate.conftest import tuple_rows

    pytest.importorskip("uvicorn", reason="needs uvicorn (pip install 'babelquake[annotate]')")
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, tuple_rows(3))))
    cli("annotate", "prepare", "--from", "t.jsonl", "--out", "p.db")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert "cannot listen" in cli("annotate", "serve", "p.db", "--port", port, status=2).stderr
    assert "not an annotation project" in cli("annotate", "serve", "t.jsonl", status=2).stderr


def test_a_run_with_its_report(cli: Command, ratings: str, tmp_path: Path) -> None:
    cli("annotate", "analyse", ratings, "--out", "run")
    assert "babelquake annotate analyse ratings.tsv" in (tmp_path / "run" / "report.html").read_text()
    assert "rating_z" in (tmp_path / "run" / "measures.csv").read_text()


def test_a_run_can_be_made_again(cli: Command, ratings: str) -> None:
    cli("annotate", "analyse", ratings, "--out", "run", "--least", "2")
    assert "all the same" in cli("rerun", "run").stdout
    assert "all the same" in cli("rerun", "run", "--executor", "local", "--fresh").stdout


def test_too_few_ratings_of_each_translation_name_the_option(cli: Command, ratings: str) -> None:
    assert "--least 1" in cli("annotate", "analyse", ratings, "--least", "99", status=2).stderr


def test_quiet_prints_nothing(cli: Command, ratings: str) -> None:
    assert cli("annotate", "analyse", ratings, "--quiet").stdout == ""


def test_links_of_another_address_are_explained(cli: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def served(project: Path, host: str, port: int, https: bool, url: str, tell: Callable[[str], None]) -> None:
        tell(f"http://{host}:{port}")

    monkeypatch.setattr("babelquake.annotate.serving.serve", served)
    from tests.annotate.conftest import tuple_rows

    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, tuple_rows(3))))
    made = cli("annotate", "prepare", "--from", "t.jsonl", "--out", "p.db", "--invite", "ann").stdout
    assert "ann: http://127.0.0.1:8000/join/" in made
    here = cli("annotate", "serve", "p.db").stderr
    assert "p.db on http://127.0.0.1:8000" in here and "work with" not in here
    told = cli("annotate", "serve", "p.db", "--port", "8765").stderr
    assert "Links that begin with http://127.0.0.1:8000 work with http://127.0.0.1:8765 in its place." in told


def test_a_dry_run_says_how_much_there_is_to_analyse(cli: Command, ratings: str, tmp_path: Path) -> None:
    words = ("annotate", "analyse", ratings, "--out", str(tmp_path / "run"), "--dry-run")
    found = json.loads(cli(*words, "--json").stdout)
    assert (found["ratings"], found["annotator"], found["system"]) == (120, 3, 2)
    assert "120 ratings by 3 annotators" in cli(*words).stdout and not (tmp_path / "run").exists()
