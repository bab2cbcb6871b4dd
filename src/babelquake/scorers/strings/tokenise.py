"""Words of BLEU, as sacreBLEU's tokenisers find them."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
import regex

from babelquake.errors import UserError
from babelquake.scorers.strings.sacrebleu_internals import bleu_tokeniser, default_tokeniser
from babelquake.scorers.strings.symbols import Symbols, code_points, words
from babelquake.text import UNSPACED as UNSPACED_LETTER
from babelquake.text import is_unspaced, main_script

Tokeniser = Literal[
    "auto", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm", "spBLEU-1K", "none"
]

COMPILED = ("13a", "none")
"""Those whose words are found here; the others are sacreBLEU's own."""
MARK_UP = ("<skipped>", "\n", "&")
REPLACED = (
    ("<skipped>", ""),
    ("-\n", ""),
    ("\n", " "),
    ("&quot;", '"'),
    ("&amp;", "&"),
    ("&lt;", "<"),
    ("&gt;", ">"),
)
"""In this order, so that `&amp;lt;` ends as `<`."""


def tokeniser_for(tokenize: Tokeniser, trg_lang: str) -> str:
    """The tokeniser asked for; left open, the one sacreBLEU takes for the target language."""
    return default_tokeniser(trg_lang) if tokenize == "auto" else tokenize


UNSPACED = {"ja": "ja-mecab", "zh": "zh"}
"""Languages whose words no spaces part, and sacreBLEU's tokeniser for each."""
FIRST_UNSPACED = 0x0E00
"""No letter before it belongs to a script without spaces (Thai begins here)."""
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


def require_spaces(texts: Sequence[str], name: str) -> None:
    """`13a` takes a sentence without spaces for one word and scores it 0: refuse it, naming what would be right."""
    points = code_points(texts).values
    if name != "13a" or not UNSPACED_LETTER.search("".join(map(chr, np.unique(points[points >= FIRST_UNSPACED])))):
        return
    checked = [text for text in texts if text.strip()]
    unspaced = [text for text in checked if is_unspaced(text)]
    if 2 * len(unspaced) <= len(checked):
        return
    scripts = Counter(main_script(text) for text in unspaced)
    japanese = any(KANA.search(text) for text in unspaced)
    chinese = scripts.most_common(1)[0][0] == "Han"
    right = "ja-mecab" if japanese else "zh" if chinese else "flores200"
    raise UserError(
        f"bleu[tokenize=13a] splits words at spaces, which most of these texts do not have, and would score them 0. "
        f"Write bleu[tokenize={right}] (or force=true for the 0)."
    )


tokeniser = lru_cache(maxsize=16)(bleu_tokeniser)
"""sacreBLEU's tokeniser of a name, started once."""


def tokenised(texts: Sequence[str], name: str) -> Symbols:
    """The words of every text by number: `13a` and `none` in compiled code, the others by sacreBLEU's own."""
    from babelquake.scorers.strings.word_boundaries import nowhere, western

    if name == "13a":
        return words(code_points(_unmarked(texts)), western)
    if name not in COMPILED:
        tokenise: Callable[[str], str] = tokeniser(name)
        texts = [tokenise(text.rstrip()) for text in texts]
    return words(code_points(texts), nowhere)


def _unmarked(texts: Sequence[str]) -> Sequence[str]:
    """The texts without what `13a` takes for mark-up: skipped passages, hyphens at line ends, four entities of XML."""
    everything = "".join(texts)
    if not any(mark in everything for mark in MARK_UP):
        return texts
    skipped, line_end, entity = MARK_UP
    marked = (entity in text or line_end in text or skipped in text for text in texts)
    return [_replaced(text) if mark else text for text, mark in zip(texts, marked, strict=True)]


def _replaced(text: str) -> str:
    text = text.rstrip()
    for mark, instead in REPLACED:
        text = text.replace(mark, instead)
    return text
