"""The MetricX repository's scores of the small checkpoint: run by `make parity` with a checkout of that repository.

Its prediction script reads one example at a time; so does this one, with the repository's model class.
"""

import sys
from pathlib import Path

import torch
from checkpoints_other import METRICX, metricx
from golden import keep
from judged_segments import Segment, segments
from transformers import AutoTokenizer

LONGEST = 100
"""Tokens that are read here, so that the long segments are cut."""


def written(row: Segment, year: int, qe: bool) -> str:
    """The input as `predict.py` of each year writes it."""
    if year == 23:
        other = f" source: {row.source}" if qe else f" reference: {row.reference}"
        return f"candidate: {row.translation}{other}"
    return f"source: {row.source} candidate: {row.translation}" + ("" if qe else f" reference: {row.reference}")


def main(folder: Path, repository: Path) -> None:
    """Both years' input formats, with and without reference."""
    sys.path.insert(0, str(repository))
    from metricx24.models import MT5ForRegression

    made = metricx(folder / METRICX)
    tokenizer = AutoTokenizer.from_pretrained(made)
    model = MT5ForRegression.from_pretrained(made).eval()
    scores = {}
    for year in (23, 24):
        for qe in (False, True):
            found = []
            for row in segments():
                ids = tokenizer(written(row, year, qe), max_length=LONGEST, truncation=True)["input_ids"][:-1]
                with torch.no_grad():
                    mask = torch.ones(1, len(ids), dtype=torch.long)
                    answer = model(torch.tensor([ids]), attention_mask=mask, use_cache=False)
                found.append(float(answer.predictions))
            scores[f"metricx-{year}{'-qe' if qe else ''}"] = found
    keep("metricx", "google-research/metricx", scores)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
