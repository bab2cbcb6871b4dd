"""A metric's scores as a shared task takes them."""

from pathlib import Path

import pytest

from babelquake.data.metrics_eval import metric_scores, segment_scores
from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.scorers import scorer
from babelquake.studies.metric.options import MetricOptions
from babelquake.studies.submission import submit_scores

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
    told = MetricOptions(data=str(folder), scorers=["chrf", "ter", length], engine=Engine(quiet=True))
    written = submit_scores(told, folder)
    assert {path.name for path in written} >= {"chrf-refA.seg.score", "chrf-refA.sys.score", "ter-refA.seg.score"}
    here = folder / "metric-scores" / "de-en"
    chrf = segment_scores(here / "chrf-refA.seg.score")
    assert chrf["B"] == pytest.approx(scorer("chrf").segments(OUTPUTS["B"], REFERENCE).tolist())
    assert {name.rpartition("_")[2] for name in metric_scores(folder)} == {"chrf", "ter", "length"}
    by_system = dict(line.split("\t") for line in (here / "chrf-refA.sys.score").read_text().splitlines())
    import sacrebleu

    assert float(by_system["A"]) == pytest.approx(sacrebleu.corpus_chrf(OUTPUTS["A"], [REFERENCE]).score)
    errors = segment_scores(here / "ter-refA.seg.score")
    assert errors["A"][0] == 0 and (errors["B"][0] or 0) < 0


def test_mt_metrics_eval_reads_what_was_written(folder: Path) -> None:
    data = pytest.importorskip("mt_metrics_eval.data", reason="needs mt-metrics-eval")
    submit_scores(MetricOptions(data=str(folder), scorers=["chrf"], engine=Engine(quiet=True)), folder)
    here = folder / "metric-scores" / "de-en"
    segments = data.ReadScoreFile(str(here / "chrf-refA.seg.score"))
    systems = data.ReadScoreFile(str(here / "chrf-refA.sys.score"))
    assert {name: len(scores) for name, scores in segments.items()} == {"A": 2, "B": 2}
    assert {name: len(scores) for name, scores in systems.items()} == {"A": 1, "B": 1}


def test_data_of_another_layout_are_refused(tmp_path: Path) -> None:
    (tmp_path / "d.tsv").write_text("source\ttranslation\tsystem\na\tb\tS\n")
    with pytest.raises(UserError, match="mt-metrics-eval"):
        submit_scores(MetricOptions(data=str(tmp_path / "d.tsv"), scorers=["chrf"]), tmp_path)
