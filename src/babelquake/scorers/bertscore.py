"""BERTScore (Zhang et al. 2020): greedy matching of contextual token vectors by cosine, equal to bert-score's.

Precision is the mean over the translation's tokens of the best cosine with any token of the reference, recall the
mean over the reference's, F their harmonic mean. Tokens that begin and end a text match but have no weight. With
several references the best counts. `layer=best` is the published layer of each encoder, `first` the one that Vu 2022
found to be the most robust, `mean` the mean of the scores over all layers, the embeddings included (what Vu's authors
ran), and `mean-embeddings` the score of the mean vectors (what the paper's text says).
"""

import hashlib
from collections.abc import Hashable, Sequence
from functools import cached_property
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Encoding, Vectors
from babelquake.models.device_vectors import rows_of
from babelquake.models.encoders import TransformerEncoder
from babelquake.models.shipped import card, shipped
from babelquake.models.transformer import Precision
from babelquake.paths import table_of_room
from babelquake.resource import Limits
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required
from babelquake.scorers.matching import Side, match, shares
from babelquake.scorers.published_scorer import shown
from babelquake.spec import Spec, signature

if TYPE_CHECKING:
    import polars as pl
import csv
from collections.abc import Iterable

PRF = tuple[float, float, float]
"""Precision, recall and F."""


def published_layer(encoder: str) -> int | None:
    """The layer that bert-score takes for an encoder."""
    found: int | None = _lookup(table_of_room("scorers", "bertscore")["layers"], encoder)
    return found


def published_baseline(encoder: str, layer: int) -> PRF | None:
    """The baseline of English, which is published for the best layer alone."""
    found = _lookup(table_of_room("scorers", "bertscore")["baselines"], encoder)
    return None if found is None or published_layer(encoder) != layer else (found[0], found[1], found[2])


def baseline_in(file: str, layer: int) -> PRF:
    """The baseline of a layer in a table with the columns LAYER,P,R,F."""
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


def _lookup(table: dict[str, Any], name: str) -> Any:
    """What is known of an encoder, by its hub name or by that name's last part, as a folder is called."""
    if name in table:
        return table[name]
    return next((value for known, value in table.items() if known.rpartition("/")[2] == name), None)


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

    limits = Limits(texts=512)
    """Enough questions at once for the encoder to fill its rows."""

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
        return shown(self.spec, self.encoder.core.checkpoint)

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
                return self.encoder.all_layers
        if int(self.layer) > last:
            raise UserError(f"{self.name}: {self.encoder.core.checkpoint.name} has layers 0 to {last}.")
        return (int(self.layer),)

    @property
    def signature(self) -> str:
        layer = self.layer if self.layer.startswith("mean") else str(self.layers[0])
        layer += ", last normalised" if min(self.layers) < 0 else ""
        idf = None if self._idf_said == "false" else self._idf_content or "of the data"
        baseline = None if self.baseline is None else ",".join(f"{value:.7g}" for value in self.baseline)
        return signature(
            "bertscore", self.encoder.signature, layer=layer, idf=idf, baseline=baseline, output=self.output
        )

    def encoders(self) -> tuple[Wanted, ...]:
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
        self.prepare(questions)
        return super().judge(questions)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        """One score per segment: the best over its references."""
        (scores,) = self.compare_all([self], questions, vectors)
        return scores

    @property
    def kin(self) -> Hashable:
        """BERTScores of one encoder that weigh tokens alike match texts once, in all their views."""
        return self.encoder.signature, self._idf_said, self._idf_content

    def compare_all(
        self, kin: "Sequence[VectorScorer]", questions: Questions, vectors: tuple[Vectors, ...]
    ) -> list[Array]:
        given = required(questions.references, self, "reference")
        if self._idf_said == "true" and self._weights is None:
            raise UserError(f"{self.name}: idf weights of the data do not travel to other processes. Use idf=FILE.")
        if not all(given):
            raise UserError(f"scorer '{self.name}' needs the reference of every segment.")
        if not len(questions):
            return [np.zeros(0) for _ in kin]
        members = [one for one in kin if isinstance(one, BertScore)]
        views = list(dict.fromkeys(view for one in members for view in one.views))
        sides = self._sides(questions.texts(self.needs), vectors[0], views)
        pairs = [
            (sides[translation], sides[text])
            for translation, references in zip(questions.translations, given, strict=True)
            for text in references
        ]
        found = match(pairs, self.encoder.core.device)
        starts = np.cumsum([0, *(len(references) for references in given)])[:-1]
        return [
            np.maximum.reduceat(one._scored(found[:, [views.index(view) for view in one.views]]), starts)
            for one in members
        ]

    @cached_property
    def baseline(self) -> PRF | None:
        """What unrelated sentences score, in precision, recall and F."""
        if self._rescale_said == "false":
            return None
        if len(self.layers) > 1:
            raise UserError(f"{self.name}: there is no baseline for a mean of layers; use rescale=false.")
        if self._rescale_said != "true":
            return baseline_in(self._rescale_said, self.layers[0])
        published = published_baseline(self.encoder.core.checkpoint.name, self.layers[0])
        if published is None:
            raise UserError(
                f"{self.name}: no baseline is published for layer {self.layers[0]} of "
                f"{self.encoder.core.checkpoint.name}. Use rescale=FILE with the columns LAYER,P,R,F."
            )
        return published

    _of_a_call = False

    def _best(self) -> int:
        name = self.encoder.core.checkpoint.name
        found = published_layer(name)
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

    @property
    def views(self) -> list[tuple[int, ...]]:
        """What is matched: each layer by itself, or the mean of several."""
        return [self.layers] if self.layer == "mean-embeddings" else [(layer,) for layer in self.layers]

    def _sides(self, texts: Sequence[str], vectors: Vectors, views: Sequence[tuple[int, ...]]) -> dict[str, Side]:
        encodings = [vectors[self._read(text)] for text in texts]
        counts = [len(encoding.ids) for encoding in encodings]
        weights = self._weights_of(np.concatenate([encoding.ids for encoding in encodings]))
        return {
            text: Side([_view(encoding, view) for view in views], share)
            for text, encoding, share in zip(texts, encodings, shares(weights, counts), strict=True)
        }

    def _weights_of(self, ids: NDArray[np.int32]) -> Array:
        if self._weights is not None:
            return np.array([self._weights.get(number, self._rarest) for number in ids.tolist()])
        return np.where(np.isin(ids, list(self.encoder.ends)), 0.0, 1.0)

    def _scored(self, found: Array) -> Array:
        """What is asked for of each pair's precision, recall and F, averaged over the views."""
        place = OUTPUTS[self.output]
        values = found[..., place]
        if self.baseline is not None:
            values = (values - self.baseline[place]) / (1 - self.baseline[place])
        return np.asarray(sum(values.T) / values.shape[1])

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


def _view(encoding: Encoding, layers: tuple[int, ...]) -> Any:
    """One layer, or the mean of several, where the vectors are."""
    found = [rows_of(encoding.layers, layer) for layer in layers]
    return found[0] if len(found) == 1 else sum(found) / len(found)


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as problem:
        raise UserError(f"bertscore[idf={file}]: expected true, false or a file of references ({problem}).") from None
