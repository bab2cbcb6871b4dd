"""Run folders: nothing of the user's is touched, no damage is read in silence, nothing is half written."""

import json
import os
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from babelquake import files
from babelquake.engine import Engine
from babelquake.errors import BabelquakeError, ResumableError, UserError
from babelquake.runs import run as module
from babelquake.runs.run import Run
from babelquake.studies.mt.study import mt

CONFIG = {"seed": 1}
TABLE = pl.DataFrame({"row": range(1000), "text": [f"text {n}" for n in range(1000)]})


@pytest.fixture
def run(tmp_path: Path) -> Run:
    made = Run.resume(tmp_path / "run", "mt", CONFIG)
    made.once("segments", lambda: TABLE)
    return made


def study(folder: Path, **options: object) -> Run:
    data = [("Der Zug fährt nicht.", "The train does not run."), ("Kommst du?", "Are you coming?")] * 6
    rows = [(f"{source} {number}", f"{target} {number}") for number, (source, target) in enumerate(data)]
    words: dict[str, object] = {"systems": "command[cmd=rev]", "suite": "misspell", "scorers": "chrf", "resamples": 100}
    return mt(data=rows, out=folder, engine=Engine(quiet=True), **(words | options))  # type: ignore[arg-type]


def test_a_link_in_place_of_the_lock_is_named_and_not_followed(run: Run, tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (run.folder / module.LOCK).symlink_to(tmp_path / "precious")
    with pytest.raises(UserError, match="is a symbolic link where a lock should be"):
        study(run.folder)
    assert (tmp_path / "precious").read_text() == "precious"


def test_restart_removes_only_what_the_run_lists(run: Run) -> None:
    precious = ["my-table.parquet", "thesis.writing", "scores.csv", "variants.parquet"]
    for name in precious:
        (run.folder / name).write_text("precious")
    (run.folder / "data.parquet").mkdir()
    (run.folder / "data.parquet" / "part").write_text("precious")
    Run.resume(run.folder, "mt", {"seed": 2}, restart=True)
    assert all((run.folder / name).read_text() == "precious" for name in precious)
    assert (run.folder / "data.parquet" / "part").read_text() == "precious"
    assert not (run.folder / "segments.parquet").exists()


@pytest.mark.parametrize("content", ["{}", '{"name": "my package"}', "[]", "not json", '{"study": 7, "config": []}'])
def test_restart_leaves_a_folder_alone_whose_run_json_is_somebody_elses(tmp_path: Path, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    (tmp_path / "scores.parquet").write_text("precious")
    with pytest.raises(UserError, match="is not a run description"):
        Run.resume(tmp_path, "mt", CONFIG, restart=True)
    assert (tmp_path / "run.json").read_text() == content
    assert (tmp_path / "scores.parquet").read_text() == "precious"


def test_names_that_lead_out_of_the_folder_are_not_followed(run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    run.info.files |= {"../outside": "x", str(outside): "x"}
    run.save()
    Run.resume(run.folder, "mt", {"seed": 2}, restart=True)
    assert outside.read_text() == "precious"


def test_a_link_in_the_place_of_parts_is_not_followed(run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis").write_text("precious")
    (run.folder / ".parts").symlink_to(outside)
    Run.resume(run.folder, "mt", {"seed": 2}, restart=True)
    assert (outside / "thesis").read_text() == "precious"


def test_a_link_in_the_place_of_a_draft_is_not_written_through(run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_text("precious")
    files.draft_of(run.path("scores")).symlink_to(outside)
    run.once("scores", lambda: TABLE)
    assert outside.read_text() == "precious"


def test_a_run_that_failed_before_its_first_result_can_be_corrected(tmp_path: Path) -> None:
    Run.resume(tmp_path / "run", "mt", {"seed": 1})
    assert Run.resume(tmp_path / "run", "mt", {"seed": 2}).info.config == {"seed": 2}


@settings(max_examples=60, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_one_flipped_bit_is_found(tmp_path_factory: pytest.TempPathFactory, place: float, bit: int) -> None:
    run = Run.resume(tmp_path_factory.mktemp("runs") / "run", "mt", CONFIG)
    run.once("segments", lambda: TABLE)
    content = bytearray(run.path("segments").read_bytes())
    content[int(place * len(content))] ^= 1 << bit
    run.path("segments").write_bytes(content)
    with pytest.raises(UserError, match=r"segments\.parquet is damaged.*makes it again: babelquake mt"):
        Run.open(run.folder).table("segments")


def test_damaged_tables_are_made_again_by_the_same_command(tmp_path: Path) -> None:
    before = study(tmp_path / "run").measures
    for name in ("scores", "measures"):
        path = tmp_path / "run" / f"{name}.parquet"
        path.write_bytes(path.read_bytes()[:-7])
    again = study(tmp_path / "run")
    assert again.measures.drop("signature").equals(before.drop("signature"))
    assert any("had been damaged and was made again" in note for note in again.info.notes)


def test_deleted_measures_are_restored(tmp_path: Path) -> None:
    run = study(tmp_path / "run")
    table = (run.folder / "measures.csv").read_bytes()
    (run.folder / "measures.csv").unlink()
    study(tmp_path / "run")
    assert (run.folder / "measures.csv").read_bytes() == table


def test_tables_are_flushed_to_the_disk_before_they_have_their_name(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[tuple[str, bool]] = []
    real = os.fsync

    def fsync(number: int) -> None:
        flushed.append((str(Path(f"/proc/self/fd/{number}").readlink()), run.path("scores").exists()))
        real(number)

    monkeypatch.setattr(files.os, "fsync", fsync)
    run.once("scores", lambda: TABLE)
    assert (str(files.draft_of(run.path("scores"))), False) in flushed
    assert (str(run.folder), True) in flushed


def test_a_report_that_was_cut_short_is_written_again(tmp_path: Path) -> None:
    from babelquake.cli.studying import Terminal, show
    from babelquake.studies.options import StudyOptions

    run = study(tmp_path / "run")
    quiet = StudyOptions(data=(), out=run.folder, quiet=True)
    show(run, quiet, Terminal())
    page = run.folder / "report.html"
    whole = page.read_bytes()
    page.write_bytes(whole[:1000])
    show(Run.open(run.folder), quiet, Terminal())
    assert len(page.read_bytes()) > 1000 and page.read_bytes().rstrip().endswith(b"</html>")


def test_another_version_of_ours_does_not_finish_a_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "versions", lambda: {**run.info.versions, "babelquake": "99.0"})
    with pytest.raises(UserError, match=r"was begun with babelquake .*; this is 99\.0"):
        Run.resume(run.folder, "mt", CONFIG)


def test_other_libraries_are_noted_on_the_run_and_on_every_measure(tmp_path: Path) -> None:
    folder = study(tmp_path / "run").folder
    begun = Run.open(folder)
    begun.info.versions["numpy"], begun.info.finished = "1.0", None
    del begun.info.files["measures.parquet"]
    begun.path("measures").unlink()
    begun.save()
    again = study(tmp_path / "run")
    assert any("begun with 1.0" in note for note in again.info.notes)
    assert again.measures["signature"].str.contains(r"continued:numpy \d").all()


@pytest.mark.parametrize(
    ("error", "status"),
    [(KeyboardInterrupt(), "interrupted"), (ResumableError("x"), "interrupted"), (OSError(), "failed")],
)
def test_a_run_knows_how_it_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, status: str
) -> None:
    def fail(*_: object) -> None:
        raise error

    with monkeypatch.context() as patch:
        patch.setattr("babelquake.studies.mt.study.execute", fail)
        with pytest.raises(type(error)):
            study(tmp_path / "run")
    assert Run.open(tmp_path / "run").info.status == status
    assert study(tmp_path / "run").info.status == "finished"


EDITS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study(tmp_path_factory.mktemp("finished") / "run").folder


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_an_edited_run_json_is_read_or_refused_with_a_sentence(finished: Path, data: st.DataObject) -> None:
    from babelquake.report.html import render
    from babelquake.report.markdown import to_markdown

    file = finished / "run.json"
    original = file.read_text()
    content = json.loads(original)
    key = data.draw(st.sampled_from(sorted(content)))
    inner = content[key]
    if isinstance(inner, dict) and inner and data.draw(st.booleans()):
        inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(EDITS)
    elif data.draw(st.booleans()):
        del content[key]
    else:
        content[key] = data.draw(EDITS)
    file.write_text(json.dumps(content))
    try:
        run = Run.open(finished)
        render([run])
        to_markdown([run])
    except BabelquakeError as error:
        assert str(error)
    finally:
        file.write_text(original)


def test_runs_of_a_folder_are_listed_with_their_status(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from babelquake.cli.app import app

    study(tmp_path / "done")
    begun = Run.resume(tmp_path / "killed", "mt", CONFIG)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text("{}")
    with begun.alone():
        assert begun.status == "begun"
    found = json.loads(CliRunner().invoke(app, ["list", "runs", str(tmp_path), "--json"]).stdout)
    assert {Path(row["name"]).name: row["status"] for row in found} == {"done": "finished", "killed": "interrupted"}


def test_a_run_made_again_has_the_same_numbers_or_says_what_differs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from typer.testing import CliRunner

    from babelquake.cli.app import app

    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.de-en.tsv").write_text(
        "source\treference\n" + "".join(f"Satz {n} ist hier.\tSentence {n} is here.\n" for n in range(12))
    )
    words = ["-s", "command[cmd=cat]", "-d", "d.de-en.tsv", "-p", "misspell", "-m", "chrf", "--resamples", "100"]
    assert CliRunner().invoke(app, ["mt", *words, "--cache", "none", "-o", "run"]).exit_code == 0
    same = CliRunner().invoke(app, ["rerun", "run", "--fresh"])
    assert same.exit_code == 0, same.output
    assert "all the same" in same.stdout
    changed = Run.open("run")
    frame = changed.measures.with_columns(value=pl.col("value") + 1)
    changed.info.versions["numpy"] = "0.9"
    changed.finish(frame)
    other = CliRunner().invoke(app, ["rerun", "run", "--fresh"])
    assert other.exit_code == 1
    assert "version of numpy: 0.9 then" in other.stdout
