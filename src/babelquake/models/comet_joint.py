"""COMET models that read translation, source and reference joined: CometKiwi, unified models and xCOMET.

Each token of the translation may also be labelled as part of an error. xCOMET's score weighs three readings – with the
source, with the reference, with both – and the penalty of its own error spans (Guerreiro et al. 2023, §4).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from babelquake.models.base import Span
from babelquake.models.comet import Network
from babelquake.resource import halving

if TYPE_CHECKING:
    from torch import Tensor

SCORE_SHARES = (0.12, 0.33, 0.33, 0.22)
"""xCOMET: what the readings with source, with reference and with both weigh, and what the error spans weigh."""
SPAN_SHARES = (0.1667, 0.3333, 0.5)
"""What the three readings weigh in a token's label."""
PENALTIES = {"minor": 1, "major": 5, "critical": 10}
WORST = 25


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
