"""What scorers of published checkpoints have in common: their name, their signature, several references."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import ClassVar, Generic

import numpy as np

from babelquake.models.checkpoint import Checkpoint
from babelquake.models.published_metrics import N, Published
from babelquake.scorers.base import Array, MeanScorer, Questions
from babelquake.spec import Spec


class PublishedScorer(Published[N], MeanScorer, Generic[N]):
    """A scorer that is a checkpoint."""

    extra: ClassVar[str | None] = "neural"
    costly: ClassVar[bool] = True

    @property
    def described(self) -> str:
        return shown(self.spec, self.checkpoint)

    @property
    def special(self) -> Mapping[str, object]:
        """What the signature says beyond checkpoint, precision and libraries."""
        return {}

    @cached_property
    def signature(self) -> str:
        return self.signed(self.metric, **self.special)


def shown(spec: Spec, checkpoint: Checkpoint) -> str:
    """The name with the checkpoint's own name, not the path to it."""
    options = dict(spec.options)
    if "model" in options:
        options["model"] = checkpoint.name
    return str(Spec(spec.name, tuple(sorted(options.items()))))


def best_reference(
    questions: Questions,
    references: Sequence[Sequence[str]],
    judge: Callable[[Questions], Array],
    best: Callable[[Array], float] = np.max,
) -> Array:
    """Every translation judged with each of its references; the best score counts."""
    rows = [row for row, some in enumerate(references) for _ in some]
    each = questions.take(rows)
    flat = [[reference] for some in references for reference in some]
    scores = judge(Questions(each.translations, flat, each.sources))
    ends = np.cumsum([len(some) for some in references])
    return np.array([best(part) for part in np.split(scores, ends[:-1])], dtype=np.float64)
