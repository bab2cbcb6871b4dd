"""The MT study from data to measures: nothing is translated twice, and an interrupted run ends like any other."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import babelquake as bq
from babelquake.data import Dataset, read
from babelquake.engine import Cache, Engine
from babelquake.errors import UserError
from babelquake.resource import Limits
from babelquake.runs.run import Run
from babelquake.runs.tables import Parts
from babelquake.scorers import scorer
from babelquake.spec import Spec
from babelquake.studies.mt.study import mt
from babelquake.systems.base import System

SUITE = "misspell[level=0.1|0.3],case,final-insert[mark=question],final-delete"
PAIRS = [
    ("Der Zug fährt heute nicht nach Hamburg.", "The train does not go to Hamburg today."),
    ("Kommst du morgen?", "Are you coming tomorrow?"),
    ("", ""),
    ("Drei Minister treten zurück", "Three ministers resign"),
    ("Der Preis stieg um 12 Prozent.", "The price rose by 12 per cent."),
    ("Kommst du morgen?", "Will you come tomorrow?"),
    ("Was für ein Tag!", "What a day!"),
    ("Sie sagte, sie habe nichts gewusst.", "She said she had known nothing."),
]


class Interpreter(System):
    """Turns the words of a sentence round, remembers what it was sent, and fails before batch `fails_at`."""

    def __init__(self, name: str = "interpreter", fails_at: int | None = None, version: int = 1) -> None:
        self.spec = Spec(name)
        self.fails_at = fails_at
        self.version = version
        self.batches: list[list[str]] = []

    @property
    def limits(self) -> Limits:
        return Limits(texts=3)

    @property
    def signature(self) -> str:
        return f"{self.name}|v:{self.version}"

    @property
    def sent(self) -> list[str]:
        return [text for batch in self.batches for text in batch]

    def translate(self, texts: Sequence[str]) -> list[str]:
        if len(self.batches) == self.fails_at:
            self.fails_at = None
            raise KeyboardInterrupt
        self.batches.append(list(texts))
        return [" ".join(reversed(text.rstrip(".?!").split(" "))) + text[len(text.rstrip(".?!")) :] for text in texts]


@pytest.fixture
def data(tmp_path: Path) -> Dataset:
    return dataset(tmp_path / "news.de-en.tsv")


def dataset(file: Path, columns: Sequence[str] = ("source", "reference")) -> Dataset:
    rows = [list(columns), *([source, reference][: len(columns)] for source, reference in PAIRS)]
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    return read(str(file))


def studied(
    out: Path, data: Dataset, *systems: System, suite: str = SUITE, cache: Path | None = None, seed: int = 1
) -> Run:
    engine = Engine(Cache(cache)) if cache else Engine()
    return mt(
        systems=systems,
        data=data,
        suite=suite,
        scorers=["chrf", "bleu"],
        out=out,
        seed=seed,
        resamples=100,
        engine=engine,
    )


def tables(run: Run) -> dict[str, bytes]:
    names = ("measures.csv", "measures.parquet", "scores.parquet", "translations.parquet", "variants.parquet")
    return {name: (run.folder / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("undisturbed")
    return studied(folder / "run", dataset(folder / "news.de-en.tsv"), Interpreter())


def test_all_measures_are_there(undisturbed: Run) -> None:
    measures = undisturbed.measures
    kinds = set(measures["measure"])
    assert {"quality", "quality_perturbed", "delta", "robust", "consis", "inconsistent", "failures"} <= kinds
    assert measures["study"].unique().to_list() == ["mt"]
    assert set(measures.filter(measure="robust")["scorer"]) == {"chrf", "bleu"}
    robust = measures.filter(measure="robust", scorer="chrf")
    assert robust.select("perturbation", "level").rows() == [
        ("misspell", 0.1),
        ("misspell", 0.3),
        ("case", 0.5),
        ("final-insert[mark=question]", None),
        ("final-delete", None),
    ]
    assert robust.filter(perturbation="final-delete")["n"].item() == 3
    assert all("seed:1" in line for line in measures["signature"])
    assert undisturbed.info.facts.audit and undisturbed.info.facts.audit.segments == len(PAIRS)
    assert undisturbed.info.finished and undisturbed.info.signatures["system interpreter de-en"] == "interpreter|v:1"


def test_duplicates_and_blank_segments_are_never_sent(tmp_path: Path, data: Dataset) -> None:
    system = Interpreter()
    run = studied(tmp_path / "run", data, system)
    assert len(system.sent) == len(set(system.sent)) and all(text.strip() for text in system.sent)
    blank = run.translations.filter(row=2)
    assert set(blank["translation"]) == {""}
    assert any("blank" in note for note in run.info.notes)


@pytest.mark.parametrize("batches", [0, 1, 2, 5])
def test_interrupted_anywhere_a_rerun_ends_the_same_and_translates_nothing_twice(
    tmp_path: Path, data: Dataset, undisturbed: Run, batches: int
) -> None:
    system = Interpreter(fails_at=batches)
    out, cache = tmp_path / "run", tmp_path / "cache.sqlite"
    with pytest.raises(KeyboardInterrupt):
        studied(out, data, system, cache=cache)
    assert not Run.open(out).has("translations")
    run = studied(out, data, system, cache=cache)
    assert len(system.sent) == len(set(system.sent))
    assert tables(run) == tables(undisturbed)
    sent = len(system.batches)
    assert tables(studied(out, data, system, cache=cache)) == tables(undisturbed)
    assert len(system.batches) == sent


@pytest.mark.parametrize("step", ["store", "save", "execute", "mt_results"])
@pytest.mark.parametrize("call", [1, 3])
def test_interrupted_between_any_two_steps(
    tmp_path: Path, data: Dataset, undisturbed: Run, monkeypatch: pytest.MonkeyPatch, step: str, call: int
) -> None:
    from babelquake.studies.mt import study as module

    place = {"store": Parts, "save": Run}.get(step, module)
    real: Callable[..., object] = getattr(place, step)
    calls = 0

    def interrupted(*args: object, **options: object) -> object:
        nonlocal calls
        calls += 1
        if calls == call or place is module:
            raise KeyboardInterrupt
        return real(*args, **options)

    system = Interpreter()
    with monkeypatch.context() as patch:
        patch.setattr(place, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            studied(tmp_path / "run", data, system, cache=tmp_path / "cache.sqlite")
    run = studied(tmp_path / "run", data, system, cache=tmp_path / "cache.sqlite")
    assert tables(run) == tables(undisturbed)
    assert len(system.sent) == len(set(system.sent))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seed": 2}, "seed=1"),
        ({"suite": "case"}, "misspell[level=0.1], misspell[level=0.3]"),
        ({"systems": [Interpreter("other")]}, "systems='interpreter'"),
        ({"systems": [Interpreter(version=2)]}, "with system interpreter de-en as interpreter|v:1; it is"),
        ({"pair": "en-de"}, "language_pair='de-en'"),
    ],
)
def test_another_configuration_is_refused(
    tmp_path: Path, data: Dataset, undisturbed: Run, change: dict[str, object], message: str
) -> None:
    given = {"suite": SUITE, "seed": 1} | {key: change[key] for key in change.keys() & {"suite", "seed"}}
    systems: list[System] = change.get("systems", [Interpreter()])  # type: ignore[assignment]
    if pair := change.get("pair"):
        data = read(str(tmp_path / "news.de-en.tsv"), language_pair=str(pair))
    before = tables(undisturbed)
    with pytest.raises(UserError) as caught:
        studied(undisturbed.folder, data, *systems, **given)  # type: ignore[arg-type]
    assert message in str(caught.value)
    assert tables(undisturbed) == before


def test_other_data_are_refused(tmp_path: Path, undisturbed: Run) -> None:
    (tmp_path / "news.de-en.tsv").write_text("source\treference\nHallo.\tHello.\n")
    with pytest.raises(UserError, match="was made with other segments of news"):
        studied(undisturbed.folder, read(str(tmp_path / "news.de-en.tsv")), Interpreter())


def test_without_references_only_agreement_is_measured_and_said_so(tmp_path: Path) -> None:
    run = studied(tmp_path / "run", dataset(tmp_path / "news.de-en.tsv", ["source"]), Interpreter())
    kinds = {kind for kind in run.measures["measure"] if not kind.startswith(("failures", "hallucination"))}
    agreement = {"consis", "overall_consis", "inconsistent", "source_again", "always_same"}
    assert kinds - {"consis_changed", "inconsistent_changed", "achieved_words"} == agreement
    assert any("only CONSIS and % inconsistent" in note for note in run.info.notes)


@pytest.mark.slow
def test_without_references_a_copy_or_one_sentence_for_all_is_not_consistent(tmp_path: Path) -> None:
    def copying(texts: list[str]) -> list[str]:
        return texts

    def dead(texts: list[str]) -> list[str]:
        return ["We go home."] * len(texts)

    def reversing(texts: list[str]) -> list[str]:
        return [text[::-1] for text in texts]

    sources = bq.read("sample").segments.select("source").head(40)
    systems: list[Any] = [copying, dead, reversing]
    options: dict[str, Any] = {"suite": "misspell[level=0.5]", "resamples": 100, "quiet": True}
    run = bq.mt(data=sources, systems=systems, language_pair="de-en", **options)
    alarms = [finding for finding in run.info.findings or [] if finding.weight == "alarm"]
    assert {one.what for one in alarms} == {"no_translation"}
    assert [str(one.who).rpartition(".")[2] for one in alarms] == ["copying", "dead"]
    assert "copying does not translate" in run.verdict[0] and "100 % of 40" in run.verdict[1]
    assert not any(name in " ".join(run.verdict[2:]) for name in ("copying", "dead"))
    assert "overall_rank" not in set(run.measures["measure"])
    assert bq.compare(run, run).findings[0].what == "no_translation"
    rewriting = bq.mt(data=sources, systems=copying, language_pair="de-de", **options)
    assert not any(finding.weight == "alarm" for finding in rewriting.info.findings or [])


@pytest.mark.parametrize("block", [2, 40_000])
def test_a_missing_reference_takes_its_segment_alone_out_of_quality(
    tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("babelquake.studies.variants.BLOCK_TEXTS", block)
    texts = [(source, reference) for source, reference in dict(PAIRS).items() if source]
    rows = [{"source": source, "reference": reference} for source, reference in texts]
    rows[1]["reference"], rows[4]["reference"] = None, " "  # type: ignore[assignment]
    noise = "case[level=1,to=upper]"
    run = mt(
        data=pl.DataFrame(rows),
        systems=[Interpreter()],
        suite=noise,
        scorers=["bleu", "chrf"],
        out=tmp_path / "run",
        resamples=100,
    )
    judged = [row for place, row in enumerate(rows) if place not in (1, 4)]
    translations = Interpreter().translate([row["source"] for row in judged])
    found = run.measures.filter(measure="quality", perturbation="case[to=upper]")
    for name in ("bleu", "chrf"):
        ((value, n),) = found.filter(scorer=name).select("value", "n").iter_rows()
        assert value == pytest.approx(scorer(name).corpus(translations, [row["reference"] for row in judged]))
        assert n == len(judged) == 4
    assert set(run.measures.filter(measure="consis")["n"]) == {6}
    assert run.scores.filter(pl.col("score").is_null())["row"].unique().sort().to_list() == [1, 4]
    assert any(note.startswith("2 of 6 segments have no reference") for note in run.info.notes)


def test_several_systems_are_ranked_and_compared(tmp_path: Path, data: Dataset) -> None:
    run = studied(tmp_path / "run", data, Interpreter("one"), Interpreter("two"))
    ranks = run.measures.filter(measure="rank")
    assert set(ranks["value"]) == {1.0} and set(ranks["system"]) == {"one", "two"}
    differences = run.measures.filter(measure="robust_difference", scorer="chrf")
    assert set(differences["system"]) == {"one"} and set(differences["other"]) == {"two"}
    assert set(differences["value"]) == {0.0}
    assert set(differences["p_corrected"]) == {1.0}
    with pytest.raises(UserError, match="two systems are called 'one'"):
        studied(tmp_path / "again", data, Interpreter("one"), Interpreter("one"))


def test_several_language_pairs_keep_apart(tmp_path: Path) -> None:
    file = tmp_path / "mixed.tsv"
    rows = [
        ("source", "reference", "language_pair"),
        ("Guten Tag.", "Good day.", "de-en"),
        ("Bonjour.", "Good day.", "fr-en"),
        ("Bis bald.", "See you.", "de-en"),
    ]
    file.write_text("".join("\t".join(row) + "\n" for row in rows))
    run = studied(tmp_path / "run", read(str(file)), Interpreter(), suite="final-delete,case[level=1]")
    robust = run.measures.filter(measure="robust", scorer="chrf", perturbation="final-delete")
    assert dict(robust.select("language_pair", "n").iter_rows()) == {"de-en": 2, "fr-en": 1}
    joined = run.translations.join(run.segments, on="row")
    assert (joined["language_pair"] == joined["language_pair_right"]).all()


def test_a_perturbation_that_applies_nowhere_is_named(tmp_path: Path, data: Dataset) -> None:
    run = studied(tmp_path / "run", data, Interpreter(), suite="case,final-delete[mark=exclamation],number[level=1]")
    assert not any("exclamation" in note for note in run.info.notes)
    (tmp_path / "bare.tsv").write_text("source\treference\nHallo\tHello\n")
    run = studied(tmp_path / "bare", read(str(tmp_path / "bare.tsv")), Interpreter(), suite="final-delete")
    assert "final-delete applies to no segment." in run.info.notes
    assert run.measures["perturbation"].null_count() == run.measures.height


def test_punctuation_is_reset_in_what_is_judged_and_kept_in_what_is_shown(tmp_path: Path, data: Dataset) -> None:
    run = studied(tmp_path / "run", data, Interpreter(), suite="final-insert[mark=question],misspell[level=0.1]")
    row = run.translations.filter(perturbation="final-insert[mark=question]").row(0, named=True)
    assert row["source"] == "Drei Minister treten zurück?"
    assert row["translation"].endswith("?") and row["judged"] == row["translation"].removesuffix("?")
    typos = run.translations.filter(perturbation="misspell")
    assert (typos["translation"] == typos["judged"]).all()


SLOW = """
import os, sys, time
for line in sys.stdin:
    with open(os.environ["SENT"], "a") as log:
        log.write(line)
    time.sleep(0.02)
    print(line.rstrip("\\n")[::-1], flush=True)
"""


@pytest.mark.slow
def test_kill_9_in_the_middle_of_translating(tmp_path: Path) -> None:
    """The batch under way is lost with the process; every finished one is kept, and the tables are the same."""
    data = tmp_path / "news.de-en.tsv"
    rows = "".join(f"Satz {number}: {source}\t{reference}\n" for number in range(25) for source, reference in PAIRS[:1])
    data.write_text("source\treference\n" + rows)
    script = tmp_path / "slow.py"
    script.write_text(SLOW)
    log = tmp_path / "sent.txt"

    def command(name: str) -> list[str]:
        system = Spec("command").with_options(cmd=f"{sys.executable} {script}")
        return [
            sys.executable,
            "-m",
            "babelquake",
            "mt",
            "--system",
            str(system),
            "--data",
            str(data),
            "--suite",
            "misspell[level=0.1|0.3]",
            "--scorer",
            "chrf",
            "--resamples",
            "100",
            "--out",
            str(tmp_path / name),
            "--encoder",
            "none",
            "--cache",
            str(tmp_path / f"{name}.sqlite"),
        ]

    (tmp_path / "sitecustomize.py").write_text(
        "from babelquake.systems import base, command\n"
        "command.Command.limits = property(lambda self: base.Limits(texts=5))\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SENT": str(log)}
    first = subprocess.Popen(command("run"), env=environment, start_new_session=True)
    while not log.exists() or log.read_text().count("\n") < 20:
        time.sleep(0.05)
        assert first.poll() is None
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    time.sleep(0.3)
    before = log.read_text().splitlines()
    again = subprocess.run(command("run"), env=environment, capture_output=True, text=True, check=True)
    assert "Run folder" in again.stdout
    sent = log.read_text().splitlines()
    assert len(sent) - len(set(sent)) <= 10
    log.unlink()
    subprocess.run(command("undisturbed"), env=environment, capture_output=True, check=True)
    assert sorted(set(log.read_text().splitlines())) == sorted(set(sent)) and len(before) < len(set(sent))
    for name in ("measures.csv", "measures.parquet", "scores.parquet"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes()
