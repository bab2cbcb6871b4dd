"""Words of BLEU: sacreBLEU's own tokenisers, called as seldom as possible."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache, partial
from typing import Literal

import regex

from babelquake.errors import UserError
from babelquake.scorers.strings.official import bleu_tokeniser, default_tokeniser, forget_lines
from babelquake.scorers.strings.symbols import Symbols, numbered, pieces, words
from babelquake.text import is_unspaced, main_script

Tokeniser = Literal[
    "auto", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm", "spBLEU-1K", "none"
]

BOUNDARY = "\0"
BETWEEN = f"\t{BOUNDARY}\t"


def tokeniser_for(tokenize: Tokeniser, trg_lang: str) -> str:
    """The tokeniser asked for; left open, the one sacreBLEU takes for the target language."""
    return default_tokeniser(trg_lang) if tokenize == "auto" else tokenize


UNSPACED = {"ja": "ja-mecab", "zh": "zh"}
"""Languages whose words no spaces part, and sacreBLEU's tokeniser for each."""
KANA = regex.compile(r"[\p{Script=Hiragana}\p{Script=Katakana}]")
HAN = regex.compile(r"\p{Script=Han}")


def tokenisers_of(languages: Collection[str]) -> tuple[str, ...]:
    """What a run over these languages needs: `13a`, and one for each language that no spaces part."""
    return ("13a", *(UNSPACED[code] for code in sorted(UNSPACED) if code in languages))


def tokeniser_of(text: str, languages: Collection[str]) -> str:
    """The tokeniser of a text in one of these languages: told by kana and Han characters, else `13a`."""
    if text.isascii() or not (HAN.search(text) or KANA.search(text)):
        return "13a"
    japanese = "ja" in languages and ("zh" not in languages or KANA.search(text))
    return UNSPACED["ja"] if japanese else UNSPACED["zh"] if "zh" in languages else "13a"


def require_spaces(texts: Iterable[str], name: str) -> None:
    """`13a` takes a sentence without spaces for one word and scores it 0: refuse it, naming what would be right."""
    checked = [text for text in texts if text.strip()]
    unspaced = [text for text in checked if is_unspaced(text)]
    if name != "13a" or 2 * len(unspaced) <= len(checked):
        return
    scripts = Counter(main_script(text) for text in unspaced)
    japanese = any(KANA.search(text) for text in unspaced)
    chinese = scripts.most_common(1)[0][0] == "Han"
    right = "ja-mecab" if japanese else "zh" if chinese else "flores200"
    raise UserError(
        f"bleu[tokenize=13a] parts words at spaces, which most of these texts do not have: it would score them 0. "
        f"Write bleu[tokenize={right}] (or force=true for the 0)."
    )


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
