"""The same text in other subwords: BPE-dropout (Provilkov et al. 2020) or samples of a unigram model (Kudo 2018).

A sample depends on the text and on the sample's number alone, never on what was segmented before: SentencePiece's own
generator is seeded once per thread, and gives a text other subwords in another batch.
"""

import itertools
from collections.abc import Sequence
from math import exp
from typing import Any

from babelquake.randomness import Stream

DROPOUT = 0.1
"""Share of possible merges that a step of BPE leaves out, as in the paper."""
ALPHA, BEST = 0.5, 16
"""How closely samples of a unigram model follow its probabilities, and of how many segmentations of a word."""
SPACE = "▁"


def samples(processor: Any, texts: Sequence[str], number: int) -> list[list[str]]:
    """Subwords of each text, as sample `number` draws them word by word."""
    draw = _unigram if _has_alternatives(processor) else _bpe
    found = []
    for text, normal in zip(texts, processor.normalize(list(texts)), strict=True):
        rng = Stream("subwords", number, text)
        pieces = [piece for word in _words(normal) for piece in draw(processor, word, rng)]
        found.append(pieces if "".join(pieces) == normal else processor.encode(text, out_type=str))
    return found


def _words(normal: str) -> list[str]:
    """A text as SentencePiece sees it, in words: each begins with the mark of a space."""
    first, *others = normal.split(SPACE)
    return ([first] if first else []) + [SPACE + word for word in others]


def _has_alternatives(processor: Any) -> bool:
    """Whether the model is a unigram model, which knows more than one segmentation."""
    try:
        processor.nbest_encode_as_pieces("a", 2)
    except RuntimeError:
        return False
    return True


def _unigram(processor: Any, word: str, rng: Stream) -> list[str]:
    """One of the best segmentations, with probability P(x)^α."""
    options: list[list[str]] = processor.nbest_encode_as_pieces(word.removeprefix(SPACE), BEST) or [[word]]
    if len(options) == 1:
        return options[0]
    scores = [sum(processor.get_score(processor.piece_to_id(piece)) for piece in option) for option in options]
    weights = [exp(ALPHA * (score - max(scores))) for score in scores]
    left = rng.random() * sum(weights)
    for option, weight in zip(options, weights, strict=True):
        left -= weight
        if left < 0:
            return option
    return options[-1]


def _bpe(processor: Any, word: str, rng: Stream) -> list[str]:
    """Merge characters; in every step each possible merge is left out with the same probability (Algorithm 1)."""
    unknown = processor.unk_id()
    pieces = list(word)
    while len(pieces) > 1:
        numbers = processor.piece_to_id([one + other for one, other in itertools.pairwise(pieces)])
        possible = [
            (processor.get_score(number), -place)
            for place, number in enumerate(numbers)
            if number != unknown and not rng.chance(DROPOUT)
        ]
        if not possible:
            break
        place = -max(possible)[1]
        pieces[place : place + 2] = [pieces[place] + pieces[place + 1]]
    return pieces
