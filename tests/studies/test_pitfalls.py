"""The card of pitfalls: flaws that users reported are caught, and a scorer without them passes everything."""

import re
from collections.abc import Callable
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

from babelquake.cli.app import app
from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.perturb import Perturbation
from babelquake.perturb.context import Beside, Other, Others
from babelquake.perturb.suite import suite
from babelquake.report.examples import examples, with_texts
from babelquake.report.first_screen import worst_examples
from babelquake.report.pages import tables, views
from babelquake.report.remedies import about_scorers
from babelquake.report.verdict import verdict
from babelquake.runs.run import Run
from babelquake.studies.metric.study import metric
from babelquake.studies.pitfalls import outcome_of, outcomes
from babelquake.studies.plan import Plan
from babelquake.studies.qe.study import qe

from .conftest import Write

NAMES = ["Anna", "Boris", "Clara", "David", "Emil", "Flora", "Georg", "Helen", "Igor", "Julia", "Karl", "Lina"]
THINGS = ["bridge", "lantern", "teapot", "cello", "ladder", "window", "orchard", "saddle"]
WORDS = re.compile(r"[^\W_]+")


def perfect(translation: str, reference: str) -> float:
    """Words in order, whatever their case, their marks and what nobody sees."""
    one, other = (
        WORDS.findall(re.sub("[\u200b\u200c\u2060\u00ad]", "", text).lower()) for text in (translation, reference)
    )
    return SequenceMatcher(None, one, other, autojunk=False).ratio()


def likes_copies(translation: str, reference: str, source: str) -> float:
    """COMET as a user saw it: the copied source scores 92.4."""
    return 1.0 if translation == source else perfect(translation, reference)


def falls_with_length(translation: str, reference: str) -> float:
    """The longer the text, the lower the score, although the translation is the reference."""
    return perfect(translation, reference) - len(reference.split()) / 200


@pytest.fixture
def rated(write: Write) -> Dataset:
    """96 segments; one translation in three has a word that the reference has not."""
    rows = []
    for place, (name, thing) in enumerate((name, thing) for name in NAMES for thing in THINGS):
        source = f"Schnell, so sagte man, brachten sie Nummer {place} zu {name}."
        reference = f"Quickly, so they said, they carried the {thing} upstairs to {name} in room {place}."
        translation = reference.replace("Quickly", "Fast") if place % 3 else reference
        rows.append((source, reference, translation, 80 + place % 3))
    return write("source reference translation score", rows)


def carded(data: Dataset, out: Path, *scorers: Any, study: Callable[..., Run] = metric, **options: Any) -> Run:
    given = {"suite": "pitfalls", "resamples": 100, "engine": Engine(quiet=True)} | options
    return study(data=data, scorers=[*scorers], out=out, **given)


def said(run: Run, scorer: str) -> dict[tuple[str, float | None], str]:
    rows = run.measures.filter(pl.col("measure") == "pitfall", pl.col("scorer").str.contains(scorer)).to_dicts()
    return {(row["perturbation"], row["level"]): outcome for row, outcome in outcomes(rows, 5.0)}


@pytest.mark.slow
def test_each_reported_flaw_is_caught_and_a_perfect_scorer_passes_every_pitfall(rated: Dataset, tmp_path: Path) -> None:
    run = carded(rated, tmp_path / "run", perfect, likes_copies, falls_with_length)
    ideal, copies, long = (said(run, name) for name in ("perfect", "likes_copies", "falls_with_length"))
    assert {outcome for cell, outcome in ideal.items() if cell[0] != "foreign"} == {"pass"}
    assert len(ideal) > 25 and ideal["foreign", None] == "not tested"
    assert {cell for cell, outcome in copies.items() if outcome == "fail"} == {("source-copy", None)}
    failed = {cell for cell, outcome in long.items() if outcome == "fail"}
    assert (
        {("concatenated", 4.0), ("concatenated", 32.0)}
        <= failed
        <= {("concatenated", float(k)) for k in (2, 4, 8, 16, 32)}
    )
    effect = run.measures.filter(pl.col("measure") == "length_effect", pl.col("level") == 32)
    by_scorer = {row["scorer"].rpartition(":")[2].rpartition(".")[2]: row for row in effect.to_dicts()}
    assert by_scorer["falls_with_length"]["high"] < 0 and by_scorer["perfect"]["value"] == 0
    counts = run.measures.filter(pl.col("measure") == "pitfalls_failed")
    assert counts.filter(pl.col("scorer").str.contains("perfect"))["value"].to_list() == [0.0]


def test_the_card_is_on_the_page_with_a_chart_of_lengths_and_in_the_verdict(rated: Dataset, tmp_path: Path) -> None:
    run = carded(rated, tmp_path / "run", perfect, likes_copies)
    together, *cards = [table for table in tables(run) if table.title.startswith("Pitfalls")]
    copied = next(row for row in together.rows if row[0] == "source in place of the translation")
    assert copied[1] == "scores it lower" and copied[2].startswith("pass 100") and copied[3].startswith("FAIL 0")
    assert len(cards) == 2 and cards[0].columns[-1] == "outcome"
    assert any(chart.name.startswith("length") for view in views(run) for chart in view.charts)
    assert any("fails 1" in sentence and "source in place" in sentence for sentence in verdict(run))
    assert not any("references in a row" in sentence for sentence in verdict(run))


def test_the_first_screen_shows_only_what_was_misjudged_beside_what_it_is_compared_with(
    rated: Dataset, tmp_path: Path
) -> None:
    run = carded(rated, tmp_path / "run", falls_with_length)
    shown = worst_examples(run)
    assert shown and all(example["label"].startswith("References in a row") for example in shown)
    longest = max(shown, key=lambda example: len(str(example["source"])))
    assert float(longest["after"].replace("−", "-")) < 0.5 < float(longest["before"])
    rows = with_texts(run, examples(run).filter(pl.col("perturbation") == "concatenated").collect())
    assert set(rows["original"]) == set(rated.segments["references"].list.first())
    assert about_scorers(run)[0].advice.startswith("Score sentence by sentence")
    assert worst_examples(carded(rated, tmp_path / "perfect", perfect)) == []


def test_a_harmless_change_that_moves_a_score_has_the_advice_of_its_family(rated: Dataset, tmp_path: Path) -> None:
    run = carded(rated, tmp_path / "run", "bleu", suite="pitfalls")
    case = [advice for advice in about_scorers(run) if "ase" in advice.title]
    assert len(case) == 1 and "lower-cased" in case[0].advice


def test_what_is_compared_with_another_change_brings_its_own_source_and_reference(
    rated: Dataset, tmp_path: Path
) -> None:
    run = carded(rated, tmp_path / "run", perfect)
    rows = run.table("variants").filter(pl.col("perturbation") == "concatenated", pl.col("level") == 2)
    first = rows.row(0, named=True)
    references = rated.segments["references"].list.first()
    assert first["text"] == first["own_reference"] == f"{references[0]} {references[1]}"
    assert first["own_source"] == " ".join(rated.segments["source"][:2])


def test_qe_has_the_same_card_and_a_gate_stops_what_fails(rated: Dataset, tmp_path: Path) -> None:
    run = carded(rated, tmp_path / "qe", "chrf", study=qe)
    assert said(run, "chrf")["empty", None] == "pass"
    assert any(table.title.startswith("Pitfalls") for table in tables(run))


def test_require_exits_with_1_where_a_pitfall_is_failed(rated: Dataset, tmp_path: Path) -> None:
    line = ["metric", "--data", str(tmp_path / "news.de-en.tsv"), "--scorer", "chrf", "--resamples", "100", "--quiet"]
    line += ["--suite", "pitfalls", "--out", str(tmp_path / "run"), "--cache", "none"]
    met = CliRunner().invoke(app, [*line, "--require", "pitfall[empty] >= 95"])
    assert met.exit_code == 0, met.output
    missed = CliRunner().invoke(app, [*line, "--require", "pitfalls_failed <= 0"])
    assert missed.exit_code == 1 and "pitfalls_failed" in missed.output


def test_scores_that_came_from_elsewhere_take_part(rated: Dataset, tmp_path: Path) -> None:
    """The export holds every text of every pitfall with its own source and reference."""
    from babelquake.studies.exchange import export
    from babelquake.studies.metric import MetricOptions
    from babelquake.studies.metric.study import plan

    planned: Plan = plan(MetricOptions(data=rated, scorers=("chrf",), suite="pitfalls", engine=Engine(quiet=True)))
    where, count = export(planned, tmp_path / "out")
    questions = pl.read_ndjson(where)
    own = {(row["source"], row["translation"]): row["references"][0] for row in questions.to_dicts()}
    longest = max(own, key=lambda question: len(question[1]))
    assert count == questions.height and len(own[longest]) > 1000
    returned = [perfect(row["translation"], row["references"][0]) for row in questions.to_dicts()]
    (tmp_path / "out" / "elsewhere.txt").write_text("\n".join(map(str, returned)), "utf-8")
    from babelquake.studies.exchange import imported_scorers

    run = carded(rated, tmp_path / "run", *imported_scorers(tmp_path / "out"))
    assert set(said(run, "elsewhere").values()) == {"pass", "not tested"}


def test_a_verdict_needs_segments() -> None:
    assert outcome_of(100.0, 100.0, 100, 5) == "pass"
    assert outcome_of(100.0, 100.0, 10, 5) == "too few"
    assert outcome_of(0.0, 28.0, 10, 5) == "fail"
    assert outcome_of(93.0, 96.8, 100, 5) == "undecided"
    assert outcome_of(None, None, 0, 5) == "not tested"


def test_a_foreign_translation_is_taken_from_the_data(write: Write, tmp_path: Path) -> None:
    columns = "source reference translation language_pair"
    pairs = (("en-de", "Der Tee Nummer {} ist heiß."), ("en-fr", "Le thé numéro {} est chaud."))
    rows: list[tuple[object, ...]] = [
        (f"The tea number {number} is hot.", text.format(number), text.format(number), pair)
        for number in range(24)
        for pair, text in pairs
    ]
    run = carded(write(columns, rows, "tea.tsv"), tmp_path / "run", "chrf", suite="foreign")
    texts = run.table("variants").filter(pl.col("language_pair") == "en-de")["text"]
    assert texts.str.starts_with("Le thé").all() and len(texts) == 24


def test_another_segments_translation_is_of_another_source() -> None:
    table = [Other("a", "x"), Other("b", "x"), Other("c", "y")]
    change = Perturbation("other-translation")
    drawn = {change.apply("a", seed=seed, beside=Beside(others=Others(table, 0))) for seed in range(20)}
    assert drawn == {"c"}
    assert change.apply("a", beside=Beside(others=Others(table[:2], 0))) is None


def test_a_suite_that_expects_something_of_what_it_has_not_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("perturbations: [empty]\nexpectations: {below: [blank]}\n", "utf-8")
    with pytest.raises(UserError, match="blank"):
        suite(str(file))
    file.write_text("perturbations: [empty]\nexpectations: {under: [empty]}\n", "utf-8")
    with pytest.raises(UserError, match="below"):
        suite(str(file))


def test_a_missing_translation_is_no_pitfall(rated: Dataset, write: Write, tmp_path: Path) -> None:
    """Where nothing was translated there is no true translation to rank above the copied source."""
    segments = rated.segments.select(
        "source", pl.col("references").list.first().alias("reference"), "translation", "score"
    )
    rows = [(*row[:2], row[2] if place % 2 else "", row[3]) for place, row in enumerate(segments.iter_rows())]
    run = carded(write("source reference translation score", rows, "half.de-en.tsv"), tmp_path / "run", perfect)
    card = said(run, "perfect")
    assert {outcome for cell, outcome in card.items() if cell[0] != "foreign"} == {"pass"}
    shares = run.measures.filter(pl.col("measure") == "pitfall", pl.col("perturbation") == "source-copy")
    assert shares["n"].to_list() == [48]
    assert run.measures.filter(pl.col("measure") == "rewards_harmful")["value"].max() == 0
    drawn = run.table("variants").filter(pl.col("perturbation") == "other-translation")["text"]
    assert drawn.str.strip_chars().str.len_chars().min() > 0
    assert any("48 of 96 translations are blank" in note for note in run.info.notes)
