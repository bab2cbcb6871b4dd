"""Train a masked language model: `babelquake train mlm`, or `python -m babelquake.train.mlm` where only PyTorch,
transformers, NumPy and PyYAML are installed.

Two kinds. `units: subwords` takes a public encoder with its tokenizer, gives it BERT's prediction head with the output
matrix tied to the embeddings, and trains all weights. `units: bytes` trains the same architecture from scratch on the
numbers ByT5 gives to UTF-8 bytes (Xue et al. 2022), hiding whole words.

A data folder holds `train.NAME.txt[.xz]` and perhaps `dev.NAME.txt[.xz]`, one sentence a line.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.train.accents import disguise
from babelquake.train.batches import Masked, Masking, ahead, endless, groups, padded, repeated
from babelquake.train.corpus import Ragged
from babelquake.train.gpu_command import run_module
from babelquake.train.model_folder import store
from babelquake.train.recipes import MaskedRecipe, load
from babelquake.train.text_files import files, read, training_texts

BYTES = (3, 259)
"""ByT5's numbers of the 256 bytes; 0, 1 and 2 are padding, end and unknown, 259 the first sentinel: our mask."""
MEASURED_SEED = 20
"""The draw of the masked tokens in the figures, the same for every training."""


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

    `until` (seconds since the epoch) bounds the training by the time left when it begins, whatever the config says.
    """
    import torch

    from babelquake.train.loop import device_named, optimise

    recipe = load(MaskedRecipe, "mlm", config, **overrides)
    place = device_named(device)
    torch.manual_seed(recipe.seed)
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

    history = optimise(model, ahead(batches()), loss, recipe := recipe.until(until))
    figures = {name: measured(model, tokenizer, recipe, read(path), place) for name, path in files(data, "dev").items()}
    return store(out, "mlm", recipe, model, tokenizer, history, figures, data)


def encoded(tokenizer: Any, texts: Sequence[str], length: int) -> Ragged:
    """Texts as rows of token numbers, special tokens included; a long text is cut."""
    if hasattr(tokenizer, "backend_tokenizer"):
        rows: list[list[int]] = []
        for start in range(0, len(texts), 10000):
            part = list(texts[start : start + 10000])
            rows += tokenizer(part, truncation=True, max_length=length, return_attention_mask=False)["input_ids"]
        return Ragged.of(rows)
    parts = [np.frombuffer(text.encode("utf-8", "replace")[: length - 1], np.uint8) for text in texts]
    ends = np.full(1, tokenizer.eos_token_id, np.int32)
    values = np.concatenate([piece for part in parts for piece in (part.astype(np.int32) + BYTES[0], ends)])
    return Ragged(values, np.cumsum([0, *(len(part) + 1 for part in parts)], dtype=np.int64))


def measured(model: Any, tokenizer: Any, recipe: MaskedRecipe, texts: Sequence[str], place: Any) -> dict[str, Any]:
    """Accuracy and perplexity at the masked places of held-out texts; every place is masked, none shown or swapped."""
    import torch

    from babelquake.train.loop import autocast

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
    import torch

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
    import torch
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


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line for machines with little installed."""
    run_module("mlm", train, arguments)


if __name__ == "__main__":
    main()
