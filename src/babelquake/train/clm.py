"""Train a causal language model: `babelquake train clm`, or `python -m babelquake.train clm` where only PyTorch,
transformers, NumPy and PyYAML are installed.

GPT-2's architecture and kind of subwords (Radford et al. 2019), smaller, from scratch. Every text stands between two
end marks. The data folder is that of `babelquake.train.mlm`.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from babelquake.train.config import CausalRecipe
from babelquake.train.corpus import Integers
from babelquake.train.training import (
    Training,
    autocast,
    endless,
    files,
    groups,
    padded,
    read,
    repeated,
    tokenised,
    training_texts,
    trains,
)

IGNORED = -100
"""The target of a position that is not to be predicted, as PyTorch's cross-entropy has it."""
Judge = Callable[[Sequence[str]], list[float]]
"""Texts → mean log-probability per token."""
LETTERS = re.compile(r"[^\W\d_]{4,}")


def preferences(judge: Judge, sentences: Sequence[str], seed: int = 20) -> dict[str, Any]:
    """The share preferred to each broken version, over the sentences that can be broken so; and perplexity."""
    clean = judge(sentences)
    found: dict[str, Any] = {"sentences": len(sentences), "mean_log_probability": round(float(np.mean(clean)), 4)}
    for name, (change, count) in CHANGES.items():
        rng = np.random.default_rng(seed)
        broken = [change(sentence, count, rng) for sentence in sentences]
        kept = [number for number, text in enumerate(broken) if text is not None]
        scores = judge([text for text in broken if text is not None])
        wins = [clean[number] > score for number, score in zip(kept, scores, strict=True)]
        found[name] = round(float(np.mean(wins)), 4) if wins else None
    return found


def swapped_letters(sentence: str, count: int, rng: np.random.Generator) -> str | None:
    """Swap two neighbouring inner letters in `count` words of four letters or more; None where there are too few."""
    places = []
    for word in LETTERS.finditer(sentence):
        inner = range(word.start() + 1, word.end() - 2)
        if swaps := [place for place in inner if sentence[place] != sentence[place + 1]]:
            places.append(swaps)
    if len(places) < count:
        return None
    letters = list(sentence)
    for number in rng.choice(len(places), count, replace=False):
        place = int(rng.choice(places[number]))
        letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)


def deleted_words(sentence: str, count: int, rng: np.random.Generator) -> str | None:
    """Take out `count` words; None where fewer than three would be left."""
    words = sentence.split()
    if len(words) < count + 3:
        return None
    gone = set(rng.choice(len(words), count, replace=False).tolist())
    return " ".join(word for number, word in enumerate(words) if number not in gone)


CHANGES: dict[str, tuple[Callable[[str, int, np.random.Generator], str | None], int]] = {
    "letters swapped in two words": (swapped_letters, 2),
    "two words deleted": (deleted_words, 2),
    "one word deleted": (deleted_words, 1),
}


END = "<|endoftext|>"


@trains("clm", CausalRecipe)
def train(recipe: CausalRecipe, data: Path, place: Any) -> Training:
    """Texts between two end marks, of which every token is to be foreseen."""
    texts, times = training_texts(data, recipe.passes, recipe.join, recipe.seed)
    tokenizer = subwords(dict.fromkeys(texts), recipe.vocabulary, recipe.length)
    rows = repeated(tokenised(tokenizer, texts, recipe.length), times)
    model = _model(recipe, tokenizer).to(place)
    print(f"[{recipe.name}] {len(rows)} texts, {len(rows.values)} tokens", flush=True)

    def batches() -> Iterator[tuple[Integers, NDArray[np.int64]]]:
        for chosen, _ in endless(rows.lengths, recipe.batch_tokens, recipe.seed):
            yield padded(rows, chosen, tokenizer.eos_token_id)

    def loss(batch: tuple[Integers, NDArray[np.int64]]) -> tuple[Any, int]:
        logits, targets = _predictions(model, *batch, place)
        return torch.nn.functional.cross_entropy(logits, targets, ignore_index=IGNORED), int(batch[1].sum())

    def figures() -> dict[str, Any]:
        judge = log_probabilities(model, tokenizer, recipe.length, place)
        return {name: preferences(judge, read(path)) for name, path in files(data, "dev").items()}

    return Training(model, tokenizer, batches(), loss, figures)


def subwords(texts: Mapping[str, None], size: int, length: int) -> Any:
    """A tokenizer of GPT-2's kind, byte-level BPE, learnt from the texts; it marks both ends of a text."""
    import transformers
    from tokenizers import ByteLevelBPETokenizer
    from tokenizers.processors import TemplateProcessing

    library: Any = transformers
    learner = ByteLevelBPETokenizer()
    learner.train_from_iterator(texts, vocab_size=size, min_frequency=2, special_tokens=[END], show_progress=False)
    backend = learner._tokenizer
    backend.post_processor = TemplateProcessing(
        single=f"{END} $A {END}", special_tokens=[(END, backend.token_to_id(END))]
    )
    return library.PreTrainedTokenizerFast(
        tokenizer_object=backend, bos_token=END, eos_token=END, pad_token=END, unk_token=END, model_max_length=length
    )


def log_probabilities(model: Any, tokenizer: Any, length: int, place: Any) -> Callable[[Sequence[str]], list[float]]:
    """A function from texts to their mean log-probability per token, the end mark included."""

    def judge(texts: Sequence[str]) -> list[float]:
        rows = tokenised(tokenizer, texts, length)
        found = np.zeros(len(texts))
        with torch.inference_mode(), autocast(place):
            for chosen in groups(rows.lengths, 16384, None):
                tokens, lengths = padded(rows, chosen, tokenizer.eos_token_id)
                logits, targets = _predictions(model, tokens, lengths, place)
                losses = torch.nn.functional.cross_entropy(logits, targets, ignore_index=IGNORED, reduction="none")
                sums = losses.view(len(chosen), -1).sum(1).cpu().numpy()
                found[chosen] = -sums / np.maximum(1, lengths - 1)
        return [float(value) for value in found]

    return judge


def _predictions(model: Any, tokens: Integers, lengths: NDArray[np.int64], place: Any) -> tuple[Any, Any]:
    """Logits of every place but the last, and what stands there next."""
    targets = np.where(np.arange(1, tokens.shape[1]) < lengths[:, None], tokens[:, 1:], IGNORED).astype(np.int64)
    inputs = torch.from_numpy(tokens[:, :-1].astype(np.int64)).to(place, non_blocking=True)
    logits = model(input_ids=inputs, use_cache=False).logits
    return logits.flatten(0, 1).float(), torch.from_numpy(targets).to(place, non_blocking=True).flatten()


def _model(recipe: CausalRecipe, tokenizer: Any) -> Any:
    import transformers

    library: Any = transformers
    shape = recipe.shape
    return library.GPT2LMHeadModel(
        library.GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=recipe.length,
            n_embd=shape.width,
            n_layer=shape.layers,
            n_head=shape.heads,
            n_inner=shape.feedforward,
            resid_pdrop=recipe.dropout,
            embd_pdrop=recipe.dropout,
            attn_pdrop=recipe.dropout,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            pad_token_id=tokenizer.pad_token_id,
        )
    )
