"""BLEURT (Sellam et al. 2020; Pu et al. 2021) from the checkpoints of the PyTorch ports.

BLEURT-20 and its distilled D12, D6 and D3, and the BERT-based bleurt-base-128 family. `symmetric=true` is the mean of
both orders of reference and translation, as in Huang & Baldwin 2023, Appendix C.
"""

from collections.abc import Mapping
from typing import ClassVar

from babelquake.models.bleurt import FILES
from babelquake.models.bleurt import Bleurt as Network
from babelquake.models.precision import Precision
from babelquake.scorers.base import Array, Questions, required
from babelquake.scorers.published_scorer import PublishedScorer, best_reference


class Bleurt(PublishedScorer[Network]):
    """A trained estimate of how well a translation says what the reference says; about 0 to 1, higher is better.

    `model` is a hub name (BLEURT-20-D12 is looked up among the ports) or a folder. With several references the best
    counts.
    """

    metric: ClassVar[str] = "bleurt"
    owner: ClassVar[str] = "lucadiliello"
    files: ClassVar[tuple[str, ...]] = FILES

    def __init__(
        self,
        model: str = "lucadiliello/BLEURT-20",
        symmetric: bool = False,
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        super().__init__(model, precision, device)
        self.symmetric = symmetric

    @property
    def special(self) -> Mapping[str, object]:
        """Whether both orders are read."""
        return {"symmetric": "yes" if self.symmetric else None}

    def load(self, device: str) -> Network:
        """BERT or RemBERT with one output."""
        return Network(self.checkpoint.folder, self.precision, device)

    def judge(self, questions: Questions) -> Array:
        """One score per segment."""
        with self.noting():
            return best_reference(questions, required(questions.references, self, "reference"), self._pairs)

    def _pairs(self, questions: Questions) -> Array:
        references = [some[0] for some in questions.references or []]
        scores = self.network.judge(references, questions.translations)
        if self.symmetric:
            scores = (scores + self.network.judge(questions.translations, references)) / 2
        return scores
