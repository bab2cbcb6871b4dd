"""The translation model and its training loop: learning-rate schedule, validation, checkpoints, and picking up where a
stopped run left off.

The model is a pre-norm Transformer (Vaswani et al. 2017) with one embedding matrix for source, target and output. Niu
et al. (2020, §3) tie target embeddings and output layer; with a joint vocabulary the source shares them too. The layout
is the one CTranslate2 computes: sinusoidal positions counted from 1, all sines before all cosines; embeddings scaled by
√width; queries, keys and values projected together; ReLU; a normalisation after the last layer.
"""

import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from babelquake.errors import UserError
from babelquake.train.config import Config, ModelConfig
from babelquake.train.data import Batch, Fields, Pairs, stream, unpack
from babelquake.train.export import pack_int8
from babelquake.train.segmentation import BEGIN, END
from babelquake.train.training import Clock, Meter

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


CHECKPOINT_SECONDS = 120


@dataclass(frozen=True)
class Validation:
    """Held-out pairs: packed for the loss, and some of them as subwords and text for BLEU."""

    batches: Sequence[Batch]
    sources: Sequence[list[int]]
    references: Sequence[str]
    decode: Any
    """Subword numbers → text."""


@dataclass
class Progress:
    """Where a run stands; saved with every checkpoint."""

    step: int = 0
    chunk: int = 0
    batch: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best_loss: float = float("inf")
    best_step: int = 0
    history: list[dict[str, float]] = field(default_factory=list)


class Trainer:
    """Trains one model. `out` receives the checkpoint, the best weights packed as int8, and the history."""

    def __init__(self, config: Config, pairs: Pairs, validation: Validation, out: Path, device: str) -> None:
        torch.manual_seed(config.seed)
        self.config, self.pairs, self.validation, self.out = config, pairs, validation, out
        self.device = torch.device(device)
        longest = max(config.source_length, config.target_length)
        self.model = Transformer(config.model, config.vocabulary, longest).to(self.device)
        self.optimiser = torch.optim.AdamW(
            self.model.parameters(),
            lr=config.learning_rate,
            betas=(0.9, 0.98),
            weight_decay=config.weight_decay,
            fused=self.device.type == "cuda",
        )
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}

    @property
    def checkpoint(self) -> Path:
        """The file a stopped run continues from."""
        return self.out / "checkpoint.pt"

    def run(self, until: float | None = None) -> None:
        """Train to the bound; `until` (seconds since the epoch) turns the bound into the time left."""
        config, progress = self.config, self.progress
        batches = stream(self.pairs, config, progress.chunk, progress.batch)
        upcoming = next(batches)
        self._make_ready(upcoming[2])
        minutes = config.minutes if until is None else (until - time.time() + progress.seconds) / 60
        clock = Clock(progress.seconds)
        meter = Meter(config.name, clock)
        saved = clock.seconds
        if config.init and not progress.history:
            self._validate(meter)
        for chunk, number, batch in chain([upcoming], batches):
            done = progress.step / (config.steps or 1) if minutes is None else share(clock.seconds, 60 * minutes)
            if done >= 1:
                break
            rate = learning_rate(config, progress.step, done)
            for group in self.optimiser.param_groups:
                group["lr"] = rate
            meter.add(*self._step(batch), batch_tokens(batch, config))
            progress.step += 1
            progress.chunk, progress.batch = chunk, number + 1
            progress.tokens += meter.latest
            meter.log(progress.step, rate)
            if progress.step % config.validate_every == 0:
                progress.seconds = clock.seconds
                self._validate(meter)
                if clock.seconds - saved > CHECKPOINT_SECONDS:
                    self.save()
                    saved = clock.seconds
        progress.seconds = clock.seconds
        if not progress.history or progress.history[-1]["step"] != progress.step:
            self._validate(meter)
        self.save()

    def save(self) -> None:
        """Write the checkpoint; a kill in the midst of it leaves the one before."""
        state = {
            "config": self.config.to_dict(),
            "progress": vars(self.progress),
            "model": self.model.state_dict(),
            "best": self.best,
            "optimiser": self.optimiser.state_dict(),
            "random": torch.get_rng_state(),
            "cuda_random": torch.cuda.get_rng_state() if self.device.type == "cuda" else None,
        }
        partial = self.checkpoint.with_suffix(".partial")
        torch.save(state, partial)
        partial.replace(self.checkpoint)

    def begin_with(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Take the weights of a trained model for the first ones."""
        self.model.load_state_dict({name: torch.from_numpy(value.copy()) for name, value in weights.items()})

    def resume(self) -> bool:
        """Load the checkpoint, if there is one."""
        if not self.checkpoint.is_file():
            return False
        state = torch.load(self.checkpoint, map_location="cpu", weights_only=True)
        free = ("steps", "minutes", "workers", "compile", "validate_every")
        old, new = ({k: v for k, v in c.items() if k not in free} for c in (state["config"], self.config.to_dict()))
        if old != new:
            differing = next(key for key in new if old.get(key) != new[key])
            raise UserError(
                f"{self.checkpoint} was made with {differing} {old.get(differing)}, this run has {new[differing]}. "
                "Use another output folder, or start afresh without resuming."
            )
        self.model.load_state_dict(state["model"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.best = state["best"]
        self.progress = Progress(**state["progress"])
        self._random = (state["random"], state["cuda_random"])
        return True

    _random: tuple[Tensor, Tensor | None] | None = None

    def _make_ready(self, batch: Batch) -> None:
        """Compute one batch without learning from it, so that compilation is over before the clock starts.

        Falls back to uncompiled layers, then to kernels whose sums may vary in their last bits, if the machine cannot
        do better; what was given up is printed.
        """
        ways = [(True, True)] * (self.config.compile and self.device.type == "cuda") + [(False, True), (False, False)]
        for compiled, exact in ways:
            try:
                prepare_torch(exact)
                if compiled:
                    compile_layers(self.model)
                _backward(self._loss(self._fields(batch))[0])
                break
            except Exception as error:
                print(f"[{self.config.name}] compiled={compiled} deterministic={exact} failed: {error!r}"[:2000])
                uncompile_layers(self.model)
                if (compiled, exact) == ways[-1]:
                    raise
        print(f"[{self.config.name}] ready: compiled={compiled} deterministic={exact}", flush=True)
        self.optimiser.zero_grad(set_to_none=True)
        torch.manual_seed(self.config.seed + 1)
        if self._random:
            torch.set_rng_state(self._random[0])
            if self._random[1] is not None and self.device.type == "cuda":
                torch.cuda.set_rng_state(self._random[1])

    def _step(self, batch: Batch) -> tuple[Tensor, Tensor]:
        loss, count = self._loss(self._fields(batch))
        _backward(loss / count)
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        return loss.detach(), count

    def _loss(self, fields: Fields[Tensor], smoothing: float | None = None) -> tuple[Tensor, Tensor]:
        bf16 = self.config.precision == "bf16"
        with torch.autocast(self.device.type, torch.bfloat16) if bf16 else nullcontext():
            loss: tuple[Tensor, Tensor] = self.model(
                fields, self.config.label_smoothing if smoothing is None else smoothing
            )
        return loss

    def _fields(self, batch: Batch) -> Fields[Tensor]:
        tensor = torch.from_numpy(batch)
        if self.device.type == "cuda":
            tensor = tensor.pin_memory().to(self.device, non_blocking=True)
        return unpack(tensor.long(), self.config)

    @torch.no_grad()
    def _validate(self, meter: Meter) -> None:
        """Loss and, where sacreBLEU is installed, BLEU of greedy translations; keep the weights if the loss fell."""
        progress = self.progress
        self.model.eval()
        with torch.compiler.set_stance("force_eager"):
            sums = [self._loss(self._fields(batch), smoothing=0.0) for batch in self.validation.batches]
            bleu = self._bleu()
        self.model.train()
        loss = float(sum(float(loss) for loss, _ in sums) / sum(int(count) for _, count in sums))
        entry = {"step": progress.step, "seconds": round(progress.seconds, 1), "dev_loss": loss}
        if not np.isnan(meter.mean):
            entry["loss"] = meter.mean
        if bleu is not None:
            entry["dev_bleu"] = bleu
        progress.history.append(entry)
        print(f"[{self.config.name}] validation {json.dumps(entry)}", flush=True)
        if loss < progress.best_loss:
            progress.best_loss, progress.best_step = loss, progress.step
            self.best = {name: value.detach().cpu().clone() for name, value in self.model.state_dict().items()}
            pack_int8({name: value.numpy() for name, value in self.best.items()}, self.out / "weights.npz")
        history = self.out / "history.json"
        history.write_text(json.dumps({**vars(progress), "config": self.config.to_dict()}, indent=1), encoding="utf-8")

    def _bleu(self) -> float | None:
        try:
            import sacrebleu
        except ImportError:
            return None
        outputs = greedy(self.model, list(self.validation.sources))
        hypotheses = [self.validation.decode(output) for output in outputs]
        score = sacrebleu.corpus_bleu(hypotheses, [list(self.validation.references)], lowercase=True).score
        return round(float(score), 2)


def _backward(loss: Tensor) -> None:
    loss.backward()  # type: ignore[no-untyped-call]


def share(spent: float, budget: float) -> float:
    """How much of a budget is spent; all of it, if there was none to begin with."""
    return spent / budget if budget > 0 else 1.0


def learning_rate(config: Config, step: int, done: float) -> float:
    """Linear warm-up by steps, then linear to zero by the share of the budget that is done."""
    return config.learning_rate * min((step + 1) / config.warmup, 1.0) * max(0.0, 1 - done)


def batch_tokens(batch: Batch, config: Config) -> int:
    """Source and target tokens of a batch, padding not counted."""
    fields = unpack(batch, config)
    return int(np.count_nonzero(fields.source_pair) + np.count_nonzero(fields.target_pair))


def prepare_torch(exact: bool) -> None:
    """Fast kernels that give the same sums every time (`exact`); cuDNN attention is off: it is slow to set up."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(exact)
    torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
    torch.backends.cuda.enable_cudnn_sdp(False)
    torch.set_float32_matmul_precision("high")


def compile_layers(model: Transformer) -> None:
    """Compile each kind of layer once; layers of one kind share the code."""
    for layer in [*model.encoder, *model.decoder]:
        layer.compile(dynamic=False)
    model.loss = torch.compile(model.loss, dynamic=False)


def uncompile_layers(model: Transformer) -> None:
    """Undo `compile_layers`."""
    for layer in [*model.encoder, *model.decoder]:
        layer._compiled_call_impl = None
    model.loss = smoothed_loss
    torch._dynamo.reset()
