"""Train a learned metric: `babelquake train metric`, or `python -m babelquake.train metric` where only PyTorch,
transformers, NumPy and PyYAML are installed.

A cross-encoder reads reference and translation together and gives one number, as BLEURT does (Sellam et al. 2020). The
number comes from the first token (`pooling: first`, BERT's sequence classification with one output) or is the mean of
one number per token (`pooling: mean`, BERT's token classification with one output). The model learns the scores it is
shown: those of another metric, or people's.

A data folder holds `train*.tsv[.xz]` and perhaps `dev*.tsv`, one `reference<TAB>translation<TAB>score` a line.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.train.config import MetricRecipe
from babelquake.train.corpus import Integers, Ragged, opened, split_file
from babelquake.train.training import Training, autocast, endless, groups, padded, trains


@dataclass(frozen=True)
class Rated:
    """Pairs as token rows, where the second text of each row begins, the scores to learn, and whose reference it is."""

    rows: Ragged
    seconds: NDArray[np.int64]
    scores: NDArray[np.float64]
    sentences: NDArray[np.int64]
    """The number of each row's reference: rows of one number are translations of one sentence."""


Pairs = tuple[Integers, Integers, NDArray[np.int64], NDArray[np.float32], NDArray[np.int64]]
"""Tokens, which of the two texts each is of, lengths, wanted scores, and the number of the sentence in the batch."""


@trains("metric", MetricRecipe)
def train(recipe: MetricRecipe, data: Path, place: Any) -> Training:
    """Pairs whose standardised scores are to be foreseen, and their differences within a sentence."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(recipe.start, trust_remote_code=False)
    rated = _rated(tokenizer, split_file(data, "train"), recipe.length)
    mean, spread = float(rated.scores.mean()), float(rated.scores.std()) or 1.0
    model = _model(recipe).to(place)
    print(f"[{recipe.name}] {len(rated.rows)} pairs, {len(rated.rows.values)} tokens", flush=True)

    wanted = (rated.scores - mean) / spread
    scale = recipe.within / max(1e-6, float(within(wanted, rated.sentences).var()))
    members = np.argsort(rated.sentences, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(rated.sentences))])
    tokens = np.add.reduceat(rated.rows.lengths[members], bounds[:-1])

    def batches() -> Iterator[Pairs]:
        for some, _ in endless(tokens, recipe.batch_tokens, recipe.seed):
            chosen = np.concatenate([members[bounds[one] : bounds[one + 1]] for one in some])
            same = np.repeat(np.arange(len(some)), np.diff(bounds)[some])
            yield *_batch(rated, chosen, tokenizer), wanted[chosen].astype(np.float32), same

    def loss(batch: Pairs) -> tuple[Any, int]:
        target, same = (torch.from_numpy(array).to(place, non_blocking=True) for array in batch[3:])
        error = _scores(model, *batch[:3], place) - target
        count = torch.zeros(int(batch[4][-1]) + 1, device=place).index_add_(0, same, torch.ones_like(error))
        mean_error = torch.zeros_like(count).index_add_(0, same, error) / count
        return error.square().mean() + scale * (error - mean_error[same]).square().mean(), int(batch[2].sum())

    def figures() -> dict[str, Any]:
        with torch.no_grad():  # the model gives scores as they were shown, not standardised ones
            model.classifier.weight.mul_(spread)
            model.classifier.bias.mul_(spread).add_(mean)
        return {"dev": measured(model, tokenizer, data, recipe, place)} if list(data.glob("dev*.tsv*")) else {}

    return Training(model, tokenizer, batches(), loss, figures)


def measured(model: Any, tokenizer: Any, data: Path, recipe: MetricRecipe, place: Any) -> dict[str, Any]:
    """Pearson's r with the scores of held-out pairs, plain and less the mean of each sentence."""
    held = _rated(tokenizer, split_file(data, "dev"), recipe.length)
    given = predict(model, tokenizer, held, place)
    inside = _correlation(within(given, held.sentences), within(held.scores, held.sentences))
    return {
        "pairs": len(held.rows),
        "pearson": _correlation(given, held.scores),
        "pearson within sentences": inside,
    }


def within(scores: NDArray[np.float64], sentences: NDArray[np.int64]) -> NDArray[np.float64]:
    """Scores less the mean of their sentence."""
    return scores - (np.bincount(sentences, scores) / np.maximum(1, np.bincount(sentences)))[sentences]


def _correlation(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    return round(float(np.corrcoef(one, other)[0, 1]), 4)


def predict(model: Any, tokenizer: Any, rated: Rated, place: Any) -> NDArray[np.float64]:
    """The model's scores of pairs."""
    found = np.zeros(len(rated.rows))
    with torch.inference_mode(), autocast(place):
        for chosen in groups(rated.rows.lengths, 16384, None):
            found[chosen] = _scores(model, *_batch(rated, chosen, tokenizer), place).cpu().numpy()
    return found


def read_rated(path: Path) -> Iterator[tuple[str, str, float]]:
    """Reference, translation and score of each line."""
    with opened(path) as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip("\n"):
                continue
            try:
                reference, translation, score = line.split("\t")
                yield reference, translation, float(score)
            except ValueError:
                raise UserError(f"{path} line {number}: expected reference<TAB>translation<TAB>score.") from None


def pairs(tokenizer: Any, references: Sequence[str], translations: Sequence[str], scores: Any, length: int) -> Rated:
    """Pairs as the cross-encoder reads them: [CLS] reference [SEP] translation [SEP], the longer side cut first."""
    rows: list[list[int]] = []
    seconds: list[int] = []
    for start in range(0, len(references), 10000):
        part = slice(start, start + 10000)
        made = tokenizer(list(references[part]), list(translations[part]), truncation=True, max_length=length)
        rows += made["input_ids"]
        seconds += [kinds.index(1) if 1 in kinds else len(kinds) for kinds in made["token_type_ids"]]
    sentences = np.unique(np.array(references), return_inverse=True)[1].astype(np.int64)
    return Rated(Ragged.of(rows), np.array(seconds, np.int64), np.asarray(scores, np.float64), sentences)


def _rated(tokenizer: Any, path: Path, length: int) -> Rated:
    references, translations, scores = zip(*read_rated(path), strict=True)
    return pairs(tokenizer, references, translations, scores, length)


def _batch(rated: Rated, chosen: NDArray[np.int64], tokenizer: Any) -> tuple[Integers, Integers, NDArray[np.int64]]:
    tokens, lengths = padded(rated.rows, chosen, tokenizer.pad_token_id)
    columns = np.arange(tokens.shape[1])
    kinds = (columns >= rated.seconds[chosen][:, None]) & (columns < lengths[:, None])
    return tokens, kinds.astype(np.int32), lengths


def _scores(model: Any, tokens: Integers, kinds: Integers, lengths: NDArray[np.int64], place: Any) -> Any:
    attention = (np.arange(tokens.shape[1]) < lengths[:, None]).astype(np.int64)
    inputs, types, mask = (
        torch.from_numpy(array.astype(np.int64)).to(place, non_blocking=True) for array in (tokens, kinds, attention)
    )
    logits = model(input_ids=inputs, token_type_ids=types, attention_mask=mask).logits[..., 0].float()
    return logits if logits.ndim == 1 else (logits * mask).sum(1) / mask.sum(1)


def _model(recipe: MetricRecipe) -> Any:
    import transformers

    library: Any = transformers
    kind = library.BertForSequenceClassification if recipe.pooling == "first" else library.BertForTokenClassification
    return kind.from_pretrained(
        recipe.start,
        num_labels=1,
        dtype=torch.float32,
        hidden_dropout_prob=recipe.dropout,
        attention_probs_dropout_prob=recipe.dropout,
    )
