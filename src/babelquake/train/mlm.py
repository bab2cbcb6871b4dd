"""Train a masked language model: `babelquake train mlm`, or `python -m babelquake.train mlm` where only PyTorch,
transformers, NumPy and PyYAML are installed.

Two kinds. `units: subwords` takes a public encoder with its tokenizer, gives it BERT's prediction head with the output
matrix tied to the embeddings, and trains all weights. `units: bytes` trains the same architecture from scratch on the
numbers ByT5 gives to UTF-8 bytes (Xue et al. 2022), hiding whole words.

A data folder holds `train.NAME.txt[.xz]` and perhaps `dev.NAME.txt[.xz]`, one sentence a line.

Letters in disguise, to train a byte encoder that has no normaliser: é, ᵉ, Ⓔ and ḝ for e. A subword encoder takes
accents off before it looks at a text; what reads bytes must learn to see through them. The disguises of a letter are
those of the Unicode database: characters that decompose to it (NFKD), and Latin letters that are named after it.
Nothing here comes from the perturbations' tables.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from babelquake.train.config import MaskedRecipe
from babelquake.train.corpus import Integers, Ragged
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


@dataclass(frozen=True)
class Masked:
    """Tokens with some of them hidden: `positions` are places in the flattened batch, `targets` what stood there."""

    tokens: Integers
    attention: NDArray[np.bool_]
    positions: NDArray[np.int64]
    targets: NDArray[np.int64]


@dataclass(frozen=True)
class Masking:
    """How tokens are hidden (Devlin et al. 2019, §3.1): 80 % of the chosen become `mask`, 10 % a random token.

    A unit is a token, or, where `space` is given, a run of tokens up to the next `space`. Tokens below `ordinary[0]` or
    from `ordinary[1]` on are special: never chosen, never drawn.
    """

    mask: int
    ordinary: tuple[int, int]
    share: float = 0.15
    space: int | None = None
    always: bool = False
    """Every chosen token becomes the mask: how accuracy is measured."""

    def apply(self, tokens: Integers, lengths: NDArray[np.int64], rng: np.random.Generator) -> Masked:
        """Hide a share of the units of a padded batch."""
        attention = np.arange(tokens.shape[1]) < lengths[:, None]
        open_ = attention & (tokens >= self.ordinary[0]) & (tokens < self.ordinary[1])
        units = np.arange(tokens.size).reshape(tokens.shape)
        if self.space is not None:
            starts = tokens == self.space
            starts[:, 0] = True
            open_ &= tokens != self.space
            units = np.cumsum(starts.ravel()).reshape(tokens.shape) - 1
        count = int(units.max()) + 1
        chosen = open_ & (rng.random(count) < self.share)[units]
        fate = rng.random(count)[units]
        hidden = tokens.copy()
        masks = chosen & (fate < 0.8) if not self.always else chosen
        hidden[masks] = self.mask
        if not self.always:
            randoms = chosen & (fate >= 0.9)
            hidden[randoms] = rng.integers(*self.ordinary, size=int(randoms.sum()), dtype=np.int32)
        positions = np.flatnonzero(chosen)
        return Masked(hidden, attention, positions, tokens.ravel()[positions].astype(np.int64))


NAMED = re.compile(
    r"LATIN (?:SMALL |CAPITAL |LETTER |SUBSCRIPT |MODIFIER |TURNED |REVERSED |OPEN )+([A-Z])(?: WITH .*)?"
)
LAST = 0xFFFF
MOST = 3
"""Bytes of the longest disguise: UTF-8 needs no more below U+10000."""
STRONGEST = 0.4
"""The share of a text's letters that are disguised is drawn between none and this."""


@dataclass(frozen=True)
class Table:
    """The disguises of the 256 bytes: `codes[byte, i]` holds UTF-8 bytes, `sizes[byte, i]` how many; `counts[byte]`."""

    codes: Integers
    sizes: NDArray[np.int64]
    counts: NDArray[np.int64]


@cache
def disguises() -> Table:
    """Every disguise of the ASCII letters, whichever case the disguise has."""
    found: dict[str, list[bytes]] = {}
    for number in range(0x80, LAST + 1):
        if letter := disguised(chr(number)):
            found.setdefault(letter, []).append(chr(number).encode("utf-8"))
    most = max(len(codes) for codes in found.values())
    codes = np.zeros((256, most, MOST), np.int32)
    sizes, counts = np.ones((256, most), np.int64), np.zeros(256, np.int64)
    for letter, some in found.items():
        for byte in (ord(letter), ord(letter.upper())):
            counts[byte] = len(some)
            for place, code in enumerate(some):
                codes[byte, place, : len(code)] = list(code)
                sizes[byte, place] = len(code)
    return Table(codes, sizes, counts)


def disguised(character: str) -> str | None:
    """The lower-case letter that a character stands for, if it stands for one."""
    if unicodedata.category(character)[0] not in "LS":
        return None
    letters = [part for part in unicodedata.normalize("NFKD", character) if part.isalpha()]
    if len(letters) == 1 and letters[0].isascii():
        return letters[0].lower()
    named = NAMED.fullmatch(unicodedata.name(character, ""))
    return named[1].lower() if named else None


def disguise(batch: Masked, share: float, first: int, width: int, rng: np.random.Generator) -> Masked:
    """Disguise letters in a share of the rows; at each, the letter itself is to be guessed. Rows are cut at `width`.

    `first` is the token number of byte 0. What is hidden already stays as it is.
    """
    table = disguises()
    tokens, attention = batch.tokens, batch.attention
    bytes_ = np.clip(tokens - first, 0, 255)
    rate = np.where(rng.random(len(tokens)) < share, rng.random(len(tokens)) * STRONGEST, 0.0)
    chosen = attention & (tokens >= first) & (tokens < first + 256) & (table.counts[bytes_] > 0)
    chosen &= rng.random(tokens.shape) < rate[:, None]
    chosen.ravel()[batch.positions] = False
    which = (rng.random(tokens.shape) * table.counts[bytes_]).astype(np.int64)
    sizes = np.where(attention, np.where(chosen, table.sizes[bytes_, which], 1), 0)
    starts = np.cumsum(sizes, axis=1) - sizes
    lengths = np.minimum(sizes.sum(1), width)
    made = np.zeros((len(tokens), -(-int(lengths.max()) // 8) * 8), np.int32)
    rows, columns = np.nonzero(attention)
    for offset in range(MOST):
        here = sizes[rows, columns] > offset
        row, column = rows[here], columns[here]
        target = starts[row, column] + offset
        fits = target < made.shape[1]
        row, column, target = row[fits], column[fits], target[fits]
        code = table.codes[bytes_[row, column], which[row, column], offset] + first
        made[row, target] = np.where(chosen[row, column], code, tokens[row, column])
    places = np.concatenate([batch.positions, np.flatnonzero(chosen)])
    targets = np.concatenate([batch.targets, tokens[chosen].astype(np.int64)])
    row, start = places // tokens.shape[1], starts.ravel()[places]
    kept = start < lengths[row]
    positions = row[kept] * made.shape[1] + start[kept]
    return Masked(made, np.arange(made.shape[1]) < lengths[:, None], positions, targets[kept])


BYTES = (3, 259)
"""ByT5's numbers of the 256 bytes; 0, 1 and 2 are padding, end and unknown, 259 the first sentinel: our mask."""
MEASURED_SEED = 20
"""The draw of the masked tokens in the figures, the same for every training."""


@trains("mlm", MaskedRecipe)
def train(recipe: MaskedRecipe, data: Path, place: Any) -> Training:
    """Texts with some of their units hidden, which are to be guessed."""
    tokenizer = _tokenizer(recipe)
    model = _model(recipe, tokenizer).to(place)
    texts, times = training_texts(data, recipe.passes, recipe.join, recipe.seed)
    rows = repeated(encoded(tokenizer, texts, recipe.length), times)
    print(f"[{recipe.name}] {len(rows)} texts, {len(rows.values)} tokens", flush=True)
    masking = _masking(recipe, tokenizer)

    def batches() -> Iterator[Masked]:
        for chosen, rng in endless(rows.lengths, recipe.batch_tokens, recipe.seed):
            batch = masking.apply(*padded(rows, chosen, tokenizer.pad_token_id), rng)
            yield disguise(batch, recipe.accents, BYTES[0], recipe.length, rng) if recipe.accents else batch

    def loss(batch: Masked) -> tuple[Any, int]:
        logits = _logits(model, batch, place)
        targets = torch.from_numpy(batch.targets).to(place, non_blocking=True)
        return torch.nn.functional.cross_entropy(logits.float(), targets), int(batch.attention.sum())

    def figures() -> dict[str, Any]:
        held = files(data, "dev").items()
        return {name: measured(model, tokenizer, recipe, read(path), place) for name, path in held}

    return Training(model, tokenizer, batches(), loss, figures)


def encoded(tokenizer: Any, texts: Sequence[str], length: int) -> Ragged:
    """Texts as rows of token numbers, special tokens included; a long text is cut."""
    if hasattr(tokenizer, "backend_tokenizer"):
        return tokenised(tokenizer, texts, length)
    parts = [np.frombuffer(text.encode("utf-8", "replace")[: length - 1], np.uint8) for text in texts]
    ends = np.full(1, tokenizer.eos_token_id, np.int32)
    values = np.concatenate([piece for part in parts for piece in (part.astype(np.int32) + BYTES[0], ends)])
    return Ragged(values, np.cumsum([0, *(len(part) + 1 for part in parts)], dtype=np.int64))


def measured(model: Any, tokenizer: Any, recipe: MaskedRecipe, texts: Sequence[str], place: Any) -> dict[str, Any]:
    """Accuracy and perplexity at the masked places of held-out texts; every place is masked, none shown or swapped."""
    rows = encoded(tokenizer, texts, recipe.length)
    masking = _masking(recipe, tokenizer, always=True)
    rng = np.random.default_rng(MEASURED_SEED)
    right, total, loss = 0, 0, 0.0
    with torch.inference_mode(), autocast(place):
        for chosen in groups(rows.lengths, 16384, None):
            batch = masking.apply(*padded(rows, chosen, tokenizer.pad_token_id), rng)
            if not len(batch.targets):
                continue
            logits = _logits(model, batch, place).float()
            targets = torch.from_numpy(batch.targets).to(place)
            right += int((logits.argmax(-1) == targets).sum())
            loss += float(torch.nn.functional.cross_entropy(logits, targets, reduction="sum"))
            total += len(targets)
    perplexity = float(np.exp(loss / max(1, total)))
    return {"masked": total, "accuracy": round(right / max(1, total), 4), "perplexity": round(perplexity, 2)}


def _logits(model: Any, batch: Masked, place: Any) -> Any:
    """Predictions at the hidden places alone: the output matrix is most of the work, and the rest would be unused."""
    tokens, attention, positions = (
        torch.from_numpy(array).to(place, non_blocking=True)
        for array in (batch.tokens.astype(np.int64), batch.attention.astype(np.int64), batch.positions)
    )
    hidden = model.bert(input_ids=tokens, attention_mask=attention).last_hidden_state
    return model.cls(hidden.flatten(0, 1)[positions])


def _masking(recipe: MaskedRecipe, tokenizer: Any, always: bool = False) -> Masking:
    if recipe.units == "bytes":
        return Masking(BYTES[1], BYTES, recipe.share, space=ord(" ") + BYTES[0], always=always)
    first = max(tokenizer.all_special_ids) + 1
    return Masking(tokenizer.mask_token_id, (first, len(tokenizer)), recipe.share, always=always)


def _tokenizer(recipe: MaskedRecipe) -> Any:
    from transformers import AutoTokenizer, ByT5Tokenizer

    if recipe.units == "bytes":
        tokenizer: Any = ByT5Tokenizer(extra_ids=1, model_max_length=recipe.length)
        tokenizer.mask_token = "<extra_id_0>"  # noqa: S105  # a token, no password
        return tokenizer
    return AutoTokenizer.from_pretrained(recipe.start, trust_remote_code=False)


def _model(recipe: MaskedRecipe, tokenizer: Any) -> Any:
    import transformers

    library: Any = transformers
    dropouts = {"hidden_dropout_prob": recipe.dropout, "attention_probs_dropout_prob": recipe.dropout}
    if recipe.units == "subwords":
        return library.BertForMaskedLM.from_pretrained(recipe.start, dtype=torch.float32, **dropouts)
    shape = recipe.shape
    return library.BertForMaskedLM(
        library.BertConfig(
            vocab_size=BYTES[1] + 1,
            hidden_size=shape.width,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            intermediate_size=shape.feedforward,
            max_position_embeddings=recipe.length,
            type_vocab_size=1,
            pad_token_id=tokenizer.pad_token_id,
            **dropouts,
        )
    )
