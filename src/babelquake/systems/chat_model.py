"""Decoder-only models of the transformers library as translators: `hf[model=Qwen/Qwen2.5-0.5B-Instruct]`.

The conversation is written with the model's chat template; the model goes on from there until it ends its turn, says a
`stop` text, or has written `max_new_tokens` – then its answer is marked as cut off. Conversations of the same number of
tokens are decoded together, so that nothing is padded. With a temperature every answer has its own random stream, keyed
by the seed and everything that was asked: neither order nor batches change it.
"""

from collections.abc import Sequence
from typing import Any

from babelquake.systems.prompts import CUT, Inquiry, Prompt, inquiry, seed_of


class Conversation:
    """What a model is told and how it answers; `tokenizer` and `model` are loaded by who owns it."""

    def __init__(
        self,
        prompt: Prompt,
        source: str,
        target: str,
        temperature: float,
        seed: int,
        stop: str | None,
        max_new_tokens: int,
    ) -> None:
        self.prompt, self.source, self.target = prompt, source, target
        self.temperature, self.seed, self.stop = temperature, seed, stop
        self.max_new_tokens = max_new_tokens

    def tokens(self, asked: Sequence[str], tokenizer: Any) -> list[list[int]]:
        """The conversations up to where the model begins to answer; without a chat template, plain paragraphs."""
        told = [self.prompt.messages(inquiry(one), self.source, self.target) for one in asked]
        if getattr(tokenizer, "chat_template", None):
            texts = [tokenizer.apply_chat_template(one, tokenize=False, add_generation_prompt=True) for one in told]
            return [tokenizer(text, add_special_tokens=False)["input_ids"] for text in texts]
        texts = ["\n\n".join(message["content"] for message in one) + "\n\n" for one in told]
        return [tokenizer(text)["input_ids"] for text in texts]

    def answers(self, asked: Sequence[str], tokens: list[list[int]], model: Any, tokenizer: Any) -> list[str]:
        """What the model says to conversations of equal length."""
        if self.temperature == 0:
            return self._generated(tokens, model, tokenizer)
        found = []
        for one, ids in zip(asked, tokens, strict=True):
            self._sow(inquiry(one))
            found += self._generated([ids], model, tokenizer)
        return found

    def _sow(self, one: Inquiry) -> None:
        import torch

        torch.manual_seed(seed_of(self.seed, one))

    def _generated(self, tokens: list[list[int]], model: Any, tokenizer: Any) -> list[str]:
        import torch

        ids = torch.tensor(tokens, device=model.device)
        ends = tokenizer.eos_token_id
        sampling = {"do_sample": True, "temperature": self.temperature} if self.temperature else {"do_sample": False}
        start, stop = ids.shape[1], self.stop

        def ended(rows: Any, scores: Any, **_: Any) -> Any:
            """Which answers hold the stop text."""
            told = [stop is not None and stop in tokenizer.decode(row[start:]) for row in rows]
            return torch.tensor(told, device=rows.device)

        stopping = {"stopping_criteria": [ended]} if stop else {}
        with torch.inference_mode():
            found = model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                max_new_tokens=self.max_new_tokens,
                pad_token_id=tokenizer.pad_token_id if tokenizer.pad_token_id is not None else ends,
                num_beams=1,
                **sampling,
                **stopping,
            )
        return [self._spoken(row, tokenizer, model) for row in found[:, ids.shape[1] :].tolist()]

    def _spoken(self, row: list[int], tokenizer: Any, model: Any) -> str:
        """An answer without what ended it; marked where nothing did."""
        text = str(tokenizer.decode(row, skip_special_tokens=True))
        if self.stop and self.stop in text:
            return text.partition(self.stop)[0].strip()
        ends = model.generation_config.eos_token_id
        known = set(ends if isinstance(ends, list) else [ends]) | {tokenizer.eos_token_id}
        cut = len(row) >= self.max_new_tokens and not known & set(row)
        return text.strip() + (CUT if cut else "")
