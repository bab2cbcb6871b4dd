"""The QE study on the kinds of models that Kanojia 2021 ranks, as small checkpoints; error spans in the run."""

from pathlib import Path

import polars as pl
import pytest
from tests.scorers import parity

from babelquake.data import Dataset
from babelquake.engine import Engine
from babelquake.report.examples import example_table, examples, judged_columns, with_texts
from babelquake.runs.run import Run
from babelquake.studies.qe.study import qe

torch = pytest.importorskip("torch", reason="needs the extra [neural]")
pytest.importorskip("transformers", reason="needs the extra [neural]")


@pytest.fixture
def models(tmp_path: Path) -> dict[str, str]:
    from babelquake.models.predictor_estimator import MARKS, PredictorEstimator, Shape
    from babelquake.scorers import openkiwi

    torch.set_num_threads(1)
    torch.manual_seed(0)
    made = {
        name: parity.make(kind, name, tmp_path / "models" / name)
        for kind, name in (
            ("comet", "wmt22-cometkiwi-da"),
            ("comet", "xcomet"),
            ("transquest", "monotransquest"),
            ("transquest", "siamesetransquest"),
        )
    }
    words = {word: at for at, word in enumerate([*MARKS, "the", "The", "not", "train"])}
    kiwi = openkiwi.Loaded(PredictorEstimator(Shape(len(words), len(words))), words, words)
    openkiwi.save(tmp_path / "models" / "kiwi", kiwi, {"kind": "predictor-estimator"})
    siamese = made["siamesetransquest"]
    return {
        "MonoTQ": f"transquest[model={made['monotransquest']}]",
        "SiameseTQ": f"transquest[model={siamese}]",
        "SentSim": f"sentsim[sentence={siamese},words={siamese},layer=2]",
        "OpenKiwi": f"openkiwi[model={tmp_path / 'models' / 'kiwi'}]",
        "CometKiwi": f"comet[model={made['wmt22-cometkiwi-da']}]",
        "xCOMET": f"comet[model={made['xcomet']},inputs=source]",
    }


def test_models_are_ranked_and_errors_are_kept(judged: Dataset, models: dict[str, str], tmp_path: Path) -> None:
    run = qe(
        scorers=list(models.values()),
        data=judged,
        suite=["word-repeat", "punct-remove"],
        out=tmp_path / "run",
        replicates=2,
        resamples=100,
        engine=Engine(quiet=True),
    )
    names = set(run.measures["scorer"].drop_nulls())
    assert len(names) >= len(models) and str(tmp_path) not in "".join(names)
    assert {"pearson", "discrimination"} <= set(run.measures["measure"])
    spans = run.scan("spans").collect()
    assert spans["scorer"].unique().to_list() == ["comet[inputs=source,model=xcomet]"]
    assert spans.filter(spans["spans"].list.len() > 0).height > 0
    marked = spans.explode("spans").drop_nulls("spans").unnest("spans")
    assert set(marked["severity"]) <= {"minor", "major", "critical"}
    table = example_table(run, 400)
    errors = [line[table.columns.index("errors")] for line in table.rows]
    assert any("“" in text for text in errors)
    packed = judged_columns(run, _with_segments(run))
    assert "Errors marked" in [text["label"] for text in packed["texts"]]


def _with_segments(run: Run) -> pl.DataFrame:
    """Examples as the page packs them, with the segments' other texts."""
    rows = with_texts(run, examples(run).collect())
    empty = {f"segment_{name}": pl.lit(None, pl.String) for name in ("source", "translation", "reference")}
    return rows.with_columns(cell=pl.col("perturbation"), **empty)
