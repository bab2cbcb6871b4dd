"""A pre-norm Transformer (Vaswani et al. 2017) with one embedding matrix for source, target and output.

Niu et al. (2020, §3) tie target embeddings and output layer; with a joint vocabulary the source shares them too. The
layout is the one CTranslate2 computes: sinusoidal positions counted from 1, all sines before all cosines; embeddings
scaled by √width; queries, keys and values projected together; ReLU; a normalisation after the last layer.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn import functional

from babelquake.train.config import ModelConfig
from babelquake.train.data import Fields
from babelquake.train.vocabulary import BEGIN, END

MASKED = -1e4
"""Added to the attention score of what must not be seen; finite, so that a row of padding stays a number."""


class Attention(nn.Module):
    """Multi-head attention with its normalisation, dropout and residual connection."""

    def __init__(self, config: ModelConfig, cross: bool) -> None:
        super().__init__()
        width = config.width
        self.heads, self.dropout, self.cross = config.heads, config.dropout, cross
        self.norm = nn.LayerNorm(width)
        self.queries = nn.Linear(width, width if cross else 3 * width)
        self.memory = nn.Linear(width, 2 * width) if cross else None
        self.output = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor, memory: Tensor | None = None) -> Tensor:
        """`mask` is added to the scores, `[rows, 1, queries, keys]`."""
        y = self.queries(self.norm(x))
        if self.memory is None:
            q, k, v = y.chunk(3, -1)
        else:
            q = y
            k, v = self.memory(memory).chunk(2, -1)
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2) for part in (q, k, v))
        y = functional.scaled_dot_product_attention(q, k, v, mask.to(q.dtype))
        y = self.output(y.transpose(1, 2).flatten(-2))
        return x + functional.dropout(y, self.dropout, self.training)


class FeedForward(nn.Module):
    """Two linear layers with ReLU between, normalisation, dropout and residual connection."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.dropout = config.dropout
        self.norm = nn.LayerNorm(config.width)
        self.inner = nn.Linear(config.width, config.feedforward)
        self.outer = nn.Linear(config.feedforward, config.width)

    def forward(self, x: Tensor) -> Tensor:
        """Each position by itself."""
        y = self.outer(functional.relu(self.inner(self.norm(x))))
        return x + functional.dropout(y, self.dropout, self.training)


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention, self.feedforward = Attention(config, cross=False), FeedForward(config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        """One layer."""
        y: Tensor = self.feedforward(self.attention(x, mask))
        return y


class DecoderLayer(nn.Module):
    """Self-attention, attention to the source, then feed-forward."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.attention, self.cross = Attention(config, cross=False), Attention(config, cross=True)
        self.feedforward = FeedForward(config)

    def forward(self, x: Tensor, mask: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """One layer."""
        y: Tensor = self.feedforward(self.cross(self.attention(x, mask), memory_mask, memory))
        return y


class Transformer(nn.Module):
    """Encoder and decoder over packed rows."""

    positions: Tensor

    def __init__(self, config: ModelConfig, vocabulary: int, longest: int) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(vocabulary, config.width)
        self.encoder = nn.ModuleList(EncoderLayer(config) for _ in range(config.encoder_layers))
        self.decoder = nn.ModuleList(DecoderLayer(config) for _ in range(config.decoder_layers))
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(config.width), nn.LayerNorm(config.width)
        self.loss = smoothed_loss
        self.register_buffer("positions", sinusoids(longest, config.width), persistent=False)
        self.apply(_initialise)

    def embed(self, tokens: Tensor, position: Tensor) -> Tensor:
        """Scaled embeddings plus positions, with dropout."""
        x = self.embedding(tokens) * math.sqrt(self.config.width) + self.positions[position]
        return functional.dropout(x.to(working_type(x)), self.config.dropout, self.training)

    def encode(self, tokens: Tensor, position: Tensor, mask: Tensor) -> Tensor:
        """States of the source."""
        x = self.embed(tokens, position)
        for layer in self.encoder:
            x = layer(x, mask)
        states: Tensor = self.encoder_norm(x)
        return states

    def decode(self, tokens: Tensor, position: Tensor, mask: Tensor, memory: Tensor, memory_mask: Tensor) -> Tensor:
        """States of the target, from which the next token is predicted."""
        x = self.embed(tokens, position)
        for layer in self.decoder:
            x = layer(x, mask, memory, memory_mask)
        states: Tensor = self.decoder_norm(x)
        return states

    def forward(self, batch: Fields[Tensor], smoothing: float) -> tuple[Tensor, Tensor]:
        """Summed loss of a batch, and its number of target tokens."""
        source, target = batch.source_pair, batch.target_pair
        causal = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool, device=target.device).tril()
        kind = working_type(self.positions)
        memory = self.encode(batch.source, batch.source_position, together(source, source, kind))
        own = together(target, target, kind).masked_fill(~causal, MASKED)
        states = self.decode(batch.target_input, batch.target_position, own, memory, together(target, source, kind))
        return self.loss(states, self.embedding.weight, batch.target_output, target > 0, smoothing)


def working_type(like: Tensor) -> torch.dtype:
    """bf16 within autocast, where only the weights are kept in full precision; otherwise the tensor's own type."""
    return torch.bfloat16 if torch.is_autocast_enabled(like.device.type) else like.dtype


def together(queries: Tensor, keys: Tensor, kind: torch.dtype) -> Tensor:
    """The mask that lets tokens of one pair see each other: `[rows, 1, queries, keys]`."""
    seen = queries[:, None, :, None] == keys[:, None, None, :]
    return torch.zeros(seen.shape, dtype=kind, device=seen.device).masked_fill(~seen, MASKED)


def smoothed_loss(
    states: Tensor, weight: Tensor, wanted: Tensor, counted: Tensor, smoothing: float
) -> tuple[Tensor, Tensor]:
    """Cross-entropy with label smoothing (Szegedy et al. 2016), summed over the counted positions."""
    logits = functional.linear(states, weight).flatten(0, 1)
    wanted = torch.where(counted, wanted, -100).flatten()
    loss = functional.cross_entropy(logits.float(), wanted, label_smoothing=smoothing, reduction="sum")
    return loss, counted.sum()


def sinusoids(length: int, width: int) -> Tensor:
    """Position encodings of positions 1 to `length`."""
    rates = torch.exp(torch.arange(width // 2) * -(math.log(10000) / (width // 2 - 1)))
    angles = torch.arange(1, length + 1)[:, None] * rates
    return torch.cat([angles.sin(), angles.cos()], 1)


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)


@torch.no_grad()
def greedy(model: Transformer, sources: list[list[int]], longest: int = 128) -> list[list[int]]:
    """The likeliest next token, one after the other, until the end token. `sources` are without their end token."""
    device = model.embedding.weight.device
    longest = min(longest, len(model.positions))
    width = max(map(len, sources)) + 1
    tokens = torch.zeros(len(sources), width, dtype=torch.long)
    pair = torch.zeros_like(tokens)
    for row, source in enumerate(sources):
        tokens[row, : len(source) + 1] = torch.tensor([*source, END])
        pair[row, : len(source) + 1] = 1
    tokens, pair = tokens.to(device), pair.to(device)
    kind = model.embedding.weight.dtype
    memory = model.encode(tokens, torch.arange(width, device=device).expand_as(tokens), together(pair, pair, kind))
    output = torch.full((len(sources), 1), BEGIN, device=device)
    ended = torch.zeros(len(sources), dtype=torch.bool, device=device)
    while output.shape[1] <= longest and not bool(ended.all()):
        ones = torch.ones_like(output)
        positions = torch.arange(output.shape[1], device=device).expand_as(output)
        hidden = torch.ones(output.shape[1], output.shape[1], dtype=torch.bool, device=device).triu(1)
        own = together(ones, ones, kind).masked_fill(hidden, MASKED)
        states = model.decode(output, positions, own, memory, together(ones, pair, kind))
        following = functional.linear(states[:, -1], model.embedding.weight).argmax(-1)
        following = torch.where(ended, END, following)
        output = torch.cat([output, following[:, None]], 1)
        ended |= following == END
    return [[token for token in row if token != END] for row in output[:, 1:].tolist()]
