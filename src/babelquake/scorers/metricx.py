"""MetricX-23 and MetricX-24 (Juraska et al. 2023, 2024): mT5 that predicts an MQM error score from 0 to 25.

MetricX-23 reads the reference, its QE models the source; MetricX-24 is hybrid and reads the source with or without a
reference. Which of the two years a checkpoint is decides how its input is written, and is taken from its name.

MetricX networks (Juraska et al. 2023, 2024): mT5 that predicts an MQM error score in one decoder step. The score is the
logit of the token `<extra_id_10>` after the begin token, kept between 0 (no errors) and 25.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.limits import model_description
from babelquake.models.batching import Block, equal
from babelquake.models.loading import Precision, in_precision, loading
from babelquake.models.tokenizers import fast_tokenizer
from babelquake.resource import halving
from babelquake.scorers.base import Array, PublishedScorer, Questions, best_reference, required

FILES = ("config.json",)
OUTPUT = 250089
"""The number of `<extra_id_10>` in mT5's vocabulary."""
WORST = 25.0


class Network:
    """An encoder-decoder with one output."""

    def __init__(self, folder: Path, vocabulary: str, longest: int, precision: Precision, device: str) -> None:
        import transformers

        try:
            config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False)
            if config.model_type != "mt5":
                raise UserError(f"{folder} is not a MetricX checkpoint: its type is '{config.model_type}', not mt5.")
            written = model_description(folder / "config.json")
            config.tie_word_embeddings = bool(written.get("tie_word_embeddings", False))  # mT5's default, as trained
            kind: Any = transformers.MT5ForConditionalGeneration
            with loading(folder.name):
                network = kind.from_pretrained(folder, config=config, dtype="float32")
        except (OSError, ValueError, RuntimeError) as problem:
            raise UserError(f"{folder} cannot be loaded: {str(problem).strip().splitlines()[0]}") from problem
        if network.config.vocab_size <= OUTPUT:
            raise UserError(f"{folder} is not a MetricX checkpoint: its vocabulary has no token {OUTPUT}.")
        try:
            self._tokenizer = fast_tokenizer(vocabulary, "T5TokenizerFast")
        except (OSError, ValueError) as problem:
            raise UserError(
                f"the tokenizer '{vocabulary}' of MetricX cannot be loaded: {str(problem).strip().splitlines()[0]} "
                "Where there is no hub, name a folder with it: metricx[model=FOLDER,tokenizer=FOLDER]."
            ) from problem
        network.encoder.embed_tokens = network.decoder.embed_tokens = (
            network.shared
        )  # one matrix, written once or thrice
        self.device, self.longest = device, longest
        self._output = network.lm_head.weight[OUTPUT].detach().float().clone().to(device)
        if network.config.tie_word_embeddings:
            self._output = self._output * network.config.d_model**-0.5
        self._encoder = in_precision(network.encoder, precision).eval().to(device)
        self._decoder = in_precision(network.decoder, precision).eval().to(device)
        self.cut: list[str] = []

    def judge(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """The error score of each text, which names its parts: `candidate: … reference: …`."""
        sequences = [list(self._tokenizer(text, verbose=False)["input_ids"]) for text in texts]
        self.cut += [text for text, ids in zip(texts, sequences, strict=True) if len(ids) > self.longest]
        sequences = [ids[: min(len(ids), self.longest) - 1] for ids in sequences]  # without the end mark
        found = np.zeros(len(texts))
        for places in equal(sequences, self.device):
            found[places] = halving(self._scores, [sequences[place] for place in places])
        return found

    def _scores(self, sequences: list[list[int]]) -> list[float]:
        import torch

        inputs = Block.of(sequences, self.device).inputs
        with torch.inference_mode():
            encoded = self._encoder(**inputs).last_hidden_state
            decoded = self._decoder(
                input_ids=torch.zeros((len(encoded), 1), dtype=torch.long, device=self.device),
                encoder_hidden_states=encoded,
                encoder_attention_mask=inputs["attention_mask"],
            ).last_hidden_state
            scores = decoded[:, 0].float() @ self._output
        found: list[float] = scores.clamp(0, WORST).double()[: len(sequences)].tolist()
        return found


LONGEST = {23: 1024, 24: 1536}
"""Tokens that each year's models were trained on."""


class MetricX(PublishedScorer[Network]):
    """Predicted MQM error score, 0 without errors to 25: lower is better.

    `inputs=source` judges without references (MetricX-23-QE, MetricX-24); `tokenizer` is a hub name or a folder.
    """

    tells_sides_apart: ClassVar[bool] = True
    metric: ClassVar[str] = "metricx"
    owner: ClassVar[str] = "google"
    files: ClassVar[tuple[str, ...]] = FILES
    needs: ClassVar[frozenset[str]] = frozenset({"source", "reference"})
    higher_is_better: ClassVar[bool] = False

    def __init__(
        self,
        model: str = "google/metricx-24-hybrid-large-v2p6",
        inputs: Literal["all", "source"] = "all",
        tokenizer: str = "google/mt5-large",
        year: Literal["name", "23", "24"] = "name",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        super().__init__(model, precision, device)
        self.year = _year(self.checkpoint.name) if year == "name" else int(year)
        self.qe = inputs == "source" or "-qe-" in f"-{self.checkpoint.name.lower()}-"
        self._tokenizer = tokenizer
        reads = {"source"} if self.qe else {"reference"} if self.year == 23 else {"source", "reference"}
        self.needs = frozenset(reads)  # type: ignore[misc]  # the model decides

    @property
    def special(self) -> Mapping[str, object]:
        return {"year": self.year, "inputs": "+".join(sorted(self.needs))}

    def load(self, device: str) -> Network:
        return Network(self.checkpoint.folder, self._tokenizer, LONGEST[self.year], self.precision, device)

    def judge(self, questions: Questions) -> Array:
        """One error score per segment; with several references the lowest counts."""
        with self.noting():
            if "reference" not in self.needs:
                return self._read(questions)
            references = required(questions.references, self, "reference")
            return best_reference(questions, references, self._read, best=np.min)

    def _read(self, questions: Questions) -> Array:
        return self.network.judge([self.written(questions, row) for row in range(len(questions))])

    def written(self, questions: Questions, row: int) -> str:
        """A segment as the year's models read it."""
        parts = {"candidate": questions.translations[row]}
        if "source" in self.needs:
            parts["source"] = required(questions.sources, self, "source")[row]
        if "reference" in self.needs:
            parts["reference"] = required(questions.references, self, "reference")[row][0]
        order = ("candidate", "reference", "source") if self.year == 23 else ("source", "candidate", "reference")
        return " ".join(f"{name}: {parts[name]}" for name in order if name in parts)


def _year(name: str) -> int:
    for year in LONGEST:
        if f"metricx-{year}" in name.lower():
            return year
    raise UserError(f"whether '{name}' is a MetricX-23 or -24 is not in its name: say metricx[model=…,year=24].")
