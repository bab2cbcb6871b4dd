"""Words replaced by a masked language model (Kobayashi 2018; Kanojia 2021 §5.2, MAP6). Needs the extra [neural]."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from babelquake.errors import UserError
from babelquake.randomness import Stream
from babelquake.text import Span, match_case, replaced


class MaskedModel:
    """A masked language model that offers whole words for a gap."""

    def __init__(self, name: str) -> None:
        try:
            import torch
            from transformers import AutoModelForMaskedLM, AutoTokenizer
        except ImportError:
            raise UserError("mask-replace needs torch and transformers: pip install 'babelquake[neural]'.") from None
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name)
            self._model: Any = AutoModelForMaskedLM.from_pretrained(name).eval()
        except (OSError, ValueError) as error:
            raise UserError(
                f"mask-replace[model={name}]: no masked language model could be loaded from there ({error})."
            ) from None
        if self._tokenizer.mask_token is None:
            raise UserError(f"mask-replace[model={name}]: this model has no mask token; a masked model is needed.")
        self._torch: Any = torch
        self._words = self._whole_words()

    def _whole_words(self) -> dict[int, str]:
        """The pieces that are words by themselves: letters only, and not the continuation of a word.

        SentencePiece and byte-level BPE mark the pieces that begin a word; WordPiece marks those that do not.
        """
        marked = any(piece.startswith(("Ġ", "▁")) for piece in self._tokenizer.tokenize("a word or two"))
        special = set(self._tokenizer.all_special_ids)
        found = {}
        for piece, number in self._tokenizer.get_vocab().items():
            begins = piece.startswith(("Ġ", "▁")) if marked else not piece.startswith("##")
            word = self._tokenizer.convert_tokens_to_string([piece]).strip() if begins else ""
            if word.isalpha() and number not in special:
                found[number] = word
        return found

    def candidates(self, before: str, after: str, top: int) -> list[tuple[str, float]]:
        """The likeliest words for the gap between two stretches of text, with their probabilities."""
        limit = min(self._tokenizer.model_max_length, 512)
        gap = f"{before}{self._tokenizer.mask_token}{after}"
        encoded = self._tokenizer(gap, return_tensors="pt", truncation=True, max_length=limit)
        places = (encoded["input_ids"][0] == self._tokenizer.mask_token_id).nonzero()
        if not len(places):
            return []
        with self._torch.inference_mode():
            logits = self._model(**encoded).logits[0, int(places[0])]
        chances = self._torch.softmax(logits.float(), dim=-1)
        best = self._torch.topk(chances, min(top, len(chances)))
        pairs = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [(self._words[number], chance) for number, chance in pairs if number in self._words]


def filled(text: str, gaps: Sequence[Span], model: str, top: int, rng: Stream) -> str | None:
    """Replace words one after another, each drawn from the model's likeliest words in proportion to probability.

    Later gaps see earlier replacements. None where the model offered no other word for any gap.
    """
    masked = _load(model)
    edits: list[tuple[int, int, str]] = []
    for gap in gaps:
        before = replaced(text[: gap.start], edits)
        offers = masked.candidates(before, text[gap.end :], top)
        others = [(word, chance) for word, chance in offers if word.lower() != gap.text.lower()]
        if others:
            edits.append((gap.start, gap.end, match_case(_draw(others, rng), gap.text)))
    return replaced(text, edits) if edits else None


def _draw(offers: Sequence[tuple[str, float]], rng: Stream) -> str:
    left = rng.random() * sum(chance for _, chance in offers)
    for word, chance in offers:
        left -= chance
        if left < 0:
            return word
    return offers[-1][0]


@lru_cache(maxsize=2)
def _load(name: str) -> MaskedModel:
    return MaskedModel(name)
