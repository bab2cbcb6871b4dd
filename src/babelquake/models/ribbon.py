"""Texts of all lengths in one row of tokens, without padding: a *ribbon*.

Everything in a transformer but attention looks at one token at a time, so texts can follow one another in one long row
and fill every matrix product. Attention looks at each text by itself: those of equal length lie side by side on the
ribbon and are a batch of their own. Under a causal model texts that begin alike share their first tokens, which are
computed once: variants of one sentence cost what is new in them.

Positions begin anew in each text. Models that know of positions in another way (relative biases, convolutions) read
blocks instead.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from babelquake.models.batching import SMALLEST, Tokens, on_gpu
from babelquake.models.on_device import sent

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
STEP_SHARED = 32
"""Texts share beginnings with texts of the same number of tokens by this step: attention then has the same shape."""


@dataclass(frozen=True)
class Group:
    """Texts of the same length on a ribbon."""

    rows: int
    length: int
    tokens: "torch.Tensor | slice"
    """Where on the ribbon their tokens are, text by text."""
    mask: "torch.Tensor | None" = None
    """Which tokens are no padding."""


@dataclass(frozen=True)
class Ribbon:
    """Texts one after another, as a model reads them."""

    ids: "torch.Tensor"
    positions: "torch.Tensor"
    groups: list[Group]
    causal: bool
    spans: list[tuple[int, int]] = field(default_factory=list)
    """Where each text begins and how many tokens it has."""
    back: "torch.Tensor | None" = None
    """For every token the place among all that attention gives; None where that is its own."""
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
    filled = _filled(int(lengths.sum()), size, device)
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
    return Ribbon(ids, positions, groups, causal, spans, None, marks if typed else None)


@dataclass(frozen=True)
class Beginnings:
    """Texts of a causal model as a tree of their beginnings: each distinct one is a node, after its parent."""

    ribbon: Ribbon
    """The nodes that something follows; the others need not be read."""
    nodes: int
    """How many these are."""
    parents: list[int]
    """For every node but the first of a text, on the ribbon: after which node it comes."""
    tokens: list[int]
    """The tokens of these nodes."""
    paths: list[list[int]]
    """For every text which of these nodes it is made of, its begin token left out."""


def alike(sequences: Tokens, tokens: int) -> Iterator[list[int]]:
    """Places of sequences with at most so many distinct beginnings together, those that begin alike side by side."""
    order = sorted(range(len(sequences)), key=lambda place: (_step(sequences[place]), *sequences[place]), reverse=True)
    portion: list[int] = []
    size = 0
    for place in order:
        sequence = sequences[place]
        new = len(sequence) - common(sequences[portion[-1]] if portion else (), sequence)
        if portion and size + new > tokens:
            yield portion
            portion, size, new = [], 0, len(sequence)
        portion.append(place)
        size += new
    if portion:
        yield portion


def beginnings(sequences: Tokens, device: str, size: int) -> Beginnings:
    """The tree of sequences of at least two tokens; those whose sizes differ by a step share nothing.

    In the order of their tokens, a sequence has in common with all before it what it has with the one just before.
    """
    ids: list[int] = []
    depths: list[int] = []
    back: list[int] = []
    parents: list[int] = []
    tokens: list[int] = []
    paths: list[list[int]] = [[] for _ in sequences]
    take: list[int] = []
    shapes: list[tuple[int, int, int]] = []
    order = sorted(range(len(sequences)), key=lambda place: (_step(sequences[place]), *sequences[place]))
    for length, some in groupby(order, key=lambda place: _step(sequences[place])):
        before: Sequence[int] = ()
        read: list[int] = []
        path: list[int] = []
        start = len(take)
        for place in some:
            sequence = sequences[place]
            same, last = common(before, sequence), len(sequence) - 1
            known = min(same, len(read), last)
            read = [*read[:known], *range(len(ids), len(ids) + last - known)]
            ids += sequence[known:last]
            depths += range(known, last)
            back += range(len(take) + known, len(take) + last)
            told = max(same - 1, 0)
            path = [*path[:told], *range(len(tokens), len(tokens) + last - told)]
            parents += read[told:]
            tokens += sequence[told + 1 :]
            paths[place] = path
            take += read
            take += [read[-1]] * (length - last)
            before = sequence
        shapes.append((start, (len(take) - start) // length, length))
    filled = _filled(len(ids), size, device)
    columns = np.zeros((3, filled), dtype=np.int64)
    columns[:, : len(ids)] = ids, depths, back
    numbers, positions, places = sent(columns, device)
    taken = sent(np.array(take, dtype=np.int64), device)
    groups = [Group(rows, length, taken[start : start + rows * length]) for start, rows, length in shapes]
    made = Ribbon(numbers, positions, groups, True, [], places[: len(ids)])
    return Beginnings(made, len(ids), parents, tokens, paths)


def common(one: Sequence[int], other: Sequence[int]) -> int:
    """How many tokens two sequences have in common at their beginning."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


def _step(sequence: Sequence[int]) -> int:
    """Tokens that attention sees of a sequence, whose last one is not read."""
    return -(-(len(sequence) - 1) // STEP_SHARED) * STEP_SHARED


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


def _filled(count: int, size: int, device: str) -> int:
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
