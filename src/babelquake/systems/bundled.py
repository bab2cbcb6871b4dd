"""The small models that ship with the package: `bundled[model=de-en-bpe]`.

A model is a folder of `babelquake/models` with a CTranslate2 model, its SentencePiece model and a card that says how it
was trained. Decoding is greedy unless `beam` says otherwise: `beam=4` gains about one BLEU and takes twice as long.
"""

from functools import cached_property
from pathlib import Path
from typing import Annotated

from babelquake import models
from babelquake.errors import UserError, did_you_mean
from babelquake.spec import Range
from babelquake.systems.ctranslate2 import CTranslate2

FOLDER = Path(models.__file__).parent
CARD = "card.json"


def available() -> dict[str, Path]:
    """Names and folders of the models that ship."""
    return {
        path.parent.name: path.parent
        for path in sorted(FOLDER.glob(f"*/{CARD}"))
        if (path.parent / "model.bin").is_file()
    }


class Bundled(CTranslate2):
    """A model that ships with the package, on the CPU."""

    def __init__(
        self, model: str, beam: Annotated[int, Range(1, 64)] = 1, threads: Annotated[int, Range(0, 1024)] = 0
    ) -> None:
        known = available()
        if model not in known:
            raise UserError(f"no bundled model is called '{model}'. {did_you_mean(model, known)}".strip())
        super().__init__(str(known[model]), beam, device="cpu", threads=threads)
        self._model = model

    @cached_property
    def signature(self) -> str:
        """The model's name, a hash of its content, and how it is decoded; the card's words change no translation."""
        return self._signed("bundled", model=self._model, content=self._content())
