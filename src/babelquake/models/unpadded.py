"""Texts of all lengths in one row of tokens, without padding: a *ribbon*.

Everything in a transformer but attention looks at one token at a time, so texts can follow one another in one long row
and fill every matrix product. Attention looks at each text by itself: those of equal length lie side by side on the
ribbon and are their own batch. Under a causal model texts that begin alike share their first tokens (see
`shared_prefixes`).

Positions begin anew in each text. Models that know of positions in another way (relative biases, convolutions) read
blocks instead.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from babelquake.models.batching import SMALLEST, Tokens, on_gpu
from babelquake.models.device_vectors import sent

if TYPE_CHECKING:
    import torch

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
