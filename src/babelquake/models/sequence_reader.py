"""How a network of the transformers library reads many sequences at once: in blocks of equal length, or on *ribbons*.

A ribbon is one row of tokens with texts of all lengths, without padding. Everything in a transformer but attention
looks at one token at a time, so texts can follow one another in one long row and fill every matrix product. Attention
looks at each text by itself: those of equal length lie side by side on the ribbon and are their own batch. Under a
causal model texts that begin alike share their first tokens (see `language_models.beginnings`).

Positions begin anew in each text. Models that know of positions in another way (relative biases, convolutions) read
blocks instead.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelquake.models.batching import (
    SMALLEST,
    TIMES_ON_GPU,
    TOKENS,
    Block,
    Sheet,
    Tokens,
    enough,
    equal,
    mixed,
    on_gpu,
    sent,
)
from babelquake.models.loading import Precision, in_precision, prepared
from babelquake.resource import halving

if TYPE_CHECKING:
    import torch
    from torch import Tensor


Numbers = NDArray[np.int64]
NAME = "babelquake-ribbon"
CAUSAL = frozenset({"gpt2", "llama"})
READERS = frozenset({"bert", "roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "distilbert"}) | CAUSAL
"""Types of models that read ribbons."""
OFFSETS = frozenset(
    {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "data2vec-text", "longformer", "bertweet"}
)
"""Types whose positions begin after the padding token's number, and which do not count that token."""
UNTYPED = frozenset({"distilbert", "gpt2", "llama"})
"""Types that have no token types."""
STEP_ON_GPU = 16
"""On a GPU texts are padded to a multiple of this, so that few sizes of attention are launched."""


@dataclass(frozen=True)
class Group:
    """Texts of the same length on a ribbon."""

    rows: int
    length: int
    tokens: slice
    """Where among the tokens that attention sees theirs are, text by text."""
    mask: "torch.Tensor | None" = None
    """Which tokens are not padding."""


@dataclass(frozen=True)
class Ribbon:
    """Texts one after another, as a model reads them."""

    ids: "torch.Tensor"
    positions: "torch.Tensor"
    groups: list[Group]
    causal: bool
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Where each text begins and how many tokens it has."""
    seen: "torch.Tensor | None" = None
    """Which tokens attention sees, in order; None where it sees each once, as they come."""
    back: "torch.Tensor | None" = None
    """For every token its place among those that attention sees."""
    types: "torch.Tensor | None" = None

    @property
    def inputs(self) -> dict[str, Any]:
        """What a model is called with, while it is `reading`."""
        import torch

        ids = self.ids[None]
        mask = torch.ones_like(ids)  # nothing is hidden by it; without one, some models warn of padding
        given = {"input_ids": ids, "attention_mask": mask, "position_ids": self.positions[None], "ribbon": self}
        return given if self.types is None else {**given, "token_type_ids": self.types[None]}

    def texts(self, state: "torch.Tensor") -> "list[torch.Tensor]":
        """A model's rows, by text."""
        rows = state[0]
        return [rows.narrow(0, start, length) for start, length in self.spans]

    def equals(self) -> "list[tuple[list[int], Callable[[torch.Tensor], torch.Tensor]]]":
        """The groups, padding included."""
        order = iter(sorted(range(len(self.spans)), key=lambda place: self.spans[place]))
        return [(list(islice(order, group.rows)), partial(_side_by_side, group)) for group in self.groups]


def _side_by_side(group: Group, state: "torch.Tensor") -> "torch.Tensor":
    rows = state[0, group.tokens]
    return rows.reshape(group.rows, group.length, *rows.shape[1:])


def ribbon(sequences: Tokens, config: Any, device: str, size: int, types: Tokens | None = None) -> Ribbon:
    """The sequences on a ribbon, which has a multiple of `size` tokens on a GPU."""
    import torch

    step = padded_to(device)
    causal = config.model_type in CAUSAL
    own = np.array([len(one) for one in sequences])
    lengths = -(-own // step) * step
    order = np.argsort(lengths, kind="stable")
    starts = np.empty_like(lengths)
    starts[order] = np.cumsum(lengths[order]) - lengths[order]
    filled = filled_up(int(lengths.sum()), size, device)
    columns = np.zeros((4, filled), dtype=np.int64)
    within = np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
    places = np.repeat(starts, own) + within
    columns[0, places] = tokens = np.fromiter(chain.from_iterable(sequences), np.int64, len(places))
    columns[1, places] = _positions(tokens, within, config)
    if types is not None:
        columns[2, places] = np.fromiter(chain.from_iterable(types), np.int64, len(places))
    columns[3, : len(own)] = own[order]
    ids, positions, marks, counts = sent(columns, device)
    groups, row = [], 0
    for length, rows in zip(*np.unique(lengths, return_counts=True), strict=True):
        mask = None
        if step > 1 and not causal:  # under a causal model nothing sees what follows it
            mask = (torch.arange(length, device=device) < counts[row : row + rows, None])[:, None, None]
        start = int(starts[order[row]])
        groups.append(Group(int(rows), int(length), slice(start, start + int(rows * length)), mask))
        row += int(rows)
    spans = list(zip(starts.tolist(), own.tolist(), strict=True))
    typed = config.model_type not in UNTYPED
    return Ribbon(ids, positions, groups, causal, spans, types=marks if typed else None)


def _positions(tokens: Numbers, within: Numbers, config: Any) -> Numbers:
    """Positions of the tokens of all texts, given the place of each within its text."""
    if config.model_type not in OFFSETS:
        return within
    padding: int = config.pad_token_id
    counted = np.cumsum(tokens != padding)
    firsts = np.flatnonzero(within == 0)
    before = np.repeat(counted[firsts] - (tokens[firsts] != padding), np.diff([*firsts, len(tokens)]))
    return np.where(tokens == padding, padding, padding + counted - before)


def padded_to(device: str) -> int:
    """Of what number the length of every text on a ribbon is a multiple."""
    return STEP_ON_GPU if on_gpu(device) else 1


def filled_up(count: int, size: int, device: str) -> int:
    """How many tokens a ribbon has that holds so many: a multiple of `size` on a GPU."""
    return -(-count // size) * size if on_gpu(device) else max(count, SMALLEST)


@contextmanager
def reading(model: Any) -> Iterator[None]:
    """While this holds, the model reads ribbons and nothing else."""
    from transformers import AttentionInterface

    AttentionInterface.register(NAME, attention)
    before = model.config._attn_implementation
    model.config._attn_implementation = NAME
    try:
        yield
    finally:
        model.config._attn_implementation = before


def attention(
    module: Any,
    query: "torch.Tensor",
    key: "torch.Tensor",
    value: "torch.Tensor",
    mask: None,
    ribbon: Ribbon,
    scaling: float | None = None,
    **_: Any,
) -> "tuple[torch.Tensor, None]":
    """Each text attends to itself. The tensors have the shape (1, heads, tokens, width)."""
    import torch

    heads, size, width = query.shape[1:]
    columns = [part[0].transpose(0, 1) for part in (query, key, value)]
    if ribbon.seen is not None:
        columns = [column[ribbon.seen] for column in columns]
    found = []
    for group in ribbon.groups:
        q, k, v = (column[group.tokens].view(group.rows, group.length, -1, width).transpose(1, 2) for column in columns)
        seen = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, group.mask, is_causal=ribbon.causal, scale=scaling, enable_gqa=len(k[0]) != heads
        )
        found.append(seen.transpose(1, 2).reshape(-1, heads, width))
    if ribbon.back is not None:
        found = [torch.cat(found)[ribbon.back]]
    if missing := size - sum(map(len, found)):
        found.append(found[0].new_zeros(missing, heads, width))
    return (torch.cat(found) if len(found) > 1 else found[0])[None], None


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


class Joined(NamedTuple):
    """Two texts as one sequence of tokens."""

    ids: list[int]
    second: int
    """Where the second text begins."""
    cut: bool
    """Whether the pair was too long and was cut."""


class PairRegression(Reader, ABC):
    """Reads pairs of texts; how they are tokenised and joined is the model's own."""

    cut: list[str]
    """Pairs that were longer than the model reads, whichever text came first."""
    typed: bool = True
    """Whether the network tells the texts of a pair apart by token types."""

    @abstractmethod
    def tokens_of(self, text: str) -> list[int]:
        """The text's tokens, without marks around them."""

    @abstractmethod
    def join(self, first: str, second: str, tokens: tuple[list[int], list[int]]) -> Joined:
        """The pair as one sequence, cut to the model's length."""

    @abstractmethod
    def outputs(self, sheet: Sheet) -> "Tensor":
        """One number for each pair, and perhaps more that mean nothing."""

    def ready(self, network: Any, precision: Precision, device: str) -> Any:
        """The network on its device, as it is run."""
        self.config, self.device, self.cut = network.config, device, []
        self.ribbons = self.ribbons and self.config.model_type in FIRST
        network = in_precision(network, precision).eval().to(device)
        return prepared(network) if self.ribbons and precision == "float32" and device == "cpu" else network

    def judge(self, firsts: Sequence[str], seconds: Sequence[str]) -> NDArray[np.float64]:
        """One number per pair."""
        known = {text: self.tokens_of(text) for text in dict.fromkeys([*firsts, *seconds])}
        joined = [self.join(a, b, (known[a], known[b])) for a, b in zip(firsts, seconds, strict=True)]
        pairs = zip(firsts, seconds, joined, strict=True)
        self.cut += ["\0".join(sorted((a, b))) for a, b, pair in pairs if pair.cut]
        found = np.zeros(len(joined))
        for places in self.batches([pair.ids for pair in joined]):
            found[places] = halving(self._read, [joined[place] for place in places])
        return found

    def _read(self, pairs: list[Joined]) -> list[float]:
        import torch

        types = [[0] * pair.second + [1] * (len(pair.ids) - pair.second) for pair in pairs] if self.typed else None
        with torch.inference_mode():
            outputs = self.outputs(self.sheet([pair.ids for pair in pairs], types))
        found: list[float] = outputs[: len(pairs)].double().tolist()
        return found
