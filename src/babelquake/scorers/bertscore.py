"""BERTScore (Zhang et al. 2020): greedy matching of contextual token vectors by cosine, equal to bert-score's.

Precision is the mean over the translation's tokens of the best cosine with any token of the reference, recall the
mean over the reference's, F their harmonic mean. Tokens that begin and end a text match but have no weight. With
several references the best counts. `layer=best` is the published layer of each encoder, `first` the one that Vu 2022
found to be the most robust, `mean` the mean of the scores over all layers, the embeddings included (what Vu's authors
ran), and `mean-embeddings` the score of the mean vectors (what the paper's text says).
"""

import csv
import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from importlib.resources import files
from itertools import islice
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from babelquake.callee import Limits
from babelquake.errors import UserError
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Encoding, Matrix, Vectors
from babelquake.models.encoders import TransformerEncoder
from babelquake.models.shipped import card, shipped
from babelquake.models.transformer import Precision
from babelquake.runs.signature import signature
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.scorers.matching import PRF, Side, match
from babelquake.spec import Spec

if TYPE_CHECKING:
    import polars as pl

OUTPUTS = {"P": 0, "R": 1, "F": 2}
WORDS = ("best", "first", "last", "mean", "mean-embeddings")


class BertScore(VectorScorer):
    """F, precision or recall of greedily matched token vectors, up to 1 (unrelated sentences are far from 0).

    `idf=true` weighs tokens by their rarity in the references of the data (in Python without a data set: of the call),
    `idf=FILE` in the lines of a file. `rescale=true` uses the published baseline of English, `rescale=FILE` a table
    with the columns LAYER,P,R,F.
    """

    extra: ClassVar[str | None] = "neural"
    ships: ClassVar[str | None] = "minilm-en"
    perfect: ClassVar[float | None] = 1.0

    def __init__(
        self,
        model: str = "roberta-large",
        layer: str = "best",
        idf: str = "false",
        rescale: str = "false",
        output: Literal["F", "P", "R"] = "F",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        if layer not in WORDS and not layer.isdecimal():
            raise UserError(f"bertscore[layer={layer}]: expected a number, {', '.join(WORDS[:-1])} or {WORDS[-1]}.")
        found = encoder_named(Spec(model), precision=precision, device=device, instead=f"bertscore[model={self.ships}]")
        if not isinstance(found, TransformerEncoder):
            raise UserError(f"bertscore[model={model}] needs one vector per token; this encoder has one per text.")
        self.encoder = found
        self.layer = layer
        self.output = output
        self._idf_said = idf
        self._rescale_said = rescale
        self._weights: dict[int, float] | None = None
        self._rarest = 1.0
        self._idf_content: str | None = None
        if idf not in ("true", "false"):
            self._weigh(_lines(idf))

    @property
    def described(self) -> str:
        """The name with the model's own name, not the path to it."""
        options = dict(self.spec.options)
        if "model" in options:
            options["model"] = self.encoder.core.checkpoint.name
        return str(Spec(self.spec.name, tuple(options.items())))

    @cached_property
    def layers(self) -> tuple[int, ...]:
        """The layers that are looked at."""
        last = self.encoder.depth
        match self.layer:
            case "best":
                return (self._best(),)
            case "first":
                return (min(1, last),)
            case "last":
                return (last,)
            case "mean" | "mean-embeddings":
                return tuple(range(last + 1))
        if int(self.layer) > last:
            raise UserError(f"{self.name}: {self.encoder.core.checkpoint.name} has layers 0 to {last}.")
        return (int(self.layer),)

    @property
    def signature(self) -> str:
        """Encoder with content, layer, weights, baseline, and what is given of P, R and F."""
        layer = self.layer if self.layer.startswith("mean") else str(self.layers[0])
        idf = None if self._idf_said == "false" else self._idf_content or "of the data"
        baseline = None if self.baseline is None else ",".join(f"{value:.7g}" for value in self.baseline)
        return signature(
            "bertscore", self.encoder.signature, layer=layer, idf=idf, baseline=baseline, output=self.output
        )

    @property
    def limits(self) -> Limits:
        """Enough questions at once for the encoder to fill its rows."""
        return Limits(texts=512)

    def encoders(self) -> tuple[Wanted, ...]:
        """One encoder, with the layers that the option names."""
        return (Wanted(self.encoder, self.layers),)

    def attach(self, segments: "pl.DataFrame") -> Array | None:
        """Weigh tokens by the references of the data set, each distinct one counted once."""
        if self._idf_said == "true":
            references = segments["references"].explode().drop_nulls().unique(maintain_order=True)
            self._weigh(references.to_list())
        return None

    def prepare(self, questions: Questions) -> None:
        """Without a data set, weigh tokens by the references of this call, as bert-score does."""
        if self._idf_said == "true" and (self._weights is None or self._of_a_call):
            self._weigh([text for some in questions.references or [] for text in some])
            self._of_a_call = True

    def texts(self, questions: Questions) -> list[str]:
        """The distinct texts as the encoder reads them."""
        return list(dict.fromkeys(map(self._read, questions.texts(self.needs))))

    def judge(self, questions: Questions) -> Array:
        """Scores without an engine."""
        self.prepare(questions)
        return super().judge(questions)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """One score per segment: the best over its references."""
        given = required(questions.references, self, "reference")
        if self._idf_said == "true" and self._weights is None:
            raise UserError(f"{self.name}: idf weights of the data do not travel to other processes. Use idf=FILE.")
        sides: dict[str, Side] = {}
        pairs = [
            (self._side(translation, vectors[0], sides), self._side(text, vectors[0], sides))
            for translation, references in zip(questions.translations, given, strict=True)
            for text in references
        ]
        scores = iter(map(self._score, match(pairs, self.encoder.core.device)))
        return np.array([max(islice(scores, len(references))) for references in given], dtype=np.float64)

    @cached_property
    def baseline(self) -> PRF | None:
        """What unrelated sentences score, in precision, recall and F."""
        if self._rescale_said == "false":
            return None
        if len(self.layers) > 1:
            raise UserError(f"{self.name}: there is no baseline for a mean of layers; use rescale=false.")
        if self._rescale_said != "true":
            return _baseline_of(self._rescale_said, self.layers[0])
        known: dict[str, list[float]] = _facts()["baselines"]
        published = _lookup(known, self.encoder.core.checkpoint.name)
        best = _lookup(_facts()["layers"], self.encoder.core.checkpoint.name)
        if published is None or best != self.layers[0]:
            raise UserError(
                f"{self.name}: no baseline is published for layer {self.layers[0]} of "
                f"{self.encoder.core.checkpoint.name}. Use rescale=FILE with the columns LAYER,P,R,F."
            )
        return published[0], published[1], published[2]

    _of_a_call = False

    def _best(self) -> int:
        name = self.encoder.core.checkpoint.name
        found = _lookup(_facts()["layers"], name)
        if found is None and name in shipped():
            found = card(name).get("best_layer", self.encoder.depth)
        if found is None:
            raise UserError(
                f"no best layer is published for {name}: say which with bertscore[model=…,layer=N] "
                f"(0 to {self.encoder.depth}), or layer=first, last or mean."
            )
        return int(found)

    def _read(self, text: str) -> str:
        """A text as bert-score gives it to a tokenizer: trimmed, and with a space in front where that matters."""
        trimmed = text.strip()
        return f" {trimmed}" if trimmed and self.encoder.spaced else trimmed

    def _side(self, text: str, vectors: Vectors, known: dict[str, Side]) -> Side:
        if text not in known:
            encoding = vectors[self._read(text)]
            known[text] = Side(self._matrices(encoding), self._weights_of(encoding))
        return known[text]

    def _matrices(self, encoding: Encoding) -> list[Matrix]:
        layers = [encoding.layers[layer] for layer in self.layers]
        return [np.mean(layers, axis=0)] if self.layer == "mean-embeddings" else layers

    def _weights_of(self, encoding: Encoding) -> Array:
        if self._weights is not None:
            return np.array([self._weights.get(number, self._rarest) for number in encoding.ids.tolist()])
        weights = np.ones(len(encoding.ids))
        for number in self.encoder.ends:
            weights[encoding.ids == number] = 0.0
        return weights

    def _score(self, found: list[PRF]) -> float:
        place = OUTPUTS[self.output]
        values = [one[place] for one in found]
        if self.baseline is not None:
            base = self.baseline[place]
            values = [(value - base) / (1 - base) for value in values]
        return sum(values) / len(values)

    def _weigh(self, texts: Sequence[str]) -> None:
        """Inverse document frequency of every token: log((N + 1) / (n + 1))."""
        read = [self._read(text) for text in texts]
        counts: dict[int, int] = {}
        for tokens in self.encoder.core.tokenised(read)[0]:
            for number in set(tokens):
                counts[number] = counts.get(number, 0) + 1
        whole = len(texts) + 1
        self._rarest = log(whole)
        self._weights = {number: log(whole / (count + 1)) for number, count in counts.items()}
        state = hashlib.sha256()
        for text in read:
            state.update(text.encode("utf-8", "surrogatepass") + b"\n")
        self._idf_content = state.hexdigest()[:12]


@lru_cache(maxsize=1)
def _facts() -> dict[str, Any]:
    import yaml

    found: dict[str, Any] = yaml.safe_load((files("babelquake.scorers") / "bertscore.yaml").read_text("utf-8"))
    return found


def _lookup(table: dict[str, Any], name: str) -> Any:
    """What is known of an encoder, by its hub name or by that name's last part, as a folder is called."""
    if name in table:
        return table[name]
    return next((value for known, value in table.items() if known.rpartition("/")[2] == name), None)


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError(f"bertscore[idf={file}]: expected true, false or a file of references ({problem}).") from None


def _baseline_of(file: str, layer: int) -> PRF:
    try:
        with Path(file).open(encoding="utf-8", newline="") as stream:
            rows: Iterable[dict[str, str]] = csv.DictReader(stream)
            found = {int(row["LAYER"]): (float(row["P"]), float(row["R"]), float(row["F"])) for row in rows}
        return found[layer]
    except (OSError, UnicodeDecodeError, KeyError, ValueError, TypeError) as problem:
        raise UserError(
            f"bertscore[rescale={file}]: expected true, false or a table LAYER,P,R,F with a row for layer {layer} "
            f"({type(problem).__name__}: {problem})."
        ) from None
