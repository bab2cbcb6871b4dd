"""BERTScore (Zhang et al. 2020): greedy matching of contextual token vectors by cosine, equal to bert-score's.

Precision is the mean over the translation's tokens of the best cosine with any token of the reference, recall the mean
over the reference's, F their harmonic mean. Tokens that begin and end a text match but have no weight. With several
references the best counts. `layer=best` is the published layer of each encoder, `first` the one that Vu 2022 found to
be the most robust, `mean` the mean of the scores over all layers, the embeddings included (what Vu's authors ran), and
`mean-embeddings` the score of the mean vectors (what the paper's text says).

Texts are matched pair by pair on a CPU, many at once on a GPU. There every product has the same number of pairs and
lengths by steps, so that the same kernel computes a pair in any company; nothing waits for the GPU before all pairs are
on their way. `similarities` shows what is compared (Vu Figure 5).
"""

import csv
import hashlib
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.models import encoder as encoder_named
from babelquake.models.base import Encoding, Matrix, Vectors
from babelquake.models.batching import ROWS_ON_GPU, in_one_piece, on_gpu, rows_of, sent
from babelquake.models.encoders import TransformerEncoder
from babelquake.models.shipped import card, shipped
from babelquake.models.transformer import Precision
from babelquake.paths import table_of_room
from babelquake.resource import Limits
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, required, shown
from babelquake.spec import Spec, signature

if TYPE_CHECKING:
    import polars as pl
    from torch import Tensor


STEP = 32
"""On a GPU texts are padded to a multiple of so many tokens: the fewer lengths there are, the fewer products."""
EMPTY = 2
"""Tokens of an empty text: bert-score takes every text of two tokens for one."""


class Side:
    """A translation or a reference, ready to be matched: its vectors in each view, and its tokens' shares."""

    def __init__(self, layers: list[Any], shares: Array) -> None:
        self.layers = layers
        """Arrays, or tensors on the device where they are matched."""
        self.shares = shares
        self.empty = len(shares) <= EMPTY

    @cached_property
    def units(self) -> list[Matrix]:
        """Vectors of length one."""
        return [normalised(layer) for layer in self.layers]


def shares(weights: Array, counts: Sequence[int]) -> list[Array]:
    """Tokens' weights, text after text, as shares of their text's sum; NaN where no token has any."""
    sizes = np.asarray(counts)
    ends = np.cumsum(sizes)
    full = sizes > 0
    with np.errstate(invalid="ignore"):
        totals = np.add.reduceat(weights, (ends - sizes)[full]) if full.any() else np.zeros(0)
        return np.split(weights / np.repeat(totals, sizes[full]), ends[:-1])


def match(pairs: Sequence[tuple[Side, Side]], device: str) -> Array:
    """Precision, recall and F of every pair of a translation and a reference, view by view; 0 where one is empty."""
    full = [place for place, (one, other) in enumerate(pairs) if not (one.empty or other.empty)]
    found = np.zeros((len(pairs), len(pairs[0][0].layers) if pairs else 0, 3))
    if full:
        some = [pairs[place] for place in full]
        found[full, :, :2] = together(some, device) if on_gpu(device) else [_alone(*pair) for pair in some]
    p, r = found[..., 0], found[..., 1]
    with np.errstate(invalid="ignore"):
        found[..., 2] = np.nan_to_num(np.divide(2 * p * r, p + r, out=np.zeros_like(p), where=p + r != 0))
    return found


def normalised(rows: Matrix) -> Matrix:
    """Rows of length one; a row of zeros stays as it is."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(lengths > 0, lengths, np.float32(1))[:, None])


def _alone(translation: Side, reference: Side) -> list[tuple[float, float]]:
    found = []
    for one, other in zip(translation.units, reference.units, strict=True):
        cosines = one @ other.T
        found.append((cosines.max(axis=1) @ translation.shares, cosines.max(axis=0) @ reference.shares))
    return found


def together(pairs: Sequence[tuple[Side, Side]], device: str) -> Array:
    """Precision and recall of every pair, view by view, by large products on a device."""
    import torch

    sides = list({id(side): side for pair in pairs for side in pair}.values())
    number = {id(side): place for place, side in enumerate(sides)}
    counts = np.array([len(side.shares) for side in sides])
    texts = np.array([(number[id(one)], number[id(other)]) for one, other in pairs])
    steps = (-(-counts // STEP) * STEP)[texts]
    order = np.lexsort(steps.T)
    blocks = list(_blocks(steps[order]))
    chosen = order[np.concatenate([rows for rows, _ in blocks])]
    spans = np.stack([np.cumsum(counts) - counts, counts])[:, texts[chosen]]
    with torch.inference_mode():
        where = sent(spans, device)
        weights = sent(np.concatenate([*(side.shares for side in sides), [0.0]]), device)
        views = [
            _units(in_one_piece([side.layers[view] for side in sides], device)) for view in range(len(sides[0].layers))
        ]
        found = []
        for place, (_, lengths) in enumerate(blocks):
            block = where[:, place * ROWS_ON_GPU : (place + 1) * ROWS_ON_GPU]
            ones, others = (_places(block[..., side], lengths[side], len(weights) - 1) for side in (0, 1))
            found.append(torch.stack([_greedy(units, weights, ones, others) for units in views], dim=1))
        values = torch.cat(found).cpu().numpy()
    result: Array = np.empty((len(pairs), *values.shape[1:]))
    result[chosen] = values
    return result


def _blocks(lengths: NDArray[np.int64]) -> Iterator[tuple[NDArray[np.int64], tuple[int, int]]]:
    """Pairs of the same two lengths, so many at a time: their places, the last repeated until there are enough."""
    changes = np.flatnonzero((lengths[1:] != lengths[:-1]).any(axis=1)) + 1
    for start, stop in zip([0, *changes], [*changes, len(lengths)], strict=True):
        for begin in range(start, stop, ROWS_ON_GPU):
            yield np.minimum(np.arange(begin, begin + ROWS_ON_GPU), stop - 1), tuple(lengths[start].tolist())


def _units(rows: "Tensor") -> "Tensor":
    """Vectors of length one, and below them the zeros that padding points at."""
    import torch

    units = torch.nn.functional.normalize(rows, dim=1, eps=1e-30)
    return torch.cat([units, units.new_zeros(1, units.shape[1])])


def _places(spans: "Tensor", length: int, padding: int) -> "Tensor":
    """Where the tokens of each text stand among all, filled up to one length."""
    import torch

    starts, counts = spans[..., None]
    within = torch.arange(length, device=spans.device)
    return torch.where(within < counts, starts + within, padding)


def _greedy(units: "Tensor", weights: "Tensor", ones: "Tensor", others: "Tensor") -> "Tensor":
    """Precision and recall of each row's two texts; padding has no weight and is nobody's best."""
    import torch

    cosines = torch.bmm(units[ones], units[others].transpose(1, 2))
    padding = len(units) - 1
    best = (
        cosines.masked_fill((others == padding)[:, None], -torch.inf).amax(2),
        cosines.masked_fill((ones == padding)[:, :, None], -torch.inf).amax(1),
    )
    sums = [(own.double() * weights[places]).sum(1) for own, places in zip(best, (ones, others), strict=True)]
    return torch.stack(sums, dim=1)


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


@dataclass(frozen=True)
class Similarities:
    """A matrix of cosines, a row per token of the translation and a column per token of the reference."""

    scorer: str
    reference: str
    translation_tokens: tuple[str, ...]
    reference_tokens: tuple[str, ...]
    cosines: Matrix
    score: float
    """What the scorer makes of it."""
    perturbation: str = ""
    """What was done to the reference."""


def similarities(
    scorer: BertScore, translation: str, reference: str, vectors: Vectors, perturbation: str = ""
) -> Similarities:
    """The cosines at the scorer's layer, tokens that begin and end a text left out; of `layer=mean` their mean."""
    one, other = (vectors[scorer.texts(Questions([text], [[text]]))[0]] for text in (translation, reference))
    rows, columns = _kept(scorer, one), _kept(scorer, other)
    layers = [
        normalised(left[rows]) @ normalised(right[columns]).T
        for left, right in zip(_layers(scorer, one), _layers(scorer, other), strict=True)
    ]
    score = scorer.compare(Questions([translation], [[reference]]), (vectors,))[0]
    return Similarities(
        scorer.name,
        reference,
        tuple(_tokens(scorer, one)[place] for place in rows),
        tuple(_tokens(scorer, other)[place] for place in columns),
        np.mean(layers, axis=0),
        float(score),
        perturbation,
    )


def _layers(scorer: BertScore, encoding: Encoding) -> list[Matrix]:
    found = [encoding.layers[layer] for layer in scorer.layers]
    return [np.mean(found, axis=0)] if scorer.layer == "mean-embeddings" else found


def _kept(scorer: BertScore, encoding: Encoding) -> list[int]:
    return [place for place, number in enumerate(encoding.ids.tolist()) if number not in scorer.encoder.ends]


def _tokens(scorer: BertScore, encoding: Encoding) -> list[str]:
    """Tokens as a reader knows them: pieces as the tokenizer writes them, bytes beyond ASCII in hexadecimal."""
    pieces: list[str] = scorer.encoder.core.tokenizer.convert_ids_to_tokens(encoding.ids.tolist())
    plain = [piece.replace("\u0120", "").replace("\u2581", "") or "␣" for piece in pieces]
    return [f"{ord(piece):02x}" if len(piece) == 1 and 0x7F < ord(piece) < 0x100 else piece for piece in plain]
