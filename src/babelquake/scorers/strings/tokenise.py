"""Words of BLEU: sacreBLEU's own tokenisers, called as seldom as possible."""

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Literal

from babelquake.scorers.strings.official import bleu_tokeniser, default_tokeniser, forget_lines
from babelquake.scorers.strings.symbols import Symbols, numbered, pieces, words

Tokeniser = Literal[
    "auto", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm", "spBLEU-1K", "none"
]

BOUNDARY = "\0"
BETWEEN = f"\t{BOUNDARY}\t"


def tokeniser_for(tokenize: Tokeniser, trg_lang: str) -> str:
    """The tokeniser asked for; left open, the one sacreBLEU takes for the target language."""
    return default_tokeniser(trg_lang) if tokenize == "auto" else tokenize


tokeniser = lru_cache(maxsize=16)(bleu_tokeniser)
"""sacreBLEU's tokeniser of a name, started once."""


def tokenised(texts: Sequence[str], name: str) -> Symbols:
    """The words of every text by number.

    `13a` looks at a character and its neighbour and pads the line with blanks, so it treats each stretch between white
    space on its own; only a line break can join two. It sees each distinct stretch once, the others each text.
    """
    tokenise: Callable[[str], str] = tokeniser(name)
    if name != "13a":
        return words([tokenise(text.rstrip()) for text in texts])
    number: dict[str, int] = {}
    found = pieces(texts, partial(_taken_apart, tokenise), number)
    broken = [position for position, text in enumerate(texts) if "\n" in text]
    if not broken:
        return found
    rows = found.rows()
    for position in broken:
        rows[position] = numbered(tokenise(texts[position].rstrip()).split(), number)
    return Symbols.of(rows)


def _taken_apart(tokenise: Callable[[str], str], stretches: list[str]) -> list[list[str]]:
    """The words of each stretch: letters and digits alone stay whole, the others go through `13a` in one line."""
    parts = {stretch: [stretch] for stretch in stretches}
    marked = [stretch for stretch in stretches if not stretch.isalnum()]
    groups: list[list[str]] = [[]]
    line = tokenise(BETWEEN.join(marked))
    forget_lines()
    for word in line.split():
        if word == BOUNDARY:
            groups.append([])
        else:
            groups[-1].append(word)
    if len(groups) != max(1, len(marked)):  # a stretch holds the boundary itself
        groups = [tokenise(stretch).split() for stretch in marked]
    parts.update(zip(marked, groups, strict=False))
    return list(parts.values())
