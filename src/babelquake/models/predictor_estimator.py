"""The predictor–estimator (Kim et al. 2017) as OpenKiwi 2 builds it (Kepler et al. 2019), with weights under its names.

The predictor is a conditional language model over both sides of a word: a bidirectional LSTM reads the source, one LSTM
reads the translation forwards and one backwards, and each word is predicted from the words before it, the words after
it and the source it attends to. What the predictor knows of the word that really stands there – its quality-estimation
feature vector – is read by the estimator, another LSTM, from whose last states the score of the sentence follows.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

UNKNOWN, PADDING, BEGIN, END = "<unk>", "<pad>", "<bos>", "<eos>"
MARKS = (UNKNOWN, PADDING, BEGIN, END, "<unaligned>")
MASKED = -1e9


@dataclass(frozen=True)
class Shape:
    """Sizes of the network, under our own names."""

    source_words: int
    target_words: int
    source_width: int = 50
    target_width: int = 50
    output_width: int = 50
    predictor_width: int = 100
    predictor_layers: int = 1
    estimator_width: int = 60
    estimator_layers: int = 1
    narrowed: bool = True
    """Whether the estimator's input passes a linear layer first."""
    output_layers: int = 3
    final_activation: bool = False
    distribution: bool = False
    """Whether the score is the mean of a normal distribution cut to 0 … 1."""


class Attention(nn.Module):
    """Where in the source to look: a perceptron on every pair of a context and a source state."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.scorer = nn.Module()
        self.scorer.layers = nn.ModuleList(
            [nn.Sequential(nn.Linear(2 * width, width), nn.Tanh()), nn.Sequential(nn.Linear(width, 1), nn.Tanh())]
        )

    def forward(self, contexts: Tensor, states: Tensor, seen: Tensor) -> Tensor:
        """The weighted source states for each context; `seen` is False at the source's marks."""
        first, last = self.scorer.layers  # type: ignore[misc]
        weight, bias = first[0].weight, first[0].bias
        half = weight.shape[1] // 2
        pairs = (contexts @ weight[:, :half].T).unsqueeze(2) + (states @ weight[:, half:].T).unsqueeze(1) + bias
        scores = last(torch.tanh(pairs)).squeeze(-1).masked_fill(~seen.unsqueeze(1), MASKED)
        found: Tensor = scores.softmax(-1) @ states
        return found


class Reader(nn.Module):
    """Reads the source, then the translation from both ends, and foresees each of its words."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width, layers, out = shape.predictor_width, shape.predictor_layers, shape.output_width
        self.attention = Attention(2 * width)
        self.forward_backward_a = nn.LSTM(shape.source_width, width, layers, batch_first=True, bidirectional=True)
        self.forward_b = nn.LSTM(shape.target_width, width, layers, batch_first=True)
        self.backward_b = nn.LSTM(shape.target_width, width, layers, batch_first=True)
        self.W2 = nn.Parameter(torch.zeros(out, out))
        self.V = nn.Parameter(torch.zeros(2 * shape.target_width, 2 * out))
        self.C = nn.Parameter(torch.zeros(2 * width, 2 * out))
        self.S = nn.Parameter(torch.zeros(2 * width, 2 * out))

    def forward(self, source: Tensor, target: Tensor, seen: Tensor) -> tuple[Tensor, Tensor]:
        """What is foreseen at each place of the translation, and the states of both directions there."""
        states, (h, c) = self.forward_backward_a(source)
        ahead, _ = self.forward_b(target, (h[0::2].contiguous(), c[0::2].contiguous()))
        back, _ = self.backward_b(target.flip(1), (h[1::2].contiguous(), c[1::2].contiguous()))
        back = back.flip(1)
        contexts = torch.cat([_before(ahead), _after(back)], dim=-1)
        neighbours = torch.cat([_before(target), _after(target)], dim=-1)
        mixed = contexts @ self.S + neighbours @ self.V + self.attention(contexts, states, seen) @ self.C
        strongest = mixed.unflatten(-1, (-1, 2)).amax(-1)
        return strongest @ self.W2, torch.cat([ahead, back], dim=-1)


class Predictor(nn.Module):
    """The conditional language model."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        sizes = {
            "target": (shape.target_words, shape.target_width),
            "source": (shape.source_words, shape.source_width),
        }
        self.embeddings = nn.ModuleDict()
        for side, size in sizes.items():
            self.embeddings[side] = nn.ModuleDict({"embedding": nn.Embedding(*size, padding_idx=1)})
        self.output_embeddings = nn.ModuleDict(
            {"target": nn.Embedding(shape.target_words, shape.output_width, padding_idx=1)}
        )
        self.encode_target = Reader(shape)
        self.start_PreQEFV = nn.Parameter(torch.zeros(1, 1, shape.output_width))
        self.end_PreQEFV = nn.Parameter(torch.zeros(1, 1, shape.output_width))

    def forward(self, source: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
        """Feature vectors of the translation's words, and what was foreseen at each place."""
        seen = torch.ones_like(source, dtype=torch.bool)
        seen[:, 0] = seen[:, -1] = False
        tables: Any = self.embeddings
        vectors = (tables[side]["embedding"](ids) for side, ids in (("source", source), ("target", target)))
        foreseen, states = self.encode_target(*vectors, seen)
        known = self.output_embeddings["target"](target) * foreseen
        ends = (end.expand(len(target), -1, -1) for end in (self.start_PreQEFV, self.end_PreQEFV))
        start, stop = ends
        return torch.cat([torch.cat([start, known[:, 1:-1], stop], dim=1), states], dim=-1), foreseen

    def loss(self, source: Tensor, target: Tensor) -> Tensor:
        """The mean surprise at the words of the translation, its marks left out."""
        _, foreseen = self(source, target)
        logits = foreseen[:, 1:-1] @ self.output_embeddings["target"].weight.T
        surprise: Tensor = functional.cross_entropy(logits.flatten(0, 1), target[:, 1:-1].flatten())
        return surprise


class Estimator(nn.Module):
    """Reads the feature vectors; its last states stand for the sentence."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        width = shape.output_width + 2 * shape.predictor_width
        self.mlp = nn.Sequential(nn.Linear(width, shape.estimator_width), nn.Tanh()) if shape.narrowed else None
        inner = shape.estimator_width if shape.narrowed else width
        self.lstm = nn.LSTM(inner, shape.estimator_width, shape.estimator_layers, batch_first=True, bidirectional=True)

    def forward(self, features: Tensor) -> Tensor:
        """One vector per sentence."""
        _, (h, _) = self.lstm(features if self.mlp is None else self.mlp(features))
        found: Tensor = h.transpose(0, 1).flatten(1)
        return found


class PredictorEstimator(nn.Module):
    """The whole: one number per pair of source and translation."""

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.shape = shape
        self.encoder = Predictor(shape)
        self.decoder = Estimator(shape)
        width = 2 * shape.estimator_layers * shape.estimator_width
        self.mean = _narrowing(width, shape.output_layers, nn.Tanh, shape.final_activation)
        self.spread = _narrowing(width, 3, nn.Sigmoid, True) if shape.distribution else None
        for weight in self.parameters():
            if weight.ndim > 1:
                nn.init.xavier_uniform_(weight)

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Scores of sentences whose sources have one length and whose translations have one length."""
        features, _ = self.encoder(source, target)
        sentence = self.decoder(features)
        mean: Tensor = self.mean(sentence).squeeze(-1)
        return mean if self.spread is None else _cut_normal_mean(mean, self.spread(sentence).squeeze(-1) + 1e-12)


def numbered(words: Sequence[str], numbers: dict[str, int]) -> list[int]:
    """Words between their marks, as numbers; unknown words share one."""
    return [numbers.get(word, numbers[UNKNOWN]) for word in (BEGIN, *words, END)]


def by_shape(pairs: Sequence[tuple[list[int], list[int]]], rows: int) -> list[list[int]]:
    """Places of pairs with the same two lengths, so many at a time at most."""
    groups: dict[tuple[int, int], list[int]] = defaultdict(list)
    for place, (source, target) in enumerate(pairs):
        groups[len(source), len(target)].append(place)
    return [group[start : start + rows] for group in groups.values() for start in range(0, len(group), rows)]


def _before(states: Tensor) -> Tensor:
    """At each place the state one place earlier; zeros at the first."""
    return functional.pad(states, (0, 0, 1, 0))[:, :-1]


def _after(states: Tensor) -> Tensor:
    """At each place the state one place later; zeros at the last."""
    return functional.pad(states, (0, 0, 0, 1))[:, 1:]


def _narrowing(width: int, layers: int, activation: type[nn.Module], final: bool) -> nn.Sequential:
    """Linear layers, each half as wide as the one before, down to one number."""
    modules = nn.Sequential()
    for layer in range(layers - 1):
        modules.add_module(f"linear_{layer}", nn.Linear(width, width // 2))
        modules.add_module(f"activation_{layer}", activation())
        width //= 2
    modules.add_module(f"linear_{layers - 1}", nn.Linear(width, 1))
    if final:
        modules.add_module(f"activation_{layers - 1}", activation())
    return modules


def _cut_normal_mean(mean: Tensor, spread: Tensor) -> Tensor:
    """The mean of a normal distribution that is cut to 0 … 1."""
    low, high = -mean / spread, (1 - mean) / spread
    height = (torch.exp(-(low**2) / 2) - torch.exp(-(high**2) / 2)) / math.sqrt(2 * math.pi)
    share = torch.special.ndtr(high) - torch.special.ndtr(low)
    found: Tensor = mean + spread * height / share.clamp(min=1e-12)
    return found
