"""Masked language models of the transformers library: whole words for gaps."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import regex

from babelquake.callee import Filler, Gap, Limits
from babelquake.errors import UserError
from babelquake.models.base import MaskedLM
from babelquake.models.transformer import Precision, Transformer
from babelquake.spec import Range

BEGINNINGS = ("Ġ", "▁")
"""Marks of pieces that begin a word, in byte-level BPE and SentencePiece; WordPiece marks those that do not."""
CONTINUES = "##"
"""WordPiece's mark."""
ONE_WORD = regex.compile(r"\w[\w'*@-]*")
"""What TextAttack takes for a word."""


class TransformerMaskedLM(MaskedLM):
    """Offers whole words for a gap, with their probabilities.

    `words=any` offers pieces of words and numbers as words too, which is how TextAttack fills its gaps.
    """

    def __init__(
        self,
        model: str,
        precision: Precision = "float32",
        device: str = "auto",
        tokens: Annotated[int, Range(1, 1 << 20)] = 2048,
        instead: str = "",
        words: Literal["whole", "any"] = "whole",
    ) -> None:
        self.core = Transformer(model, "AutoModelForMaskedLM", precision, device, tokens, instead)
        self.words = words

    @property
    def signature(self) -> str:
        """Name, content of the files, precision, version; which words count, where it is not whole ones alone."""
        return self.core.signature + ("" if self.words == "whole" else f"|words:{self.words}")

    @property
    def limits(self) -> Limits:
        """Enough gaps at once for every length to fill its batches."""
        return Limits(texts=256, tokens=self.core.tokens)

    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filler]]:
        """For each gap the whole words among the `top` likeliest pieces; none where the gap was cut off."""
        tokenizer = self.core.tokenizer
        if tokenizer.mask_token is None:
            raise UserError(f"{self.core.checkpoint.name} has no mask token; a masked language model is needed.")
        mask: int = tokenizer.mask_token_id
        ids, _ = self.core.tokenised([f"{gap.before}{tokenizer.mask_token}{gap.after}" for gap in gaps])
        ids = [tokens if mask in tokens else [] for tokens in ids]
        found: list[list[Filler]] = [[] for _ in gaps]
        for places, rows in self.core.batches(ids):
            offers = self.core.in_memory(lambda some: self._offers(some, mask, top), rows)
            for place, (numbers, chances) in zip(places, offers, strict=False):
                pairs = zip(numbers, chances, strict=True)
                found[place] = [
                    Filler(self._words[number], chance) for number, chance in pairs if number in self._words
                ]
        return found

    def close(self) -> None:
        """Give the weights' memory back."""
        self.core.close()

    def _offers(self, rows: Any, mask: int, top: int) -> list[tuple[list[int], list[float]]]:
        import torch

        ids = torch.as_tensor(rows, dtype=torch.long, device=self.core.device)
        places = (ids == mask).int().argmax(dim=1)

        def at_the_gap(_: Any, __: Any, output: Any) -> Any:
            """The head is dear and reads each position by itself: it is given the gap's alone."""
            output.last_hidden_state = output.last_hidden_state[torch.arange(len(ids)), places][:, None]
            return output

        model = self.core.model
        hook = model.base_model.register_forward_hook(at_the_gap)
        try:
            with torch.inference_mode():
                logits = model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits
        finally:
            hook.remove()
        chances = torch.softmax(logits[:, 0].float(), dim=-1)
        best = torch.topk(chances, min(top, chances.shape[-1]))
        return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))

    @cached_property
    def _words(self) -> dict[int, str]:
        """The pieces that are words by themselves: letters only, and not the continuation of a word; or any."""
        tokenizer = self.core.tokenizer
        marked = any(piece.startswith(BEGINNINGS) for piece in tokenizer.tokenize("a word or two"))
        special = set(tokenizer.all_special_ids)
        found = {}
        for piece, number in tokenizer.get_vocab().items():
            begins = piece.startswith(BEGINNINGS) if marked else not piece.startswith(CONTINUES)
            word = tokenizer.convert_tokens_to_string([piece]).strip() if begins or self.words == "any" else ""
            word = word.removeprefix(CONTINUES)
            counts = word.isalpha() if self.words == "whole" else ONE_WORD.fullmatch(word)
            if counts and number not in special:
                found[number] = word
        return found
