"""What scorers of published checkpoints have in common: their name, several references, and texts that were cut."""

from collections.abc import Callable, Sequence

import numpy as np

from babelquake.models.checkpoint import Checkpoint
from babelquake.remarks import remark
from babelquake.scorers.base import Array, Questions
from babelquake.spec import Spec


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


def note_cut(name: str, count: int) -> None:
    """Say how many texts were longer than the model reads."""
    remark(f"texts of which {name} read the beginning only", count)
