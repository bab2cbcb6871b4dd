"""The small models that ship with the package: `bundled[model=de-en-bpe]`.

A model is a folder of the distribution `babelquake-models` with a CTranslate2 model, its SentencePiece model and a card
that says how it was trained. Decoding is greedy unless `beam` says otherwise: `beam=4` gains about one BLEU and
takes twice as long.
"""

from functools import cached_property
from pathlib import Path
from typing import Annotated

from babelquake.errors import UserError, did_you_mean, setting
from babelquake.languages import LanguagePair, pair_in_path
from babelquake.models.shipped import INSTALL, shipped
from babelquake.spec import Range
from babelquake.systems.ctranslate2 import CTranslate2


def available() -> dict[str, Path]:
    """Names and folders of the translators that ship."""
    return {name: folder for name, folder in shipped().items() if (folder / "model.bin").is_file()}


class Bundled(CTranslate2):
    """A model that ships with the package, on the CPU."""

    def __init__(
        self,
        model: str,
        beam: Annotated[int, Range(1, 64)] = 1,
        threads: Annotated[int, Range(0, 1024)] = 0,
        sample: Annotated[int, Range(0, 1000)] = 0,
    ) -> None:
        known = available()
        if model not in known:
            hint = did_you_mean(model, known) if known else INSTALL
            raise UserError(f"no bundled model is called '{model}'. {hint}".strip())
        super().__init__(str(known[model]), beam, device="cpu", threads=threads, sample=sample)
        self._model = model

    def check_languages(self, language_pair: str) -> None:
        """The model's name begins with its languages."""
        ours, theirs = pair_in_path(self._model), LanguagePair.known(language_pair)
        if ours and theirs and ours.codes != theirs.codes:
            raise UserError(
                f"bundled[model={self._model}] translates {ours}, but the data are {language_pair}. "
                f"If the data are labelled wrongly, use {setting('language_pair', str(ours))}."
            )

    @cached_property
    def signature(self) -> str:
        """The model's name, a hash of its content, and how it is decoded; the card's words change no translation."""
        return self._signed("bundled", model=self._model, content=self._content())
