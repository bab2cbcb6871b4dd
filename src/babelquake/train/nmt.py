"""Train a translation model: `babelquake train nmt`, or `python -m babelquake.train nmt` where only PyTorch,
SentencePiece, NumPy and PyYAML are installed.

A data folder holds `train*.tsv[.xz]`, `dev*.tsv` and perhaps `test*.tsv`, one `source<TAB>target` pair a line. The
output folder receives checkpoints, `weights.npz` (the weights with the lowest loss on dev, packed as int8),
`history.json`, and, where CTranslate2 is installed, `model/`, the folder that translates. With `init`, training goes on
from such a folder or a model that ships: its weights, its shape and its subwords (Niu 2020 Table 4).
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.perturb.noise import Noise
from babelquake.perturb.suite import suite
from babelquake.train.config import Config, load
from babelquake.train.corpus import Ragged, read_corpus, read_pairs, split_file
from babelquake.train.data import NoisySources, Pairs, pack
from babelquake.train.export import finish, start_from
from babelquake.train.segmentation import Fixed, processor, segmentation, vocabulary

BLEU_SENTENCES = 200
"""Dev sentences translated for the BLEU that is printed during training."""


def train(
    config: str | Path | Mapping[str, Any],
    data: Path,
    out: Path,
    resume: bool = True,
    *,
    cache: Path | None = None,
    until: float | None = None,
    device: str | None = None,
    **overrides: Any,
) -> Path:
    """Train as the config says and return the output folder; a stopped run continues from its checkpoint.

    `cache` keeps the counted corpus and the vocabularies, which runs on the same data share. `until` (seconds since the
    epoch) bounds the run by the time left instead of the config's bound, and leaves the export to `finish`. `overrides`
    replace settings of the config.
    """
    import torch

    from babelquake.train.trainer import Trainer

    settings = load(config, **overrides)
    kind = segmentation(settings.segmentation)
    start = start_from(settings.init, settings.model.dropout) if settings.init else None
    if start is not None:
        start.check(settings, kind.vocabulary)
        settings = replace(settings, model=start.model, vocabulary=start.vocabulary)
    cache = cache or out.parent / "cache"
    begun = time.time()
    model = start.pieces if start else vocabulary(kind.vocabulary, settings.vocabulary, data, cache)
    corpus = read_corpus(split_file(data, "train"), cache)
    pairs = Pairs(
        corpus.source.sentences,
        corpus.target.sentences,
        kind.segmenter(model, corpus.source.words),
        Fixed(model, corpus.target.words),
        _noise(settings, corpus.source.words, model),
    )
    print(f"[{settings.name}] {len(pairs)} pairs, ready after {time.time() - begun:.0f} s", flush=True)
    validation = _validation(settings, split_file(data, "dev"), model)
    out.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(
        settings,
        pairs,
        validation,
        out,
        device or ("cuda" if torch.cuda.is_available() else "cpu"),
    )
    if not (resume and trainer.resume()) and start:
        trainer.begin_with(start.weights)
    trainer.run(until)
    if until is None and find_spec("ctranslate2"):
        finish(out / "weights.npz", out / "history.json", data, cache, out / "model", pieces=model)
    return out


def _noise(config: Config, words: Sequence[str], model: Path) -> NoisySources | None:
    """What changes sources while training, where the config names a suite for it."""
    if config.noise is None:
        return None
    noise = Noise(suite(config.noise), config.noise_share, *config.noise_strength, config.language, config.seed)
    return NoisySources(noise, words, processor(model))


def _validation(config: Config, dev: Path, model: Path) -> Any:
    from babelquake.train.trainer import Validation

    pieces = processor(model)
    pairs = list(read_pairs(dev))
    sources, targets = (pieces.encode([pair[side] for pair in pairs]) for side in (0, 1))
    packed = pack(Ragged.of(sources), Ragged.of(targets), config)
    rows = -(-len(packed) // config.rows) * config.rows
    batches = np.zeros((rows, packed.shape[1]), np.int16)
    batches[: len(packed)] = packed
    return Validation(
        list(batches.reshape(-1, config.rows, packed.shape[1])),
        sources[:BLEU_SENTENCES],
        [target for _, target in pairs[:BLEU_SENTENCES]],
        pieces.decode,
    )
