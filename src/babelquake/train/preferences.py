"""Does a language model prefer what people wrote? The share of sentences it finds likelier than a broken version."""

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Judge = Callable[[Sequence[str]], list[float]]
"""Texts → mean log-probability per token."""
LETTERS = re.compile(r"[^\W\d_]{4,}")


def preferences(judge: Judge, sentences: Sequence[str], seed: int = 20) -> dict[str, Any]:
    """The share preferred to each broken version, over the sentences that can be broken so; and perplexity."""
    clean = judge(sentences)
    found: dict[str, Any] = {"sentences": len(sentences), "mean_log_probability": round(float(np.mean(clean)), 4)}
    for name, (change, count) in CHANGES.items():
        rng = np.random.default_rng(seed)
        broken = [change(sentence, count, rng) for sentence in sentences]
        kept = [number for number, text in enumerate(broken) if text is not None]
        scores = judge([text for text in broken if text is not None])
        wins = [clean[number] > score for number, score in zip(kept, scores, strict=True)]
        found[name] = round(float(np.mean(wins)), 4) if wins else None
    return found


def swapped_letters(sentence: str, count: int, rng: np.random.Generator) -> str | None:
    """Swap two neighbouring inner letters in `count` words of four letters or more; None where there are too few."""
    places = []
    for word in LETTERS.finditer(sentence):
        inner = range(word.start() + 1, word.end() - 2)
        if swaps := [place for place in inner if sentence[place] != sentence[place + 1]]:
            places.append(swaps)
    if len(places) < count:
        return None
    letters = list(sentence)
    for number in rng.choice(len(places), count, replace=False):
        place = int(rng.choice(places[number]))
        letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)


def deleted_words(sentence: str, count: int, rng: np.random.Generator) -> str | None:
    """Take out `count` words; None where fewer than three would be left."""
    words = sentence.split()
    if len(words) < count + 3:
        return None
    gone = set(rng.choice(len(words), count, replace=False).tolist())
    return " ".join(word for number, word in enumerate(words) if number not in gone)


CHANGES: dict[str, tuple[Callable[[str, int, np.random.Generator], str | None], int]] = {
    "letters swapped in two words": (swapped_letters, 2),
    "two words deleted": (deleted_words, 2),
    "one word deleted": (deleted_words, 1),
}
