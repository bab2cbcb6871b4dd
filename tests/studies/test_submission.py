"""A metric's scores as a shared task takes them."""

from pathlib import Path

import pytest

from babelquake import plan
from babelquake.data.metrics_eval import segment_scores
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import scorer
from babelquake.studies.exchange import submit_scores
from babelquake.studies.metric import MetricOptions

OUTPUTS = {"A": ["a b c d", "e f g h"], "B": ["a b x y", "e f g h"]}
REFERENCE = ["a b c d", "e f g z"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "wmt99"
    for name, lines in {
        "sources/de-en.txt": ["eins", "zwei"],
        "references/de-en.refA.txt": REFERENCE,
        "documents/de-en.docs": ["news\td1", "news\td1"],
        **{f"system-outputs/de-en/{system}.txt": lines for system, lines in OUTPUTS.items()},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("\n".join(lines) + "\n")
    return root


def length(translations: list[str], references: object, sources: object) -> list[float]:
    """A metric of the user's own."""
    return [float(len(text)) for text in translations]


def test_scores_of_any_scorer_are_written_and_read_again(folder: Path) -> None:
    planned = plan.metric(data=str(folder), scorers=["chrf", "ter", length], engine=Engine(quiet=True))
    written = planned.submit(folder)
    assert {path.name for path in written} >= {"chrf-refA.seg.score", "chrf-refA.sys.score", "ter-refA.seg.score"}
    here = folder / "metric-scores" / "de-en"
    chrf = segment_scores(here / "chrf-refA.seg.score")
    assert chrf["B"] == pytest.approx(scorer("chrf").segments(OUTPUTS["B"], REFERENCE).tolist())
    names = {file.name.removesuffix(".seg.score").removesuffix("-refA") for file in here.glob("*.seg.score")}
    assert {name.removesuffix("-src").rpartition("_")[2] for name in names} == {"chrf", "ter", "length"}
    by_system = dict(line.split("\t") for line in (here / "chrf-refA.sys.score").read_text().splitlines())
    import sacrebleu

    assert float(by_system["A"]) == pytest.approx(sacrebleu.corpus_chrf(OUTPUTS["A"], [REFERENCE]).score)
    errors = segment_scores(here / "ter-refA.seg.score")
    assert errors["A"][0] == 0 and (errors["B"][0] or 0) < 0


def lines_of(path: Path) -> dict[str, int]:
    systems = [line.split("\t")[0] for line in path.read_text().splitlines()]
    return {system: systems.count(system) for system in systems}


def test_references_among_the_outputs_are_scored_unless_the_metric_reads_them(folder: Path) -> None:
    """mt-metrics-eval asks for every output's score but the reference's own, and takes those that are missing for 0."""
    for name in ("refA", "synthetic_ref"):
        (folder / f"references/de-en.{name}.txt").write_text("\n".join(REFERENCE) + "\n")
        (folder / f"system-outputs/de-en/{name}.txt").write_text("\n".join(REFERENCE) + "\n")

    def sources_only(translations: list[str], sources: list[str]) -> list[float]:
        return [float(len(source)) for source in sources]

    scorers = ["chrf", sources_only]
    written = submit_scores(MetricOptions(data=str(folder), scorers=scorers, engine=Engine(quiet=True)), folder)
    chrf, _, blind, _ = written
    assert lines_of(chrf) == {"A": 2, "B": 2, "synthetic_ref": 2}
    assert blind.name.endswith("-src.seg.score") and lines_of(blind) == {"A": 2, "B": 2, "refA": 2, "synthetic_ref": 2}
    assert segment_scores(chrf)["synthetic_ref"] == [100, 100]
    both = MetricOptions(data=str(folder), scorers=["chrf"], reference="all", engine=Engine(quiet=True))
    (path, _) = submit_scores(both, folder / "both")
    assert path.name == "chrf-refA.synthetic_ref.seg.score" and lines_of(path) == {"A": 2, "B": 2}


def test_each_pair_has_the_reference_that_it_was_judged_with(folder: Path) -> None:
    for file in [*folder.rglob("de-en*.txt"), *folder.rglob("de-en.docs")]:
        named = file.name.replace("de-en", "en-cs_CZ").replace("refA", "refB")
        (file.parent / named).write_text(file.read_text())
    (folder / "system-outputs/en-cs_CZ").mkdir()
    (folder / "system-outputs/en-cs_CZ/A.txt").write_text("\n".join(OUTPUTS["A"]) + "\n")
    written = submit_scores(MetricOptions(data=str(folder), scorers=["chrf"], engine=Engine(quiet=True)), folder)
    assert {f"{path.parent.name}/{path.name}" for path in written if ".seg." in path.name} == {
        "de-en/chrf-refA.seg.score",
        "en-cs_CZ/chrf-refB.seg.score",
    }


def test_a_missing_score_is_named_instead_of_written(folder: Path) -> None:
    def sometimes(translations: list[str], references: object) -> list[float]:
        return [1.0 if "x" not in text else float("nan") for text in translations]

    with pytest.raises(UserError, match=r"1 of 2 translations of B.*line 1"):
        submit_scores(MetricOptions(data=str(folder), scorers=[sometimes], engine=Engine(quiet=True)), folder)


def test_mt_metrics_eval_takes_what_was_written(folder: Path) -> None:
    """Its own reader, which refuses files that lack a score, with a reference among the outputs."""
    data = pytest.importorskip("mt_metrics_eval.data", reason="needs mt-metrics-eval")
    meta = pytest.importorskip("mt_metrics_eval.meta_info", reason="needs mt-metrics-eval")
    (folder / "system-outputs/de-en/refA.txt").write_text("\n".join(REFERENCE) + "\n")
    written = submit_scores(
        MetricOptions(data=str(folder), scorers=["chrf", length], engine=Engine(quiet=True)), folder
    )
    info = meta.MetaInfo("refA", {}, set(), set())
    taken = data.EvalSet(folder.name, "de-en", True, info, str(folder.parent), strict=True)
    assert len(taken.metric_names) == len(written) / 2 == 2
    scores = scorer("chrf").segments(OUTPUTS["B"], REFERENCE)
    assert taken.Scores("seg", "chrf-refA")["B"] == pytest.approx(scores.tolist())
    assert set(taken.Scores("sys", "chrf-refA")) == {"A", "B"}


def test_data_of_another_layout_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("source\ttranslation\tsystem\na\tb\tS\n")
    with pytest.raises(UserError, match="mt-metrics-eval"):
        submit_scores(MetricOptions(data=str(tmp_path / "d.tsv"), scorers=["chrf"]), tmp_path)
