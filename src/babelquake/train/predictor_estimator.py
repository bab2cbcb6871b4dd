"""Training a predictor–estimator on small data (Kim et al. 2017): first the language model, then the judgements.

The predictor learns to foresee the words of translations given their sources: of `parallel` files where there are any,
otherwise of the rated translations themselves. Then predictor and estimator learn the judgements together; the epoch
with the best Pearson on `dev` (or, without, on a tenth of the data that is held out) is kept.
"""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import torch

from babelquake.data import read
from babelquake.errors import UserError
from babelquake.models.predictor_estimator import MARKS, PredictorEstimator, Shape, by_shape, numbered
from babelquake.scorers.openkiwi import Loaded, save
from babelquake.version import VERSION

WORDS = 20_000
"""Words of a vocabulary, the most frequent ones."""
ROWS = 32
HELD_OUT = 10
"""Every so many rows are held out where there is no `dev`."""


class Rated(NamedTuple):
    """Pairs of word numbers, and their judgements."""

    pairs: list[tuple[list[int], list[int]]]
    scores: np.ndarray[Any, np.dtype[np.float64]]


def train_predictor_estimator(
    data: Sequence[str | Path],
    out: Path,
    dev: Sequence[str | Path] | None = None,
    parallel: Sequence[str | Path] | None = None,
    target: str = "score",
    epochs: int = 10,
    seed: int = 0,
) -> dict[str, Any]:
    """Train on files with source, translation and judgement; write a model folder and return its card."""
    began = time.monotonic()
    torch.manual_seed(seed)
    rated = _frame(data, ("source", "translation", target))
    texts = _frame(parallel, ("source", "reference")) if parallel else rated.rename({"translation": "reference"})
    vocabularies = [
        _vocabulary(pl.concat([texts[side], rated[own]]))
        for side, own in (("source", "source"), ("reference", "translation"))
    ]
    whole = _rated(rated, vocabularies, target)
    chosen = _rated(_frame(dev, ("source", "translation", target)), vocabularies, target) if dev else None
    train, held = (whole, chosen) if chosen else _split(whole)
    mean, spread = float(train.scores.mean()), float(train.scores.std()) or 1.0
    network = PredictorEstimator(Shape(len(vocabularies[0]), len(vocabularies[1])))
    foreseen = _pairs(texts["source"].to_list(), texts["reference"].to_list(), vocabularies)
    surprise = _learn_words(network, foreseen, epochs, seed)
    best = _learn_scores(network, Rated(train.pairs, (train.scores - mean) / spread), held, epochs, seed)
    with torch.no_grad():  # the network gives judgements on their own scale
        last = list(network.mean.children())[-1]
        last.weight.mul_(spread)  # type: ignore[operator]
        last.bias.mul_(spread).add_(mean)  # type: ignore[operator]
    card = {
        "name": Path(out).name,
        "kind": "predictor-estimator",
        "target": target,
        "segments": {"train": len(train.pairs), "held out": len(held.pairs), "parallel": len(foreseen)},
        "words": {"source": len(vocabularies[0]), "target": len(vocabularies[1])},
        "surprise_per_word": round(surprise, 4),
        "pearson": {"dev" if dev else "held out": None if best is None else round(best, 4)},
        "epochs": epochs,
        "seed": seed,
        "licence": "the weights derive from the training data and follow its licence",
        "seconds": round(time.monotonic() - began, 1),
        "babelquake": VERSION,
    }
    save(Path(out), Loaded(network.eval(), *vocabularies), card)
    return card


def _learn_words(
    network: PredictorEstimator, pairs: list[tuple[list[int], list[int]]], epochs: int, seed: int
) -> float:
    """The predictor alone; gives the mean surprise of the last epoch."""
    optimiser = torch.optim.Adam(network.encoder.parameters(), lr=2e-3)
    surprise = [0.0]
    for epoch in range(epochs):
        surprise = []
        for rows in _batches([pair for pair in pairs if len(pair[1]) > 2], seed + epoch):
            source, target, _ = rows
            loss = network.encoder.loss(source, target)
            _step(optimiser, network, loss)
            surprise.append(float(loss.detach()))
    return float(np.mean(surprise or [0.0]))


def _learn_scores(network: PredictorEstimator, train: Rated, held: Rated, epochs: int, seed: int) -> float | None:
    """All of it; gives the best Pearson on what is held out, and leaves the network as it was then.

    Where too little is held out for a correlation there is none, and the last epoch counts.
    """
    optimiser = torch.optim.Adam(network.parameters(), lr=1e-3)
    best: float | None = None
    kept = {name: value.clone() for name, value in network.state_dict().items()}
    for epoch in range(epochs):
        network.train()
        for source, target, places in _batches(train.pairs, seed + 1000 + epoch):
            wanted = torch.tensor(train.scores[places], dtype=torch.float32)
            _step(optimiser, network, torch.nn.functional.mse_loss(network(source, target), wanted))
        network.eval()
        found = _pearson(network, held)
        if best is None or (found is not None and found > best):
            best, kept = found, {name: value.clone() for name, value in network.state_dict().items()}
    network.load_state_dict(kept)
    return best


def _step(optimiser: torch.optim.Optimizer, network: PredictorEstimator, loss: torch.Tensor) -> None:
    optimiser.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
    optimiser.step()


def _pearson(network: PredictorEstimator, held: Rated) -> float | None:
    scores = np.zeros(len(held.pairs))
    with torch.inference_mode():
        for source, target, places in _batches(held.pairs, 0):
            scores[places] = network(source, target).numpy()
    if scores.std() == 0 or held.scores.std() == 0:
        return None
    return float(np.corrcoef(scores, held.scores)[0, 1])


def _batches(
    pairs: Sequence[tuple[list[int], list[int]]], seed: int
) -> Iterator[tuple[torch.Tensor, torch.Tensor, list[int]]]:
    """Pairs of one shape together, the batches in their own order."""
    cut = by_shape(pairs, ROWS)
    for at in np.random.default_rng(seed).permutation(len(cut)):
        places = cut[at]
        yield *(torch.tensor([pairs[place][side] for place in places]) for side in (0, 1)), places  # type: ignore[misc]


def _frame(files: Sequence[str | Path] | None, needed: tuple[str, ...]) -> pl.DataFrame:
    frames = []
    for path in files or ():
        dataset = read(path)
        segments = dataset.segments
        if "reference" in needed and "reference" not in segments.columns and "references" in segments.columns:
            segments = segments.with_columns(reference=pl.col("references").list.first())
        for column in needed:
            if column not in segments.columns:
                raise UserError(f"{path} has no {column}: training needs {', '.join(needed)} in every row.")
        frames.append(segments.drop_nulls(needed).select(*needed))
    if not frames:
        raise UserError("there is nothing to train on: name at least one file with source, translation and score.")
    return pl.concat(frames)


def _vocabulary(texts: pl.Series) -> dict[str, int]:
    counts: Counter[str] = Counter()
    for text in texts.to_list():
        counts.update(text.split())
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: at for at, word in enumerate([*MARKS, *(word for word in ordered if word not in MARKS)][:WORDS])}


def _pairs(
    sources: Sequence[str], targets: Sequence[str], vocabularies: Sequence[dict[str, int]]
) -> list[tuple[list[int], list[int]]]:
    both = zip(sources, targets, strict=True)
    return [(numbered(s.split(), vocabularies[0]), numbered(t.split(), vocabularies[1])) for s, t in both]


def _rated(table: pl.DataFrame, vocabularies: Sequence[dict[str, int]], target: str) -> Rated:
    if not table[target].dtype.is_numeric():
        raise UserError(f"column '{target}' is not a number: expected one judgement per row.")
    pairs = _pairs(table["source"].to_list(), table["translation"].to_list(), vocabularies)
    return Rated(pairs, table[target].cast(pl.Float64).to_numpy())


def _split(whole: Rated) -> tuple[Rated, Rated]:
    held = np.arange(len(whole.pairs)) % HELD_OUT == HELD_OUT - 1
    if not held.any():
        raise UserError(
            f"{len(whole.pairs)} rated translations are too few to train on: at least {HELD_OUT} are needed."
        )
    parts = ([place for place, out in enumerate(held) if out == wanted] for wanted in (False, True))
    train, dev = (Rated([whole.pairs[place] for place in part], whole.scores[part]) for part in parts)
    return train, dev
