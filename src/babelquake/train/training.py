"""What the trainings of language models and metrics share: their texts, one course from the first batch to the last,
and the folder of a model that ships, with packed weights, config, tokenizer and card.

Batches hold texts of about the same length and are made in a thread ahead of the GPU; their stream is a function of the
seed alone.

AdamW, a learning rate that warms up and falls to zero, a log. Minutes long on a GPU, so there are no checkpoints: what
is interrupted begins again. `Clock` and `Meter` are the time and speed of any training, as its log shows them.
"""

import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from babelquake.errors import UserError
from babelquake.models.int8_weights import pack
from babelquake.train.config import Recipe, read_settings
from babelquake.train.corpus import Integers, Ragged, opened, sha256

Item = TypeVar("Item")
POOL = 64
"""Batches whose texts are sorted by length together."""
WIDTH = 8
"""Rows are padded to a multiple of this many tokens."""
AnyRecipe = TypeVar("AnyRecipe", bound=Recipe)
Train = Callable[..., Path]


def files(data: Path, split: str) -> dict[str, Path]:
    """The files of a split by their name in the middle: `train.news.txt.xz` is `news`, `dev.txt` is `dev`."""
    found = {}
    for path in sorted([*data.glob(f"{split}*.txt"), *data.glob(f"{split}*.txt.xz")]):
        stem = path.name.removesuffix(".xz").removesuffix(".txt")
        found[stem.removeprefix(split).strip(".-") or split] = path
    return found


def read(path: Path) -> list[str]:
    """The lines of a file that hold anything."""
    with opened(path) as lines:
        return [line.strip() for line in lines if line.strip()]


def training_texts(data: Path, passes: Mapping[str, int], join: float, seed: int) -> tuple[list[str], list[int]]:
    """The texts of a training, some lines joined with the ones before; and how often an epoch reads each."""
    found = files(data, "train")
    if not found:
        raise UserError(f"{data}: no text to train on, expected train.NAME.txt or train.NAME.txt.xz.")
    if unknown := sorted(set(passes) - set(found)):
        raise UserError(f"{data}: no file train.{unknown[0]}.txt, which the config reads {passes[unknown[0]]} times.")
    texts: list[str] = []
    times: list[int] = []
    for number, (name, path) in enumerate(found.items()):
        part = joined(read(path), join, np.random.default_rng([seed, number]))
        texts += part
        times += [passes.get(name, 1)] * len(part)
    return texts, times


def joined(lines: list[str], share: float, rng: np.random.Generator) -> list[str]:
    """Lines, a share of them appended to the line before."""
    texts: list[str] = []
    for line, append in zip(lines, rng.random(len(lines)) < share, strict=True):
        if append and texts:
            texts[-1] = f"{texts[-1]} {line}"
        else:
            texts.append(line)
    return texts


def groups(lengths: NDArray[np.int64], budget: int, rng: np.random.Generator | None) -> Iterator[NDArray[np.int64]]:
    """Row numbers batch by batch: at most `budget` tokens each when padded; in random order, or by length alone."""
    if not len(lengths):
        return
    order = np.arange(len(lengths)) if rng is None else rng.permutation(len(lengths))
    pool = max(1, POOL * budget // max(1, int(lengths.mean()))) if rng is not None else len(order)
    for start in range(0, len(order), pool):
        rows = order[start : start + pool]
        rows = rows[np.argsort(lengths[rows], kind="stable")]
        batches: list[NDArray[np.int64]] = []
        begin = 0
        widths = -(-lengths[rows] // WIDTH) * WIDTH
        for end in range(1, len(rows) + 1):
            if end == len(rows) or (end + 1 - begin) * widths[end] > budget:
                batches.append(rows[begin:end])
                begin = end
        for number in range(len(batches)) if rng is None else rng.permutation(len(batches)):
            yield batches[number]


def padded(rows: Ragged, chosen: NDArray[np.int64], pad: int) -> tuple[Integers, NDArray[np.int64]]:
    """Some rows as one rectangle, and their lengths."""
    lengths = rows.lengths[chosen]
    width = -(-int(lengths.max()) // WIDTH) * WIDTH
    taken = rows.take(chosen)
    rectangle = np.full((len(chosen), width), pad, np.int32)
    rectangle[np.arange(width) < lengths[:, None]] = taken.values
    return rectangle, lengths


def tokenised(tokenizer: Any, texts: Sequence[str], length: int) -> Ragged:
    """Texts as rows of token numbers, special tokens included; a long text is cut."""
    rows: list[list[int]] = []
    for start in range(0, len(texts), 10000):
        part = list(texts[start : start + 10000])
        rows += tokenizer(part, truncation=True, max_length=length, return_attention_mask=False)["input_ids"]
    return Ragged.of(rows)


def repeated(rows: Ragged, times: Sequence[int]) -> Ragged:
    """Rows, each as often as an epoch reads it."""
    return rows if all(count == 1 for count in times) else rows.take(np.repeat(np.arange(len(rows)), times))


def endless(
    lengths: NDArray[np.int64], budget: int, seed: int
) -> Iterator[tuple[NDArray[np.int64], np.random.Generator]]:
    """Batches of row numbers epoch after epoch, each with its own random stream."""
    epoch = 0
    while True:
        for number, rows in enumerate(groups(lengths, budget, np.random.default_rng([seed, epoch]))):
            yield rows, np.random.default_rng([seed, epoch, number])
        epoch += 1


def ahead(items: Iterable[Item], count: int = 16) -> Iterator[Item]:
    """The same items, made by a thread up to `count` ahead of their use; the thread ends when the reader does."""
    waiting: queue.Queue[tuple[Item | None, BaseException | None]] = queue.Queue(count)
    stopped = threading.Event()

    def put(entry: tuple[Item | None, BaseException | None]) -> bool:
        while not stopped.is_set():
            try:
                waiting.put(entry, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def work() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    return
            put((None, StopIteration()))
        except BaseException as problem:
            put((None, problem))

    threading.Thread(target=work, daemon=True).start()
    try:
        while True:
            item, problem = waiting.get()
            if isinstance(problem, StopIteration):
                return
            if problem is not None:
                raise problem
            yield item  # type: ignore[misc]
    finally:
        stopped.set()


def store(
    out: Path, kind: str, recipe: Recipe, model: Any, tokenizer: Any, history: Any, figures: dict[str, Any], data: Path
) -> Path:
    """Write the model and its card, and print the figures."""
    out.mkdir(parents=True, exist_ok=True)
    state = {name: value.detach().float().cpu().numpy() for name, value in model.state_dict().items()}
    pack(untied(state, model), out)
    model.config.architectures = [type(model).__name__]
    model.config.save_pretrained(str(out))
    if hasattr(tokenizer, "backend_tokenizer"):
        tokenizer.backend_tokenizer.no_truncation()
    tokenizer.save_pretrained(str(out))
    card = {
        "name": recipe.name,
        "kind": kind,
        "parameters": int(sum(value.numel() for value in model.parameters())),
        "licence": "Apache-2.0",
        "command": f"babelquake train {kind} --config {recipe.name} --seed {recipe.seed} --data DIR --out DIR",
        "data_sha256": {path.name: sha256(path) for path in sorted(data.iterdir()) if path.is_file()},
        "steps": history.steps,
        "training_tokens": history.tokens,
        "training_seconds": history.seconds,
        "recipe": {name: value for name, value in recipe.to_dict().items() if name != "card"}
        | {"steps": history.steps, "minutes": None},
        "figures": figures,
        **recipe.card,
        "history": history.losses,
    }
    (out / "card.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"[{recipe.name}] {history.steps} steps in {history.seconds:.0f} s: {json.dumps(figures)}", flush=True)
    return out


def untied(state: dict[str, Any], model: Any) -> dict[str, Any]:
    """A state without what is stored once already: the output matrix and bias that are the embeddings' own."""
    return {name: value for name, value in state.items() if name not in set(_tied(model))}


def _tied(model: Any) -> list[str]:
    seen: dict[int, str] = {}
    tied = []
    for name, value in model.state_dict(keep_vars=True).items():
        if value.data_ptr() in seen and value.numel() > 1:
            tied.append(name)
        seen.setdefault(value.data_ptr(), name)
    return tied


@dataclass
class Training:
    """What a kind of model brings to its training; `loss` gives the mean loss of a batch and the tokens in it."""

    model: Any
    tokenizer: Any
    batches: Iterator[Any]
    loss: Callable[[Any], tuple[Any, int]]
    figures: Callable[[], dict[str, Any]]
    """What the trained model reaches on held-out data."""


def trains(kind: str, known: type[AnyRecipe]) -> Callable[[Callable[[AnyRecipe, Path, Any], Training]], Train]:
    """Of a function that prepares a training – from a recipe, a data folder and a device – the one that does it."""

    def decorate(prepare: Callable[[AnyRecipe, Path, Any], Training]) -> Train:
        def train(
            config: str | Path | Mapping[str, Any],
            data: Path,
            out: Path,
            *,
            device: str | None = None,
            until: float | None = None,
            **overrides: Any,
        ) -> Path:
            """Train as the config says; `out` receives the packed weights, config, tokenizer and card of the model.

            `until` (seconds since the epoch) bounds the training by the time left when it begins, whatever the config
            says.
            """

            recipe, place = read_settings(known, kind, config, **overrides), device_named(device)
            torch.manual_seed(recipe.seed)
            made = prepare(recipe, data, place)
            history = optimise(made.model, ahead(made.batches), made.loss, recipe := recipe.until(until))
            return store(out, kind, recipe, made.model, made.tokenizer, history, made.figures(), data)

        return train

    return decorate


LOG_SECONDS = 20


class Clock:
    """Seconds of training, those of earlier sessions included."""

    def __init__(self, before: float) -> None:
        self.start = time.monotonic() - before

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.start


class Meter:
    """Mean loss and speed since the last line of the log; asks the GPU only when a line is due."""

    def __init__(self, name: str, clock: Clock) -> None:
        self.name, self.clock = name, clock
        self.losses: list[Tensor] = []
        self.counts: list[Tensor] = []
        self.tokens, self.latest, self.steps, self.mean, self.since = 0, 0, 0, float("nan"), clock.seconds

    def add(self, loss: Tensor, count: Tensor, tokens: int) -> None:
        """Note one step."""
        self.losses.append(loss)
        self.counts.append(count)
        self.latest = tokens
        self.tokens += tokens
        self.steps += 1

    def log(self, step: int, rate: float) -> None:
        """Print a line if the last one is long enough ago."""
        if (passed := self.clock.seconds - self.since) < LOG_SECONDS and step != 1:
            return
        self.mean = round(float(torch.stack(self.losses).sum() / torch.stack(self.counts).sum()), 4)
        print(
            f"[{self.name}] step {step}  loss {self.mean:.3f}  lr {rate:.2e}  {self.steps / passed:.1f} steps/s  "
            f"{self.tokens / passed / 1000:.0f}k tokens/s  {self.clock.seconds:.0f} s",
            flush=True,
        )
        self.losses.clear()
        self.counts.clear()
        self.tokens, self.steps, self.since = 0, 0, self.clock.seconds


Batch = TypeVar("Batch")


@dataclass
class History:
    """What a training did."""

    steps: int = 0
    seconds: float = 0.0
    tokens: int = 0
    losses: list[dict[str, float]] = field(default_factory=list)


def device_named(device: str | None) -> torch.device:
    """The device asked for, or the GPU where there is one."""
    return torch.device(device or ("cuda" if torch.cuda.is_available() else "cpu"))


def autocast(device: torch.device) -> Any:
    """bf16 on a GPU, full precision on a CPU."""
    return torch.autocast("cuda", torch.bfloat16) if device.type == "cuda" else nullcontext()


def optimise(
    model: nn.Module, batches: Iterable[Batch], loss: Callable[[Batch], tuple[Tensor, int]], recipe: Recipe
) -> History:
    """Train `model` to the recipe's bound; `loss` gives the mean loss of a batch and the tokens in it."""
    device = next(model.parameters()).device
    torch.set_float32_matmul_precision("high")
    decayed = [weight for weight in model.parameters() if weight.requires_grad and weight.ndim > 1]
    plain = [weight for weight in model.parameters() if weight.requires_grad and weight.ndim <= 1]
    optimiser = torch.optim.AdamW(
        [{"params": decayed, "weight_decay": recipe.weight_decay}, {"params": plain, "weight_decay": 0.0}],
        lr=recipe.learning_rate,
        betas=(0.9, 0.98),
        fused=device.type == "cuda",
    )
    if recipe.compile:
        for layer in layers(model):
            layer.compile(dynamic=True)
    model.train()
    history, clock = History(), Clock(0.0)
    since, seen = 0.0, torch.zeros((), device=device)
    logged = 0
    for batch in batches:
        done = clock.seconds / (60 * recipe.minutes) if recipe.minutes else history.steps / (recipe.steps or 1)
        if done >= 1:
            break
        rate = recipe.learning_rate * min(1.0, (history.steps + 1) / recipe.warmup) * (1 - done)
        for group in optimiser.param_groups:
            group["lr"] = rate
        with autocast(device):
            value, tokens = loss(batch)
        optimiser.zero_grad(set_to_none=True)
        value.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), recipe.clip)
        optimiser.step()
        history.steps += 1
        history.tokens += tokens
        seen += value.detach()
        if clock.seconds - since > LOG_SECONDS:
            mean = round(float(seen) / (history.steps - logged), 4)
            history.losses.append({"step": history.steps, "seconds": round(clock.seconds, 1), "loss": mean})
            speed = history.tokens / clock.seconds / 1000
            print(f"[{recipe.name}] step {history.steps}  loss {mean:.3f}  {speed:.0f}k tokens/s", flush=True)
            since, logged, seen = clock.seconds, history.steps, torch.zeros((), device=device)
    history.seconds = round(clock.seconds, 1)
    for layer in layers(model) if recipe.compile else ():
        layer._compiled_call_impl = None
    model.eval()
    return history


def layers(model: nn.Module) -> list[nn.Module]:
    """The Transformer layers of a model, which share one compiled code."""
    lists: list[Any] = [part for part in model.modules() if isinstance(part, nn.ModuleList)]
    largest: Any = max(lists, key=lambda part: sum(weight.numel() for weight in part.parameters()))
    return list(largest)
