"""What BERTScore compares: the cosine of every token of a translation with every token of a reference (Vu Figure 5)."""

from dataclasses import dataclass

import numpy as np

from babelquake.models.base import Encoding, Matrix, Vectors
from babelquake.scorers.base import Questions
from babelquake.scorers.bertscore import BertScore
from babelquake.scorers.matching import normalised


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
