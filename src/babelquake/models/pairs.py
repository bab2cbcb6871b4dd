"""Cross-encoders: models that read two texts together and give one number.

A sequence-classification model gives it at once; of a token-classification model with one output it is the mean over
the tokens.
"""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.models.transformer import Precision, Transformer


class PairReader:
    """Reads pairs of texts, each pair on its own: neighbours in the batch change nothing."""

    def __init__(self, model: str, precision: Precision = "float32", device: str = "auto", instead: str = "") -> None:
        self.core = Transformer(model, "AutoModelForSequenceClassification", precision, device, instead=instead)

    @property
    def signature(self) -> str:
        """Name, content of the files, precision, version."""
        return self.core.signature

    def scores(self, firsts: Sequence[str], seconds: Sequence[str]) -> NDArray[np.float64]:
        """The model's one output for each pair."""
        ids, kinds = self._tokenised(firsts, seconds)
        found = np.zeros(len(ids))
        marked = [[*tokens, *types] for tokens, types in zip(ids, kinds, strict=True)]
        for places, rows in self.core.batches(marked):
            values = self.core.in_memory(self._outputs, rows)
            found[places] = values[: len(places)]
        return found

    def close(self) -> None:
        """Give the weights' memory back."""
        self.core.close()

    @cached_property
    def _model(self) -> Any:
        if any("ForTokenClassification" in name for name in self.core.config.architectures or ()):
            self.core.auto = "AutoModelForTokenClassification"
        model = self.core.model
        if model.config.num_labels != 1:
            raise UserError(
                f"{self.core.checkpoint.name} gives {model.config.num_labels} numbers per pair of texts: "
                "expected a regression model with one."
            )
        return model

    def _tokenised(self, firsts: Sequence[str], seconds: Sequence[str]) -> tuple[list[list[int]], list[list[int]]]:
        """Tokens and text numbers of each pair; one that is too long loses the end of its longer text."""
        if not firsts:
            return [], []
        sides = [[text.encode("utf-8", "replace").decode("utf-8") for text in side] for side in (firsts, seconds)]
        tokenizer, longest = self.core.tokenizer, self.core.longest
        whole = tokenizer(*sides, verbose=False)["input_ids"]
        if long := [" ".join(pair) for tokens, *pair in zip(whole, *sides, strict=True) if len(tokens) > longest]:
            self.core.note(long, longest)
        found = tokenizer(*sides, truncation="longest_first", max_length=longest, return_token_type_ids=True)
        return list(found["input_ids"]), list(found["token_type_ids"])

    def _outputs(self, rows: Any) -> list[float]:
        import torch

        ids, kinds = torch.as_tensor(rows, dtype=torch.long, device=self.core.device).chunk(2, dim=1)
        given: dict[str, Any] = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        if "token_type_ids" in self.core.tokenizer.model_input_names:
            given["token_type_ids"] = kinds
        with torch.inference_mode():
            logits = self._model(**given).logits[..., 0].float()
            values: list[float] = (logits if logits.ndim == 1 else logits.mean(dim=1)).tolist()
        return values
