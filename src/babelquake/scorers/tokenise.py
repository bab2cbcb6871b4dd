"""Words of BLEU: sacreBLEU's own tokenisers, called as seldom as possible."""

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Literal

from babelquake.errors import UserError
from babelquake.scorers.symbols import Stretches, Symbols, Vocabulary, packed

Tokeniser = Literal[
    "auto", "13a", "intl", "char", "zh", "ja-mecab", "ko-mecab", "flores101", "flores200", "spm", "spBLEU-1K", "none"
]

EXTRAS = {"ja-mecab": "ja", "ko-mecab": "ko"}


def tokeniser_for(tokenize: Tokeniser, trg_lang: str) -> str:
    """The tokeniser asked for; left open, the one sacreBLEU takes for the target language."""
    from sacrebleu.metrics.bleu import BLEU

    if tokenize != "auto":
        return tokenize
    return str(BLEU._TOKENIZER_MAP.get(trg_lang, BLEU.TOKENIZER_DEFAULT))


@lru_cache(maxsize=16)
def tokeniser(name: str) -> Any:
    """sacreBLEU's tokeniser of that name, or an error that says what to install."""
    from sacrebleu.metrics.bleu import _get_tokenizer
    from sacrebleu.utils import SACREBLEU_DIR

    try:
        return _get_tokenizer(name)()
    except KeyError:
        raise UserError(f"the installed sacreBLEU has no tokeniser '{name}'.") from None
    except (RuntimeError, ImportError) as problem:
        if name not in EXTRAS:
            raise UserError(f"tokeniser '{name}' cannot start: {problem}") from problem
        raise UserError(
            f"tokeniser '{name}' needs an extra: run pip install 'babelquake[{EXTRAS[name]}]'."
        ) from problem
    except (OSError, SystemExit) as problem:
        raise UserError(
            f"tokeniser '{name}' needs a model that sacreBLEU downloads into {SACREBLEU_DIR}/models, "
            f"and that failed ({problem}). Run once with network access, or put the file there."
        ) from problem


def tokenised(texts: Iterable[str], name: str) -> Symbols:
    """The words of every text by number.

    `13a` looks at a character and its neighbour and pads the line with blanks, so it treats each stretch between white
    space on its own; only a line break can join two. It is asked once per distinct stretch, the others once per text.
    """
    tokenise: Callable[[str], str] = tokeniser(name)
    vocabulary = Vocabulary()

    def whole(text: str) -> list[int]:
        return [vocabulary[word] for word in tokenise(text.rstrip()).split()]

    if name != "13a":
        return packed(map(whole, texts))
    stretches = Stretches(vocabulary, lambda stretch: tokenise(stretch).split())
    return packed(whole(text) if "\n" in text else stretches.numbers(text) for text in texts)
