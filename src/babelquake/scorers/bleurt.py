"""BLEURT (Sellam et al. 2020; Pu et al. 2021) from the checkpoints of the PyTorch ports.

BLEURT-20 and its distilled D12, D6 and D3, and the BERT-based bleurt-base-128 family. `symmetric=true` is the mean of
both orders of reference and translation, as in Huang & Baldwin 2023, Appendix C.

BLEURT networks (Sellam et al. 2020; Pu et al. 2021) as the PyTorch ports keep them. `bleurt-*-128` and `-512` are BERT
with one output; BLEURT-20 and the distilled D12, D6 and D3 are RemBERT, whose embeddings are narrower than its layers.
The reference comes first, the candidate second. Pairs that are too long are cut as the TensorFlow code cuts them.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from babelquake.errors import UserError
from babelquake.limits import model_description
from babelquake.models.batching import Sheet
from babelquake.models.checkpoint import state
from babelquake.models.loading import Precision
from babelquake.models.sequence_reader import Joined, PairRegression
from babelquake.models.tokenizers import cut_pair, fast_tokenizer
from babelquake.paths import table_of_room
from babelquake.scorers.base import Array, PublishedScorer, Questions, best_reference, required

if TYPE_CHECKING:
    from torch import Tensor

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
FILES = ("config.json", "|".join(WEIGHTS))
PIECES = "spm.model"
SHAPE = (
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "max_position_embeddings",
    "type_vocab_size",
    "layer_norm_eps",
    "pad_token_id",
)


class Network(PairRegression):
    """A network that reads reference and candidate."""

    def __init__(self, folder: Path, precision: Precision, device: str) -> None:
        import torch
        import transformers

        config = model_description(folder / "config.json")
        if config.get("model_type") != "bleurt":
            raise UserError(
                f"{folder} is not a BLEURT checkpoint: its config.json says model_type '{config.get('model_type')}', "
                "expected 'bleurt'."
            )
        path = next(folder / name for name in WEIGHTS if (folder / name).is_file())
        weights = state(path)
        narrow = config.get("embedding_size")
        shape = {name: config[name] for name in SHAPE if name in config}
        library: Any = transformers
        if narrow is None:
            network = library.BertModel(library.BertConfig(**shape))
        else:
            network = library.RemBertModel(library.RemBertConfig(**shape, input_embedding_size=narrow))
        missing = network.load_state_dict(_renamed(weights), strict=False).missing_keys
        missing = [name for name in missing if not name.endswith(("position_ids", "token_type_ids"))]
        if missing or "classifier.weight" not in weights:
            raise UserError(f"{path} is not a BLEURT checkpoint: {(missing or ['classifier.weight'])[0]} is missing.")
        self.limit = int(config.get("max_position_embeddings", 512))
        self._network = self.ready(network, precision, device)
        self._weight = weights["classifier.weight"].to(device, torch.float32)
        self._bias = weights["classifier.bias"].to(device, torch.float32)
        self._tokenizer: Any = Pieces(folder / PIECES) if (folder / PIECES).is_file() else _wordpieces(folder)
        self._begin, self._end = (self._tokenizer.convert_tokens_to_ids(mark) for mark in ("[CLS]", "[SEP]"))

    def tokens_of(self, text: str) -> list[int]:
        return list(self._tokenizer(text, add_special_tokens=False, verbose=False)["input_ids"])

    def join(self, first: str, second: str, tokens: tuple[list[int], list[int]]) -> Joined:
        """[CLS] reference [SEP] candidate [SEP]."""
        a, b = cut_pair(*tokens, self.limit - 3)
        cut = len(a) + len(b) < len(tokens[0]) + len(tokens[1])
        return Joined([self._begin, *a, self._end, *b, self._end], len(a) + 2, cut)

    def outputs(self, sheet: Sheet) -> "Tensor":
        pooled = self.run_head(self._network, sheet).pooler_output.float()
        found: Tensor = (pooled @ self._weight.T + self._bias)[:, 0]
        return found


class Pieces:
    """BLEURT-20's SentencePiece model; marks that stand in the text itself are marks, as in the port's tokenizer."""

    marks = tuple(table_of_room("models", "tokenizers")["BertTokenizerFast"].values())
    pattern = re.compile("(" + "|".join(map(re.escape, marks)) + ")")

    def __init__(self, path: Path) -> None:
        import sentencepiece

        self._model = sentencepiece.SentencePieceProcessor(model_file=str(path))

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        """The text's pieces, under the name that transformers gives them."""
        found: list[int] = []
        for part in self.pattern.split(text):
            found += [self.convert_tokens_to_ids(part)] if part in self.marks else self._model.encode(part)
        return {"input_ids": found}

    def convert_tokens_to_ids(self, token: str) -> int:
        """A piece's number."""
        return int(self._model.piece_to_id(token))


def _wordpieces(folder: Path) -> Any:
    try:
        return fast_tokenizer(str(folder), "BertTokenizerFast")
    except (OSError, ValueError) as problem:
        raise UserError(
            f"{folder} has no vocabulary of BLEURT: expected {PIECES}, tokenizer.json or vocab.txt."
        ) from problem


def _renamed(weights: Mapping[str, Any]) -> dict[str, Any]:
    """The port's names as BERT and RemBERT have them in transformers."""
    return {
        name.removeprefix("bleurt.").replace("embedding_projection", "embedding_hidden_mapping_in"): value
        for name, value in weights.items()
        if name.startswith("bleurt.")
    }


class Bleurt(PublishedScorer[Network]):
    """A trained estimate of how well a translation says what the reference says; about 0 to 1, higher is better.

    `model` is a hub name (BLEURT-20-D12 is looked up among the ports) or a folder. With several references the best
    counts.
    """

    tells_sides_apart: ClassVar[bool] = True
    metric: ClassVar[str] = "bleurt"
    owner: ClassVar[str] = "lucadiliello"
    files: ClassVar[tuple[str, ...]] = FILES

    def __init__(
        self,
        model: str = "lucadiliello/BLEURT-20",
        symmetric: bool = False,
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        super().__init__(model, precision, device)
        self.symmetric = symmetric

    @property
    def special(self) -> Mapping[str, object]:
        return {"symmetric": "yes" if self.symmetric else None}

    def load(self, device: str) -> Network:
        return Network(self.checkpoint.folder, self.precision, device)

    def judge(self, questions: Questions) -> Array:
        with self.noting():
            return best_reference(questions, required(questions.references, self, "reference"), self._pairs)

    def _pairs(self, questions: Questions) -> Array:
        references = [some[0] for some in questions.references or []]
        scores = self.network.judge(references, questions.translations)
        if self.symmetric:
            scores = (scores + self.network.judge(questions.translations, references)) / 2
        return scores
