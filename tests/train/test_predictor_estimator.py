"""The trainer of the predictor–estimator on very little data."""

from pathlib import Path

from babelquake.train.predictor_estimator import train_predictor_estimator


def test_one_segment_held_out_has_no_correlation(tmp_path: Path) -> None:
    lines = [f"ein Satz {place}\ta sentence {place}\ta phrase {place}\t{place}" for place in range(10)]
    data = tmp_path / "few.tsv"
    data.write_text("\n".join(["source\treference\ttranslation\tscore", *lines]), "utf-8")
    card = train_predictor_estimator([data], tmp_path / "kiwi", epochs=1)
    assert card["segments"]["held out"] == 1 and card["pearson"] == {"held out": None}
