"""TER: translation edit rate (Snover et al. 2006); equal to sacreBLEU's."""

from typing import ClassVar

import numpy as np

from babelquake.scorers.base import Array, Questions, Scorer
from babelquake.scorers.strings.sacrebleu_internals import ter_signature, ter_tokeniser
from babelquake.scorers.strings.symbols import Pairs, code_points, words

LONGEST = 20_000
"""Characters of one text: shifts of words take time that grows with the third power of the length."""


class Ter(Scorer):
    """Edits per word of the reference, in per cent: insertions, deletions, substitutions, shifts. Lower is better."""

    threads: ClassVar[bool] = True
    higher_is_better: ClassVar[bool] = False
    ratio_scale: ClassVar[bool] = True
    """Of 100 − TER, the quality that Niu 2020 §2 takes it for."""
    perfect: ClassVar[float | None] = 0.0

    def __init__(
        self,
        normalized: bool = False,
        no_punct: bool = False,
        asian_support: bool = False,
        case_sensitive: bool = False,
    ) -> None:
        self.normalized = normalized
        self.no_punct = no_punct
        self.asian_support = asian_support
        self.case_sensitive = case_sensitive
        self._tokenise = ter_tokeniser(normalized, no_punct, asian_support, case_sensitive)

    @property
    def signature(self) -> str:
        return self.signature_for(1)

    def signature_for(self, references: int | None) -> str:
        return ter_signature(vars(self), self._tokenise, references)

    def statistics(self, questions: Questions) -> Array:
        """Edits to the nearest reference, and the mean length of the references in words."""
        from babelquake.scorers.strings.kernels import edits, nowhere

        pairs = Pairs.of(questions, LONGEST)
        if not len(questions):
            return np.zeros((0, 2))
        symbols = words(code_points([self._tokenise(text.rstrip()) for text in pairs.texts]), nowhere)
        translation, reference, starts = pairs.flat()
        counts = edits(symbols.values, symbols.starts, translation, reference)
        lengths = np.add.reduceat(symbols.lengths[reference], starts[:-1]) / pairs.references
        return np.stack([np.minimum.reduceat(counts, starts[:-1]), lengths], axis=1)

    def aggregate(self, statistics: Array) -> Array:
        """100 · edits / reference words; without reference words 100 if there are edits, else 0."""
        rows = np.asarray(statistics, dtype=np.float64)
        edits, length = rows[..., 0], rows[..., 1]
        with np.errstate(divide="ignore", invalid="ignore"):
            return 100 * np.where(length > 0, edits / length, edits > 0)
