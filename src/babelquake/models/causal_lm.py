"""Causal language models of the transformers library: the probability of every token after those before it."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from babelquake.errors import UserError
from babelquake.models.base import CausalLM, Matrix
from babelquake.models.batching import Block, chunks, equal
from babelquake.models.device_vectors import sent
from babelquake.models.shared_prefixes import alike, beginnings
from babelquake.models.transformer import Backed
from babelquake.resource import halving

ROOM = 2**26
"""Numbers that the predictions of one batch may hold on the CPU: tokens times vocabulary."""


class TransformerCausalLM(Backed, CausalLM):
    """Log-probabilities of a text's tokens, the first one after the begin token (as Hugging Face evaluate counts)."""

    auto = "AutoModelForCausalLM"
    together = 2048

    @cached_property
    def begin(self) -> int:
        """The token that every text begins with; models without one take the token that ends a text."""
        if any("ForMaskedLM" in name for name in self.core.config.architectures or ()):
            raise UserError(
                f"'{self.core.checkpoint.name}' is a checkpoint of another kind: a masked language model, which sees "
                "what follows. Expected a causal one, such as gpt2 or gpt-en."
            )
        tokenizer = self.core.tokenizer
        number = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if number is None:
            raise UserError(f"{self.core.checkpoint.name} has no begin and no end token: it cannot weigh a text.")
        return int(number)

    @cached_property
    def end(self) -> int:
        """The token that ends a text."""
        number = self.core.tokenizer.eos_token_id
        return self.begin if number is None else int(number)

    def log_probabilities(self, texts: Sequence[str]) -> list[Matrix]:
        """One row of logarithms per text. A text without tokens is weighed as a text that ends at once."""
        ids, _ = self.core.tokenised(texts, special=False, room=1)
        whole = [[self.begin, *(tokens or [self.end])] for tokens in ids]
        found: list[Matrix] = [np.zeros(0, dtype=np.float32)] * len(texts)
        shared = self.core.ribbons
        portions = alike(whole, self.core.row) if shared else equal(whole, self.core.device, self._tokens)
        for places in portions:
            work = self._shared if shared else self._weights
            rows = halving(work, [whole[place] for place in places])
            for place, row in zip(places, rows, strict=True):
                found[place] = row
        return found

    @cached_property
    def _tokens(self) -> int:
        return max(1, min(self.core.tokens, ROOM // int(self.core.config.vocab_size)))

    def _shared(self, sequences: list[list[int]]) -> list[Matrix]:
        """Texts on a ribbon; what they have in common at their beginning is read once."""
        import torch

        core = self.core
        tree = beginnings(sequences, core.device, core.row)
        states = core.run(core.model.base_model, tree.ribbon).last_hidden_state[0]
        head = core.model.get_output_embeddings()
        parents = tree.parents
        order = np.argsort(parents, kind="stable")
        after, tokens = sent(np.stack([parents, tree.tokens])[:, order], core.device)
        weights = []
        with torch.inference_mode():
            for own, rows in chunks(states[: tree.nodes]):
                logits = head(rows).float()
                here = slice(*np.searchsorted(parents, (own.start, own.stop), sorter=order).tolist())
                at = after[here] - own.start
                weights.append(logits[at, tokens[here]] - logits.logsumexp(dim=-1)[at])
        found = np.empty(len(parents), dtype=np.float32)
        found[order] = torch.cat(weights).cpu().numpy()
        return [found[path] for path in tree.paths]

    def _weights(self, sequences: list[list[int]]) -> list[Matrix]:
        import torch

        sheet = Block.of(sequences, self.core.device)
        ids = sheet.inputs["input_ids"]
        with torch.inference_mode():
            logits = self.core.model(**sheet.inputs, use_cache=False).logits[:, :-1].float()
            chosen = logits.gather(-1, ids[:, 1:, None])[..., 0]
            weights = chosen - logits.logsumexp(dim=-1)
        return [row.copy() for row in weights[: len(sequences)].cpu().numpy()]
