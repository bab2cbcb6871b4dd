"""How a network of the transformers library reads many sequences at once: on ribbons, or in blocks of equal length."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from babelquake.models.batching import TIMES_ON_GPU, TOKENS, Block, Sheet, enough, equal, mixed, on_gpu
from babelquake.models.unpadded import CAUSAL, READERS, padded_to, reading, ribbon

FIRST = {
    "bert": "pooler",
    "rembert": "pooler",
    "roberta": "classifier",
    "xlm-roberta": "classifier",
    "xlm-roberta-xl": "classifier",
    "camembert": "classifier",
}
"""Which part of a model looks at the first token of a text, by type."""


class Reader:
    """Whatever runs a network on sequences: what one of them gives does not depend on the others."""

    config: Any
    """The network's configuration."""
    device: str
    tokens: int = TOKENS
    """Tokens that are read together."""

    @cached_property
    def ribbons(self) -> bool:
        """Whether the network reads texts of all lengths in one row."""
        return self.config.model_type in READERS and not getattr(self.config, "is_decoder", False)

    @property
    def row(self) -> int:
        """Tokens of a ribbon."""
        return self.tokens * TIMES_ON_GPU if on_gpu(self.device) else self.tokens

    def batches(self, ids: Sequence[Sequence[int]]) -> Iterator[list[int]]:
        """Places of texts that go through the network together; texts without tokens are left out."""
        if self.ribbons:
            return mixed(ids, self.row, padded_to(self.device))
        return equal(ids, self.device, self.tokens)

    def sheet(self, sequences: Sequence[Sequence[int]], types: Sequence[Sequence[int]] | None = None) -> Sheet:
        """Texts of one batch as the network reads them; `types` tells the texts of a pair apart."""
        if self.ribbons:
            return ribbon(sequences, self.config, self.device, self.row, types)
        return Block.of(sequences, self.device, types)

    def run(self, model: Any, sheet: Sheet, **options: Any) -> Any:
        """What the network, or a part of it, gives for a sheet."""
        import torch

        with torch.inference_mode():
            if not self.ribbons:
                return model(**sheet.inputs, **options)
            with reading(model):
                causal = {"use_cache": False} if self.config.model_type in CAUSAL else {}
                return model(**sheet.inputs, **causal, **options)

    def run_head(self, model: Any, sheet: Sheet) -> Any:
        """The same for a network with a head that looks at the first token of each text: one row per text, and more."""
        if self.config.model_type not in FIRST:
            return self.run(model, sheet)
        with _first_tokens(model, FIRST[self.config.model_type], sheet):
            return self.run(model, sheet)


@contextmanager
def _first_tokens(model: Any, part: str, sheet: Sheet) -> Iterator[None]:
    """While this holds, the part of a network that looks at first tokens gets those of all texts and nothing else."""
    import torch

    def firsts(module: Any, given: tuple[Any, ...]) -> tuple[Any, ...]:
        return (enough(torch.stack([text[:1] for text in sheet.texts(given[0])])),)

    head = next(module for name, module in model.named_modules() if name.rpartition(".")[2] == part)
    hook = head.register_forward_pre_hook(firsts)
    try:
        yield
    finally:
        hook.remove()
