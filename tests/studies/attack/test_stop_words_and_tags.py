"""What attacks know of a language."""

import pytest

from babelquake.attacks.sentence import Sentence
from babelquake.languages import Language
from babelquake.perturb.linguistics import Linguistics, linguistics
from babelquake.studies.attack import models


def test_a_tagger_is_loaded_by_the_first_question(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Language | None] = []

    def load(lang: Language | None) -> Linguistics:
        loaded.append(lang)
        return linguistics(lang)

    monkeypatch.setattr(models, "linguistics", load)
    of = models.tags(Language("en"))
    assert not loaded
    assert of(Sentence.of("the 3 houses, over there")) == ["DET", "NUM", "NOUN", "X", "X"] and loaded
