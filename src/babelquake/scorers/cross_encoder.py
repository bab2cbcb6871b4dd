"""Any sequence-classification checkpoint that reads two texts and gives one number.

BLEURT's BERT family (reference, translation) and MonoTransQuest (source, translation) are cases of it.

Cross-encoders: models that read two texts together and give one number. A sequence-classification model gives it at
once; of a token-classification model with one output it is the mean over the tokens.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.models.sequence_reader import FIRST
from babelquake.models.tokenizers import beginning
from babelquake.models.transformer import Backed, Precision, Transformer
from babelquake.resource import Limits, halving
from babelquake.scorers.base import Array, MeanScorer, Questions, required
from babelquake.spec import signature


class PairReader(Backed):
    """Reads pairs of texts, each pair on its own: neighbours in the batch change nothing."""

    auto = "AutoModelForSequenceClassification"

    def scores(self, firsts: Sequence[str], seconds: Sequence[str]) -> NDArray[np.float64]:
        """The model's one output for each pair."""
        ids, kinds = self._tokenised(firsts, seconds)
        found = np.zeros(len(ids))
        for places in self._core.batches(ids):
            found[places] = halving(self._outputs, [(ids[place], kinds[place]) for place in places])
        return found

    @cached_property
    def _model(self) -> Any:
        model = self._core.model
        if model.config.num_labels != 1:
            raise UserError(
                f"{self.core.checkpoint.name} gives {model.config.num_labels} numbers per pair of texts: "
                "expected a regression model with one."
            )
        return model

    @cached_property
    def _core(self) -> Transformer:
        """The model as it is to be run: on ribbons where its head can find the texts there."""
        if self._by_token:
            self.core.auto = "AutoModelForTokenClassification"
        elif self.core.config.model_type not in FIRST:
            self.core.ribbons = False
        return self.core

    @cached_property
    def _by_token(self) -> bool:
        return any("ForTokenClassification" in name for name in self.core.config.architectures or ())

    def _tokenised(self, firsts: Sequence[str], seconds: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Tokens and text numbers of each pair; one that is too long loses the end of its longer text."""
        if not firsts:
            return [], []
        sides = [[text.encode("utf-8", "replace").decode("utf-8") for text in side] for side in (firsts, seconds)]
        longest = self.core.longest
        ids, kinds = self.core.by_words.pairs(*sides) if self.core.by_words else self._paired(sides)
        if long := [place for place, tokens in enumerate(ids) if len(tokens) > longest]:
            self.core.note([" ".join(side[place] for side in sides) for place in long], longest)
            shorter = [[beginning(self.core.tokenizer, side[place], longest) for place in long] for side in sides]
            cut = self._paired(shorter, truncation="longest_first", max_length=longest)
            for place, tokens, marks in zip(long, *cut, strict=True):
                ids[place], kinds[place] = tokens, marks
        return ids, kinds

    def _paired(self, sides: Sequence[list[str]], **options: Any) -> tuple[list[list[int]], list[list[int]]]:
        found = self.core.tokenizer(*sides, return_token_type_ids=True, verbose=False, **options)
        return list(found["input_ids"]), list(found["token_type_ids"])

    def _outputs(self, marked: list[tuple[list[int], list[int]]]) -> list[float]:
        ids, kinds = ([one[side] for one in marked] for side in (0, 1))
        typed = "token_type_ids" in self.core.tokenizer.model_input_names
        sheet = self._core.sheet(ids, kinds if typed else None)
        if self._by_token:
            outputs = self._core.run(self._model, sheet).logits[..., 0].float().cpu()
            return [float(text.mean()) for text in sheet.texts(outputs)]
        outputs = self._core.run_head(self._model, sheet).logits[..., 0].float().cpu()
        return [float(value) for value in outputs[: len(marked)]]


class CrossEncoder(MeanScorer):
    """The output of a model that reads the reference (or the source) and the translation together; higher is better.

    With several references the best counts. `activation=sigmoid` maps the model's output to 0 … 1.
    """

    tells_sides_apart: ClassVar[bool] = True
    needs: ClassVar[frozenset[str]] = frozenset({"reference"})
    costly: ClassVar[bool] = True
    extra: ClassVar[str | None] = "neural"
    ships: ClassVar[str | None] = "judge-en"

    limits = Limits(texts=256)
    """Enough pairs at once for the model to find some of equal length."""

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
        activation = None if self.activation == "none" else self.activation
        return signature("cross-encoder", self.reader.signature, inputs=self.inputs, activation=activation)

    @property
    def trained_on(self) -> frozenset[str] | None:
        return self.reader.languages

    def judge(self, questions: Questions) -> Array:
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
        self.reader.close()
