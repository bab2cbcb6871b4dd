"""The training loop: learning-rate schedule, validation, checkpoints, and picking up where a stopped run left off."""

import json
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

from babelquake.errors import UserError
from babelquake.train.config import Config
from babelquake.train.data import Batch, Fields, Pairs, stream, unpack
from babelquake.train.export import pack_int8
from babelquake.train.speed import Clock, Meter
from babelquake.train.transformer import Transformer, greedy, smoothed_loss

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
