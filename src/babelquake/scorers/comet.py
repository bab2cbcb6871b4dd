"""COMET (Rei et al. 2020), CometKiwi (Rei et al. 2022) and xCOMET (Guerreiro et al. 2023), equal to unbabel-comet's.

Models that encode source, translation and reference each on its own (wmt20-comet-da, wmt22-comet-da, wmt20-comet-qe-da)
receive their sentence vectors from the engine, so that a source or reference shared by many variants is encoded once.

Models that read the texts joined (CometKiwi, unified models, xCOMET) judge each segment as a whole. Each token of the
translation may also be labelled as part of an error: xCOMET's score weighs three readings – with the source, with the
reference, with both – and the penalty of its own error spans (Guerreiro et al. 2023, §4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.models import encoder as encoder_named
from babelquake.models.base import PENALTIES, WORST, Span, Vectors, sentence_rows
from babelquake.models.comet import CometEncoder, Network
from babelquake.models.loading import Precision
from babelquake.resource import Limits, halving
from babelquake.scorers.base import Array, Questions, VectorScorer, Wanted, best_reference, required, shown
from babelquake.spec import Spec, signature

if TYPE_CHECKING:
    from torch import Tensor


SCORE_SHARES = (0.12, 0.33, 0.33, 0.22)
"""xCOMET: what the readings with source, with reference and with both weigh, and what the error spans weigh."""
SPAN_SHARES = (0.1667, 0.3333, 0.5)
"""What the three readings weigh in a token's label."""


@dataclass(frozen=True)
class Judged:
    """Scores of segments, and the error spans in each where the model labels tokens."""

    scores: NDArray[np.float64]
    spans: list[list[Span]]


class Reading(NamedTuple):
    """What one way of reading the segments gives."""

    scores: NDArray[np.float64]
    labels: list[NDArray[np.float32]]
    """Per translation the probabilities of its tokens' labels."""
    cut: set[int]
    """The segments that were too long for the encoder and were cut at the end."""


def judge_joined(
    network: Network, translations: Sequence[str], sources: Sequence[str] | None, references: Sequence[str] | None
) -> Judged:
    """Scores and error spans; with both source and reference, the three readings are combined."""
    first = [network.tokenised(text) for text in translations]
    columns = [
        [network.tokenised(text)[0] for text in column] for column in (sources, references) if column is not None
    ]
    readings = [[column] for column in columns] + ([columns] if len(columns) == 2 else [])
    results = [_read(network, [ids for ids, _ in first], others) for others in readings]
    regressions = np.stack([reading.scores for reading in results])
    texts = [column for column in (translations, sources, references) if column is not None]
    for row in sorted(set[int]().union(*(reading.cut for reading in results))):
        network.cut.append("\0".join(column[row] for column in texts))
    xcomet = network.settings.class_identifier == "xcomet_metric"
    if not network.tagger:
        return Judged(regressions.mean(axis=0), [])
    shares = SPAN_SHARES if len(results) == 3 else (1.0,)
    spans = []
    for row, (ids, offsets) in enumerate(first):
        labels = sum(share * reading.labels[row] for share, reading in zip(shares, results, strict=True))
        spans.append(_spans(network, ids, offsets, np.asarray(labels, dtype=np.float32)))
    if not xcomet:
        return Judged(regressions.mean(axis=0), spans)
    *weights, penalty = SCORE_SHARES
    capped = np.minimum(regressions, 1.0)
    shares_of = (sum(weights),) if len(results) == 1 else weights
    regression = sum(share * reading for share, reading in zip(shares_of, capped, strict=True))
    return Judged(np.asarray(regression) + penalty * np.array([mqm(found) for found in spans]), spans)


def mqm(spans: Sequence[Span]) -> float:
    """1 without errors, down to 0 at a penalty of 25: minor 1, major 5, critical 10."""
    return (WORST - min(WORST, sum(PENALTIES.get(span.severity, 0) for span in spans))) / WORST


def _read(
    network: Network, translations: Sequence[Sequence[int]], others: Sequence[Sequence[Sequence[int]]]
) -> Reading:
    """Translations read with one or two columns of other texts."""
    whole = [_joined(network, [own, *(other[row] for other in others)]) for row, own in enumerate(translations)]
    joined = [ids[: network.limit] for ids in whole]
    scores = np.zeros(len(joined))
    labels: list[Any] = [None] * len(joined)
    for places in network.batches(joined):
        answers = halving(partial(_answers, network), [(joined[place], len(translations[place])) for place in places])
        for place, (score, label) in zip(places, answers, strict=True):
            scores[place], labels[place] = score, label
    return Reading(scores, labels, {row for row, ids in enumerate(whole) if len(ids) > network.limit})


def _answers(network: Network, sequences: list[tuple[list[int], int]]) -> list[tuple[float, Any]]:
    """Score and labels of sequences, each with the length of its translation."""
    import torch

    found: list[tuple[float, Any]] = [(0.0, None)] * len(sequences)
    # 0 for the translation, 1 for all that follows, where the encoder tells its texts apart so
    types = [[0] * own + [1] * (len(ids) - own) for ids, own in sequences] if network.family.typed else None
    with torch.inference_mode():
        for places, ids, layers in network.read([ids for ids, _ in sequences], types):
            scores = network.estimate(network.mixed(layers, torch.ones_like(ids))[:, 0]).tolist()
            labels = _labels(network, layers) if network.tagger else None
            for row, place in enumerate(places):
                found[place] = scores[row], None if labels is None else labels[row, : sequences[place][1]]
    return found


def _labels(network: Network, layers: "list[Tensor]") -> NDArray[np.float64]:
    """The probabilities of every token's labels."""
    import torch

    ((weight, bias),) = network.tagger
    logits = layers[network.settings.word_layer].double() @ weight.T + bias
    found: NDArray[np.float64] = torch.softmax(logits, dim=2).cpu().numpy()
    return found


def _joined(network: Network, texts: Sequence[Sequence[int]]) -> list[int]:
    """`<s> a </s></s> b </s>`, or with one separator for BERT."""
    first, end = texts[0][0], texts[0][-1]
    padding = network.tokenizer.pad_token_id
    found = [first]
    for number, text in enumerate(texts):
        found += [end] * (network.family.separators - 1 if number else 0)
        found += [token for token in text[1:-1] if token != padding]
        found.append(end)
    return found


def _spans(
    network: Network, ids: Sequence[int], offsets: Sequence[tuple[int, int]], labels: NDArray[np.float32]
) -> list[Span]:
    """Neighbouring tokens labelled as errors, joined as COMET joins them: the first token gives the severity; a span
    still open after the last token is left out."""
    names = network.settings.error_labels
    best = labels.argmax(axis=1)
    found: list[Span] = []
    begin: int | None = None
    for position, label in enumerate(best):
        if label and begin is None:
            begin = position
        elif not label and begin is not None:
            rows = range(begin, position)
            text = network.tokenizer.decode([ids[row] for row in rows])
            confidence = float(np.mean([labels[row, best[row]] for row in rows]))
            start, end = offsets[begin][0], offsets[position - 1][1]
            found.append(Span(text, names[best[begin] - 1], start, end, confidence))
            begin = None
    return found


class Comet(VectorScorer):
    """A trained estimate of human judgement from source, translation and reference; higher is better.

    `model` is a hub name or a folder with `hparams.yaml` and `checkpoints/model.ckpt`; `encoder` a folder with the
    tokenizer and configuration of the encoder below where no hub can be reached. `inputs=source` has a unified model
    (xCOMET) judge without references. With several references the best counts.
    """

    tells_sides_apart: ClassVar[bool] = True
    extra: ClassVar[str | None] = "neural"
    needs: ClassVar[frozenset[str]] = frozenset({"source", "reference"})

    limits = Limits(texts=512)
    """Enough segments at once to find texts of equal length."""

    def __init__(
        self,
        model: str = "Unbabel/wmt22-comet-da",
        encoder: str | None = None,
        inputs: Literal["all", "source", "reference"] = "all",
        precision: Precision = "float32",
        device: str = "auto",
    ) -> None:
        asked = Spec("comet").with_options(model=model, encoder=encoder, precision=precision, device=device)
        found = encoder_named(asked)
        if not isinstance(found, CometEncoder):
            raise UserError(f"comet[model={model}] is not a COMET checkpoint.")
        self.encoder = found
        self.inputs = inputs
        known = found.settings.inputs
        if inputs != "all" and inputs not in known:
            raise UserError(f"comet[model={model},inputs={inputs}]: this model reads {' and '.join(sorted(known))}.")
        if inputs != "all" and known != {inputs} and not found.settings.joined:
            raise UserError(f"comet[model={model},inputs={inputs}]: this model needs source and reference.")
        self.needs = known if inputs == "all" else frozenset({inputs})  # type: ignore[misc]  # the model decides

    @property
    def described(self) -> str:
        return shown(self.spec, self.encoder.checkpoint)

    @property
    def signature(self) -> str:
        return signature("comet", self.encoder.signature, inputs="+".join(sorted(self.needs)))

    def encoders(self) -> tuple[Wanted, ...]:
        """The checkpoint's own encoder, where texts are encoded each on its own."""
        return () if self.encoder.settings.joined else (Wanted(self.encoder),)

    def compare(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        judge = self._joined if self.encoder.settings.joined else partial(self._separate, vectors=vectors)
        with self.encoder.noting():
            if "reference" not in self.needs:
                return judge(questions)
            return best_reference(questions, required(questions.references, self, "reference"), judge)

    @property
    def marks_errors(self) -> bool:
        return self.encoder.settings.joined and self.encoder.settings.word_level_training

    def spans(self, questions: Questions) -> list[list[Span]]:
        """The errors that the model marks in each translation, for the first reference."""
        if not self.marks_errors:
            return super().spans(questions)
        first = [some[:1] for some in questions.references or []] or None
        return self._read(Questions(questions.translations, first, questions.sources)).spans

    def _separate(self, questions: Questions, vectors: tuple[Vectors, ...]) -> Array:
        sources = required(questions.sources, self, "source")
        references = None
        if "reference" in self.needs:
            references = sentence_rows([some[0] for some in questions.references or []], vectors[0])
        translations = sentence_rows(questions.translations, vectors[0])
        return self.encoder.network.judge(translations, sentence_rows(sources, vectors[0]), references)

    def _joined(self, questions: Questions) -> Array:
        return self._read(questions).scores

    def _read(self, questions: Questions) -> Judged:
        sources = required(questions.sources, self, "source") if "source" in self.needs else None
        references = [some[0] for some in questions.references or []] if "reference" in self.needs else None
        return judge_joined(self.encoder.network, questions.translations, sources, references)
