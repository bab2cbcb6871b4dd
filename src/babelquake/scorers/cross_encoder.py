"""Any sequence-classification checkpoint that reads two texts and gives one number.

BLEURT's BERT family (reference, translation) and MonoTransQuest (source, translation) are cases of it.
"""

from collections.abc import Sequence
from typing import ClassVar, Literal

import numpy as np

from babelquake.models.pairs import PairReader
from babelquake.models.transformer import Precision
from babelquake.resource import Limits
from babelquake.scorers.base import Array, MeanScorer, Questions, required
from babelquake.signature import signature


class CrossEncoder(MeanScorer):
    """The output of a model that reads the reference (or the source) and the translation together; higher is better.

    With several references the best counts. `activation=sigmoid` maps the model's output to 0 … 1.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"reference"})
    costly: ClassVar[bool] = True
    extra: ClassVar[str | None] = "neural"
    ships: ClassVar[str | None] = "judge-en"

    def __init__(
        self,
        model: str,
        inputs: Literal["reference", "source"] = "reference",
        activation: Literal["none", "sigmoid"] = "none",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        self.reader = PairReader(model, precision, device, instead=f"cross-encoder[model={self.ships}]")
        self.inputs = inputs
        self.activation = activation
        self.needs = frozenset({inputs})  # type: ignore[misc]  # here the option decides, not the class

    @property
    def signature(self) -> str:
        """The model with its content, what it reads, and what is done with its output."""
        activation = None if self.activation == "none" else self.activation
        return signature("cross-encoder", self.reader.signature, inputs=self.inputs, activation=activation)

    @property
    def limits(self) -> Limits:
        """Enough pairs at once for the model to find some of equal length."""
        return Limits(texts=256)

    def judge(self, questions: Questions) -> Array:
        """One number per segment."""
        if self.inputs == "source":
            given: Sequence[Sequence[str]] = [[text] for text in required(questions.sources, self, "source")]
        else:
            given = required(questions.references, self, "reference")
        pairs = [(other, text) for text, some in zip(questions.translations, given, strict=True) for other in some]
        distinct = list(dict.fromkeys(pairs))
        values = self.reader.scores([first for first, _ in distinct], [second for _, second in distinct])
        if self.activation == "sigmoid":
            values = 1 / (1 + np.exp(-values))
        known = dict(zip(distinct, values.tolist(), strict=True))
        return np.array(
            [
                max(known[other, text] for other in some)
                for text, some in zip(questions.translations, given, strict=True)
            ],
            dtype=np.float64,
        )

    def close(self) -> None:
        """Give the model's memory back."""
        self.reader.close()
