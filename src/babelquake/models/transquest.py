"""TransQuest networks (Ranasinghe et al. 2020): XLM-R that reads source and translation, together or each on its own.

MonoTransQuest has one output over the joined pair; trained on all language pairs at once it is Kanojia 2021's MultiTQ.
SiameseTransQuest compares the averaged token vectors of the two texts. `model_args.json` holds the longest input.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.limits import json_object, model_description
from babelquake.models.batching import Sheet
from babelquake.models.checkpoint import PublishedEncoder
from babelquake.models.loading import Precision, in_precision, loading
from babelquake.models.sequence_reader import Joined, PairRegression, Reader
from babelquake.models.tokenizers import cut_pair, fast_tokenizer
from babelquake.resource import halving

if TYPE_CHECKING:
    from torch import Tensor

FILES = ("config.json", "model.safetensors|pytorch_model.bin")
LONGEST = 128
"""Tokens that TransQuest reads where a checkpoint says nothing."""
ROBERTAS = {"roberta", "xlm-roberta", "camembert"}


def architecture(folder: Path) -> Literal["mono", "siamese"]:
    """Which of the two a checkpoint is, by the class it names."""
    config = model_description(folder / "config.json")
    named = (config.get("architectures") or [""])[0]
    if named.endswith("ForSequenceClassification"):
        outputs = len(config["id2label"]) if "id2label" in config else config.get("num_labels", 2)
        if outputs != 1:
            raise UserError(f"{folder} has {outputs} outputs: a MonoTransQuest checkpoint has one.")
        return "mono"
    if named.endswith("Model"):
        return "siamese"
    raise UserError(
        f"{folder} is not a TransQuest checkpoint: its config.json names '{named}', expected a model for sequence "
        "classification (Mono) or a bare encoder (Siamese)."
    )


class _Loaded:
    """What both architectures have: tokenizer, network, longest input."""

    def __init__(self, folder: Path, kind: str) -> None:
        import transformers

        config = model_description(folder / "config.json")
        self.roberta = config.get("model_type") in ROBERTAS
        try:
            with loading(folder.name):
                network = getattr(transformers, kind).from_pretrained(folder)
            kind = "XLMRobertaTokenizerFast" if self.roberta else "BertTokenizerFast"
            self.tokenizer = fast_tokenizer(str(folder), kind)
        except (OSError, ValueError, RuntimeError) as problem:
            raise UserError(f"{folder} cannot be loaded: {str(problem).strip().splitlines()[0]}") from problem
        self.network = network
        path = folder / "model_args.json"
        given = json_object(path) if path.is_file() else {}
        self.longest = int(given.get("max_seq_length", LONGEST))


class MonoTransQuest(PairRegression):
    """One number for source and translation read together."""

    def __init__(self, folder: Path, precision: Precision, device: str) -> None:
        self._loaded = _Loaded(folder, "AutoModelForSequenceClassification")
        self._network = self.ready(self._loaded.network, precision, device)
        self._tokenizer = self._loaded.tokenizer
        self.typed = not self._loaded.roberta
        self._begin, self._end = self._tokenizer.cls_token_id, self._tokenizer.sep_token_id

    def tokens_of(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def join(self, first: str, second: str, tokens: tuple[list[int], list[int]]) -> Joined:
        """`<s> source </s></s> translation </s>`; a translation without tokens leaves the source alone."""
        a, b = tokens
        separators = [self._end] * (2 if self._loaded.roberta else 1)
        marks = 2 + len(separators)
        if second:
            a, b = cut_pair(a, b, self._loaded.longest - marks)
        else:
            a = a[: self._loaded.longest - marks + 1]
        cut = len(a) + len(b) < len(tokens[0]) + len(tokens[1])
        if not b:
            return Joined([self._begin, *a, self._end], len(a) + 2, cut)
        return Joined([self._begin, *a, *separators, *b, self._end], len(a) + 2, cut)

    def outputs(self, sheet: Sheet) -> "Tensor":
        found: Tensor = self.run_head(self._network, sheet).logits[:, 0].float()
        return found


class SiameseTransQuest(Reader):
    """One vector per text: the mean over its tokens."""

    def __init__(self, folder: Path, precision: Precision, device: str) -> None:
        self._loaded = _Loaded(folder, "AutoModel")
        self.config, self.device = self._loaded.network.config, device
        self._network = in_precision(self._loaded.network, precision).eval().to(device)
        self.cut: list[str] = []

    def sentence_vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """The averaged last layer of each text, blanks at its ends left out."""
        tokenise: Any = self._loaded.tokenizer
        sequences = [list(tokenise(text.strip(), verbose=False)["input_ids"]) for text in texts]
        longest = self._loaded.longest
        self.cut += [text for text, ids in zip(texts, sequences, strict=True) if len(ids) > longest]
        sequences = [ids if len(ids) <= longest else [*ids[: longest - 1], ids[-1]] for ids in sequences]
        found = np.zeros((len(texts), self.config.hidden_size), dtype=np.float32)
        for places in self.batches(sequences):
            found[places] = halving(self._means, [sequences[place] for place in places])
        return found

    def _means(self, sequences: list[list[int]]) -> list[NDArray[np.float32]]:
        sheet = self.sheet(sequences)
        states = self.run(self._network, sheet).last_hidden_state.float()
        return [text.mean(0).cpu().numpy() for text in sheet.texts(states)]


class SiameseEncoder(PublishedEncoder[SiameseTransQuest]):
    """The mean of an XLM-R's token vectors, trained so that cosines follow human judgements."""

    metric = "transquest"
    owner = "TransQuest"
    files = FILES

    def load(self, device: str) -> SiameseTransQuest:
        return SiameseTransQuest(self.checkpoint.folder, self.precision, device)
