"""MetricX-23 and MetricX-24 (Juraska et al. 2023, 2024): mT5 that predicts an MQM error score from 0 to 25.

MetricX-23 reads the reference, its QE models the source; MetricX-24 is hybrid and reads the source with or without a
reference. Which of the two years a checkpoint is decides how its input is written, and is taken from its name.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

import numpy as np

from babelquake.errors import UserError
from babelquake.models.metricx import FILES
from babelquake.models.metricx import MetricX as Network
from babelquake.models.precision import Precision
from babelquake.scorers.base import Array, Questions, required
from babelquake.scorers.published_scorer import PublishedScorer, best_reference

LONGEST = {23: 1024, 24: 1536}
"""Tokens that each year's models were trained on."""


class MetricX(PublishedScorer[Network]):
    """Predicted MQM error score, 0 without errors to 25: lower is better.

    `inputs=source` judges without references (MetricX-23-QE, MetricX-24); `tokenizer` is a hub name or a folder.
    """

    metric: ClassVar[str] = "metricx"
    owner: ClassVar[str] = "google"
    files: ClassVar[tuple[str, ...]] = FILES
    needs: ClassVar[frozenset[str]] = frozenset({"source", "reference"})
    higher_is_better: ClassVar[bool] = False

    def __init__(
        self,
        model: str = "google/metricx-24-hybrid-large-v2p6",
        inputs: Literal["all", "source"] = "all",
        tokenizer: str = "google/mt5-large",
        year: Literal["name", "23", "24"] = "name",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        super().__init__(model, precision, device)
        self.year = _year(self.checkpoint.name) if year == "name" else int(year)
        self.qe = inputs == "source" or "-qe-" in f"-{self.checkpoint.name.lower()}-"
        self._tokenizer = tokenizer
        reads = {"source"} if self.qe else {"reference"} if self.year == 23 else {"source", "reference"}
        self.needs = frozenset(reads)  # type: ignore[misc]  # the model decides

    @property
    def special(self) -> Mapping[str, object]:
        """The year, and what is read."""
        return {"year": self.year, "inputs": "+".join(sorted(self.needs))}

    def load(self, device: str) -> Network:
        """mT5 with one output."""
        return Network(self.checkpoint.folder, self._tokenizer, LONGEST[self.year], self.precision, device)

    def judge(self, questions: Questions) -> Array:
        """One error score per segment; with several references the lowest counts."""
        with self.noting():
            if "reference" not in self.needs:
                return self._read(questions)
            references = required(questions.references, self, "reference")
            return best_reference(questions, references, self._read, best=np.min)

    def _read(self, questions: Questions) -> Array:
        return self.network.judge([self.written(questions, row) for row in range(len(questions))])

    def written(self, questions: Questions, row: int) -> str:
        """A segment as the year's models read it."""
        parts = {"candidate": questions.translations[row]}
        if "source" in self.needs:
            parts["source"] = required(questions.sources, self, "source")[row]
        if "reference" in self.needs:
            parts["reference"] = required(questions.references, self, "reference")[row][0]
        order = ("candidate", "reference", "source") if self.year == 23 else ("source", "candidate", "reference")
        return " ".join(f"{name}: {parts[name]}" for name in order if name in parts)


def _year(name: str) -> int:
    for year in LONGEST:
        if f"metricx-{year}" in name.lower():
            return year
    raise UserError(f"whether '{name}' is a MetricX-23 or -24 is not in its name: say metricx[model=…,year=24].")
