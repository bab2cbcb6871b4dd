"""Sentence perplexity under a causal language model, as Hugging Face evaluate defines it (Huang 2023, Appendix B).

exp of the mean negative log-probability of a text's tokens, the first one after the begin token. `against` gives the
change from another text instead: what an attack or a perturbation did to fluency.
"""

from typing import ClassVar, Literal

import numpy as np

from babelquake.models import causal
from babelquake.models.transformer import Precision
from babelquake.resource import Limits
from babelquake.scorers.base import Array, MeanScorer, Questions, required
from babelquake.spec import Spec, signature


class Perplexity(MeanScorer):
    """Perplexity of the translation, from 1 up; lower is more fluent. With `against`, how much it rose."""

    needs: ClassVar[frozenset[str]] = frozenset()
    costly: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = False
    extra: ClassVar[str | None] = "neural"
    ships: ClassVar[str | None] = "gpt-en"

    limits = Limits(texts=2048)
    """Enough texts at once for the model to find those that begin alike."""

    def __init__(
        self,
        model: str = "gpt2",
        against: Literal["none", "reference", "source"] = "none",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        works = f"perplexity[model={self.ships}]"
        self.causal = causal(Spec(model), precision=precision, device=device, instead=works)
        self.against = against
        if against != "none":
            self.needs = frozenset({against})  # type: ignore[misc]  # here the option decides, not the class

    @property
    def signature(self) -> str:
        return signature("perplexity", self.causal.signature, against=None if self.against == "none" else self.against)

    @property
    def trained_on(self) -> frozenset[str] | None:
        return self.causal.languages

    def judge(self, questions: Questions) -> Array:
        """One perplexity per translation, or its rise against the text that it is compared with."""
        others: list[str] = []
        if self.against == "reference":
            others = [some[0] for some in required(questions.references, self, "reference")]
        elif self.against == "source":
            others = list(required(questions.sources, self, "source"))
        distinct = list(dict.fromkeys([*questions.translations, *others]))
        values = dict(zip(distinct, map(perplexity, self.causal.log_probabilities(distinct)), strict=True))
        found = np.array([values[text] for text in questions.translations], dtype=np.float64)
        return found - np.array([values[text] for text in others]) if others else found

    def close(self) -> None:
        self.causal.close()


def perplexity(log_probabilities: "np.ndarray[tuple[int, ...], np.dtype[np.float32]]") -> float:
    """exp of the mean negative log-probability."""
    return float(np.exp(-np.mean(log_probabilities.astype(np.float64))))
