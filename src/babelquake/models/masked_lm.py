"""Masked language models of the transformers library: whole words for gaps."""

from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import regex

from babelquake.errors import UserError
from babelquake.models.base import MaskedLM
from babelquake.models.batching import TOKENS, enough
from babelquake.models.transformer import Backed, Precision
from babelquake.resource import Filler, Gap, halving
from babelquake.spec import Range

BEGINNINGS = ("Ġ", "▁")
"""Marks of pieces that begin a word, in byte-level BPE and SentencePiece; WordPiece marks those that do not."""
CONTINUES = "##"
"""WordPiece's mark."""
ONE_WORD = regex.compile(r"\w[\w'*@-]*")
"""What TextAttack takes for a word."""


class TransformerMaskedLM(Backed, MaskedLM):
    """Offers whole words for a gap, with their probabilities.

    `words=any` offers pieces of words and numbers as words too, which is how TextAttack fills its gaps.
    """

    auto = "AutoModelForMaskedLM"

    def __init__(
        self,
        model: str,
        precision: Precision = "float32",
        device: str = "auto",
        tokens: Annotated[int, Range(1, 1 << 20)] = TOKENS,
        instead: str = "",
        words: Literal["whole", "any"] = "whole",
    ) -> None:
        super().__init__(model, precision, device, tokens, instead)
        self.words = words

    @property
    def signature(self) -> str:
        """Name, content of the files, precision, version; which words count, where it is not whole ones alone."""
        return super().signature + ("" if self.words == "whole" else f"|words:{self.words}")

    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filler]]:
        """For each gap the whole words among the `top` likeliest pieces; none where the gap was cut off."""
        tokenizer = self.core.tokenizer
        if tokenizer.mask_token is None:
            raise UserError(f"{self.core.checkpoint.name} has no mask token; a masked language model is needed.")
        mask: int = tokenizer.mask_token_id
        ids, _ = self.core.tokenised([f"{gap.before}{tokenizer.mask_token}{gap.after}" for gap in gaps])
        ids = [tokens if mask in tokens else [] for tokens in ids]
        found: list[list[Filler]] = [[] for _ in gaps]
        for places in self.core.batches(ids):
            offers = halving(lambda some: self._offers(some, mask, top), [ids[place] for place in places])
            for place, (numbers, chances) in zip(places, offers, strict=True):
                pairs = zip(numbers, chances, strict=True)
                found[place] = [
                    Filler(self._words[number], chance) for number, chance in pairs if number in self._words
                ]
        return found

    def _offers(self, sequences: list[list[int]], mask: int, top: int) -> list[tuple[list[int], list[float]]]:
        import torch

        core, sheet = self.core, self.core.sheet(sequences)

        def at_the_gaps(_: Any, __: Any, output: Any) -> Any:
            """The head is expensive and reads each position by itself: it is given the gaps' alone."""
            texts = zip(sheet.texts(output.last_hidden_state), sequences, strict=True)
            output.last_hidden_state = enough(torch.stack([state[one.index(mask)] for state, one in texts]))[:, None]
            return output

        hook = core.model.base_model.register_forward_hook(at_the_gaps)
        try:
            logits = core.run(core.model, sheet).logits[: len(sequences), 0]
        finally:
            hook.remove()
        best = torch.topk(torch.softmax(logits.float(), dim=-1), min(top, logits.shape[-1]))
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
