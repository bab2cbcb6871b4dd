"""OpenKiwi's predictor–estimator (Kim et al. 2017; Kepler et al. 2019), the lightest of the models in Kanojia 2021 §4.

Words are what stands between blanks, as in OpenKiwi: give it the tokenisation it was trained with. Words that it never
saw share one number, which is why it notices a translation that copies the source (Kanojia 2021 §5).
"""

from collections import defaultdict
from functools import cached_property
from typing import ClassVar, Literal

import numpy as np

from babelquake.models.checkpoint import library_versions, published
from babelquake.models.openkiwi import FILES, Loaded, load
from babelquake.models.settings import device_of
from babelquake.resource import Limits
from babelquake.scorers.base import Array, MeanScorer, Questions, required
from babelquake.scorers.published_scorer import shown
from babelquake.spec import signature

ROWS = 128
"""Segments of one shape that go through the network together."""


class OpenKiwi(MeanScorer):
    """Predicted human judgement of a translation given its source, by LSTMs without pre-training on large corpora.

    `model` is a folder with OpenKiwi's `model.torch`, or one that `babelquake train qe --architecture
    predictor-estimator` made. `predicts=hter` turns a predicted edit rate around, so that higher is better.
    """

    extra: ClassVar[str | None] = "neural"
    needs: ClassVar[frozenset[str]] = frozenset({"source"})
    costly: ClassVar[bool] = True

    limits = Limits(texts=1024)
    """Enough segments at once to find some of equal shape."""

    def __init__(self, model: str, predicts: Literal["score", "hter"] = "score", device: str = "auto") -> None:
        self.checkpoint = published(model, FILES, "openkiwi")
        self.predicts = predicts
        self._device = device

    @property
    def described(self) -> str:
        return shown(self.spec, self.checkpoint)

    @cached_property
    def signature(self) -> str:
        return signature(
            "openkiwi",
            self.checkpoint.name,
            content=self.checkpoint.content,
            predicts=self.predicts,
            libraries=library_versions("openkiwi").partition(",")[0],
        )

    @cached_property
    def loaded(self) -> Loaded:
        """The weights and vocabularies, loaded when first needed."""
        library_versions("openkiwi")
        found = load(self.checkpoint.folder)
        found.network.to(device_of(self._device))
        return found

    def judge(self, questions: Questions) -> Array:
        import torch

        from babelquake.models.predictor_estimator import numbered

        sources = required(questions.sources, self, "source")
        groups: dict[tuple[int, int], list[int]] = defaultdict(list)
        ids = []
        for row, (source, translation) in enumerate(zip(sources, questions.translations, strict=True)):
            pair = numbered(source.split(), self.loaded.source), numbered(translation.split(), self.loaded.target)
            ids.append(pair)
            groups[len(pair[0]), len(pair[1])].append(row)
        found = np.zeros(len(ids))
        device = device_of(self._device)
        with torch.inference_mode():
            for group in groups.values():
                for start in range(0, len(group), ROWS):
                    rows = group[start : start + ROWS]
                    s, t = (torch.tensor([ids[row][side] for row in rows], device=device) for side in (0, 1))
                    found[rows] = self.loaded.network(s, t).double().cpu().numpy()
        return 1 - found if self.predicts == "hter" else found

    def close(self) -> None:
        self.__dict__.pop("loaded", None)
