"""BLEURT (Sellam et al. 2020; Pu et al. 2021) from the checkpoints of the PyTorch ports.

BLEURT-20 and its distilled D12, D6 and D3, and the BERT-based bleurt-base-128 family. `symmetric=true` is the mean of
both orders of reference and translation, as in Huang & Baldwin 2023, Appendix C.
"""

from functools import cached_property
from typing import ClassVar

from babelquake.callee import Limits
from babelquake.models.bleurt import FILES
from babelquake.models.bleurt import Bleurt as Network
from babelquake.models.precision import Precision
from babelquake.models.settings import device_of
from babelquake.models.weights import library_versions, published
from babelquake.runs.signature import signature
from babelquake.scorers.base import Array, MeanScorer, Questions, required
from babelquake.scorers.published import best_reference, note_cut, shown


class Bleurt(MeanScorer):
    """A trained estimate of how well a translation says what the reference says; about 0 to 1, higher is better.

    `model` is a hub name (BLEURT-20-D12 is looked up among the ports) or a folder. With several references the best
    counts.
    """

    extra: ClassVar[str | None] = "neural"
    costly: ClassVar[bool] = True

    def __init__(
        self,
        model: str = "lucadiliello/BLEURT-20",
        symmetric: bool = False,
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        self.checkpoint = published(model, FILES, "bleurt", "lucadiliello")
        self.symmetric = symmetric
        self.precision = precision
        self._device = device

    @property
    def described(self) -> str:
        """The name with the model's own name, not the path to it."""
        return shown(self.spec, self.checkpoint)

    @cached_property
    def signature(self) -> str:
        """Checkpoint with content, order, precision and libraries."""
        return signature(
            "bleurt",
            self.checkpoint.name,
            content=self.checkpoint.content,
            symmetric="yes" if self.symmetric else None,
            precision=self.precision,
            libraries=library_versions("bleurt"),
        )

    @property
    def limits(self) -> Limits:
        """Enough pairs at once to find some of equal length."""
        return Limits(texts=512)

    @cached_property
    def network(self) -> Network:
        """The weights, loaded when first needed."""
        library_versions("bleurt")
        return Network(self.checkpoint.folder, self.precision, device_of(self._device))

    def judge(self, questions: Questions) -> Array:
        """One score per segment."""
        before = self.network.truncated
        scores = best_reference(questions, required(questions.references, self, "reference"), self._pairs)
        note_cut(self.name, self.network.truncated - before)
        return scores

    def close(self) -> None:
        """Give the weights' memory back."""
        self.__dict__.pop("network", None)

    def _pairs(self, questions: Questions) -> Array:
        references = [some[0] for some in questions.references or []]
        scores = self.network.judge(references, questions.translations)
        if self.symmetric:
            scores = (scores + self.network.judge(questions.translations, references)) / 2
        return scores
