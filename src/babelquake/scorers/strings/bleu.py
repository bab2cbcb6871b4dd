"""BLEU: precision of word n-grams with a brevity penalty (Papineni et al. 2002); words and scores are sacreBLEU's."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

import numpy as np
import regex

from babelquake.errors import UserError
from babelquake.languages import LanguagePair
from babelquake.resource import Limits, Recipe
from babelquake.scorers.base import Array, Questions, Scorer
from babelquake.scorers.strings.sacrebleu_internals import bleu_signature, bleu_tokeniser, default_tokeniser
from babelquake.scorers.strings.symbols import Ids, Pairs, Symbols, code_points, words
from babelquake.spec import Range
from babelquake.text import UNSPACED as UNSPACED_LETTER
from babelquake.text import is_unspaced, main_script

if TYPE_CHECKING:
    import polars as pl


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
    from babelquake.scorers.strings.kernels import nowhere, western

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


SMOOTH_DEFAULTS = {"floor": 0.1, "add-k": 1.0}
"""Chen and Cherry 2014, methods 1 and 2."""
LOG_OF_ZERO = -9999999999.0
"""What sacreBLEU takes for log 0."""
TOKENISED_LINES = 100
"""So many translations that end in ' .' look as if somebody had tokenised them."""


class Bleu(Scorer):
    """BLEU; segment scores always use the effective order, as `sacrebleu.sentence_bleu` does."""

    threads: ClassVar[bool] = True
    ratio_scale: ClassVar[bool] = True
    perfect: ClassVar[float | None] = 100.0

    def __init__(
        self,
        lowercase: bool = False,
        force: bool = False,
        tokenize: Tokeniser = "auto",
        smooth_method: Literal["exp", "floor", "add-k", "none"] = "exp",
        smooth_value: Annotated[float | None, Range(0, 1e6)] = None,
        max_ngram_order: Annotated[int, Range(1, 50)] = 4,
        effective_order: bool = False,
        trg_lang: str = "",
        languages: str = "",
    ) -> None:
        """`languages` are those of the data (`de+ja`), by which `tokenize=auto` chooses; a study says them itself."""
        self.lowercase = lowercase
        self.force = force
        self.automatic = tokenize == "auto" and not trg_lang
        self.languages = frozenset(languages.split("+")) - {""}
        self.tokenize = tokeniser_for(tokenize, trg_lang)
        self.smooth_method = smooth_method
        self.smooth_value = smooth_value
        self.max_ngram_order = max_ngram_order
        self.effective_order = effective_order
        self.tokenizer_signature = tokeniser(self.tokenize).signature()
        self._warned = False
        self._choose()

    def _choose(self) -> None:
        """Name the tokenisers that `auto` takes for the languages of the data."""
        if self.automatic and self.languages:
            self.tokenizer_signature = "+".join(tokeniser(name).signature() for name in tokenisers_of(self.languages))

    def attach(self, segments: "pl.DataFrame") -> None:
        """Note the languages of the data: a run over German and Japanese needs `13a` and `ja-mecab`."""
        pairs = [LanguagePair.known(pair) for pair in segments["language_pair"].unique()]
        self.languages = frozenset(code for pair in pairs if pair for code in pair.codes if code in UNSPACED)
        self._choose()

    @property
    def recipe(self) -> Recipe:
        """With the languages, by which a worker chooses as we do."""
        spoken = "+".join(sorted(self.languages))
        return Recipe("scorer", self.spec.with_options(languages=spoken) if spoken else self.spec)

    @property
    def limits(self) -> Limits:
        """Side by side where words are found in compiled code; sacreBLEU's other tokenisers hold the interpreter."""
        return super().limits if self.tokenize in COMPILED and not self.languages else Limits(texts=16_384)

    @property
    def signature(self) -> str:
        return self.signature_for(1)

    def signature_for(self, references: int | None) -> str:
        """sacreBLEU's signature for data with that many references per segment, None where the number varies.

        sacreBLEU does not name the n-gram order; it is added where it is not 4.
        """
        order = "" if self.max_ngram_order == 4 else f"|order:{self.max_ngram_order}"
        return bleu_signature(vars(self), references) + order

    def statistics(self, questions: Questions) -> Array:
        """Length of the translation, length of the closest reference, n-grams matched per order, n-grams per order."""
        if not self.force:
            self._warn_of_tokenised(questions)
        judged = [some[0] if some else "" for some in questions.references or ()]
        if not (self.automatic and self.languages):
            if not self.force:
                require_spaces(judged, self.tokenize)
            return self._counts(questions, self.tokenize)
        places: dict[str, list[int]] = {}
        for place, text in enumerate(judged):
            places.setdefault(tokeniser_of(text, self.languages), []).append(place)
        rows = np.zeros((len(questions), 2 + 2 * self.max_ngram_order))
        for name, some in places.items():
            if not self.force:
                require_spaces([judged[place] for place in some], name)
            rows[some] = self._counts(questions.take(some), name)
        return rows

    def _counts(self, questions: Questions, tokenize: str) -> Array:
        from babelquake.scorers.strings.kernels import shared, totals

        pairs = Pairs.of(questions)
        texts = [text.lower() for text in pairs.texts] if self.lowercase else pairs.texts
        words = tokenised(texts, tokenize)
        matched = shared(
            words, pairs.translation, pairs.reference_set, pairs.set_starts, pairs.members, self.max_ngram_order
        )
        n_grams = totals(words.lengths, self.max_ngram_order)[pairs.translation]
        lengths = np.stack([words.lengths[pairs.translation], _closest_lengths(pairs, words.lengths)], axis=1)
        return np.concatenate([lengths, matched, n_grams], axis=1).astype(np.float64)

    def _warn_of_tokenised(self, questions: Questions) -> None:
        ends = sum(map(str.endswith, questions.translations, repeat(" .")))
        if ends < TOKENISED_LINES or self._warned:
            return
        self._warned = True
        logging.getLogger("babelquake").warning(
            "%d or more translations end in ' .', as if tokenised. BLEU needs plain text (or bleu[force=true]).",
            TOKENISED_LINES,
        )

    def aggregate(self, statistics: Array) -> Array:
        """BP · exp(mean over n of log pₙ), times 100, with BP = min(1, exp(1 − reference length / length))."""
        return self._bleu(statistics, self.effective_order)

    def score_rows(self, statistics: Array) -> Array:
        """BLEU of each row up to the longest n-gram its translation has (effective order)."""
        return self._bleu(statistics, effective_order=True)

    def _bleu(self, statistics: Array, effective_order: bool) -> Array:
        rows = np.asarray(statistics, dtype=np.float64)
        length, reference_length = rows[..., 0], rows[..., 1]
        matched, n_grams = np.split(rows[..., 2:], 2, axis=-1)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
            precisions, has_n_grams = self._precisions(matched, n_grams)
            logarithms = np.where(precisions > 0, np.log(precisions), LOG_OF_ZERO)
            if effective_order:
                orders = np.maximum(has_n_grams.sum(axis=-1), 1)
                logarithms = np.where(has_n_grams, logarithms, 0.0)
            else:
                orders = np.asarray(self.max_ngram_order)
            penalty = np.where(length < reference_length, np.exp(1 - reference_length / length), 1.0)
            score = penalty * np.exp(logarithms.sum(axis=-1) / orders)
        return np.where(matched.any(axis=-1), score, 0.0)

    def _precisions(
        self, matched: Array, n_grams: Array
    ) -> tuple[Array, np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]:
        """Smoothed precisions in per cent, and which orders come before the first one without n-grams."""
        value = SMOOTH_DEFAULTS.get(self.smooth_method, 0.0) if self.smooth_value is None else self.smooth_value
        if self.smooth_method == "add-k":
            added = np.where(np.arange(matched.shape[-1]) > 0, value, 0.0)
            matched, n_grams = matched + added, n_grams + added
        has_n_grams = np.logical_and.accumulate(n_grams > 0, axis=-1)
        missed = has_n_grams & (matched == 0)
        if self.smooth_method == "exp":
            credit = 0.5 ** np.cumsum(missed, axis=-1)
        else:
            credit = np.full(matched.shape, value if self.smooth_method == "floor" else 0.0)
        precisions = 100 * np.where(missed, credit, matched) / n_grams
        return np.where(has_n_grams, precisions, 0.0), has_n_grams


def _closest_lengths(pairs: Pairs, lengths: Ids) -> Ids:
    """Of each segment's reference lengths the one closest to its translation's, the shorter of two as close."""
    translation, reference, starts = pairs.flat()
    if not len(translation):
        return translation
    distance = np.abs(lengths[translation] - lengths[reference])
    nearest = np.minimum.reduceat((distance << 32) | lengths[reference], starts[:-1])
    return np.asarray(nearest & 0xFFFFFFFF)
