"""Which models an attack draws on: named by the user, the paper's, or those that ship."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from babelquake import models
from babelquake.attacks.constraints import Constraint
from babelquake.attacks.moves.words import neighbours, neighbours_signature
from babelquake.attacks.recipes import Tools, recipe
from babelquake.models import CausalLM, Encoder, MaskedLM
from babelquake.models.settings import offline
from babelquake.spec import Spec

PAPER = {"masked": "distilroberta-base[words=any]", "fluency": "gpt2", "similarity": "minilm-en"}
SHIPPED = {"masked": "minilm-en[words=any]", "fluency": "gpt-en", "similarity": "minilm-en"}
"""`words=any`: pieces of words count as words, as in TextAttack, which the paper ran."""
OPTIONS = {"masked": "masked_lm", "fluency": "fluency_lm", "similarity": "similarity_encoder"}
"""What the options are called that name these models."""
NEIGHBOURS = "neighbours-en"
"""No hub holds a counter-fitted space by name, so this one serves unless another is named."""


@dataclass(frozen=True)
class Wishes:
    """What the user said about models; None means the paper's, or the one that ships where there is no network."""

    masked: str | None = None
    fluency: str | None = None
    neighbours: str | None = None
    similarity: str | None = None
    offline: bool = False

    def chosen(self, which: str) -> str:
        """The model's name."""
        said: str | None = getattr(self, which)
        return said or (SHIPPED if self.offline or offline() else PAPER)[which]


class Models:
    """The models that these recipes and constraints need, each made when it is first asked for."""

    def __init__(
        self, wishes: Wishes, recipes: Sequence[Spec], constraints: Sequence[Constraint], strict: bool
    ) -> None:
        needs = {need for spec in recipes for need in recipe(spec, Tools({}, lambda sentence: ())).needs}
        limits = {constraint.name for constraint in constraints}
        self.wishes, self.strict = wishes, strict
        self.names: dict[str, str] = {}
        for which, needed in (
            ("masked", "masked" in needs),
            ("fluency", "perplexity" in limits),
            ("similarity", "similarity" in limits),
        ):
            if needed:
                self.names[which] = wishes.chosen(which)
        if "neighbours" in needs:
            self.names["neighbours"] = wishes.neighbours or NEIGHBOURS

    @property
    def options(self) -> dict[str, Any]:
        """The models by the options that name them, for run.json."""
        return {OPTIONS.get(which, which): name for which, name in self.names.items()}

    @property
    def unused(self) -> list[str]:
        """Models that were named and that no recipe and no constraint asks."""
        named = {which: getattr(self.wishes, which) for which in (*OPTIONS, "neighbours")}
        return [name for which, name in named.items() if name and which not in self.names]

    @property
    def of_english(self) -> list[str]:
        """Those among the models that stand in where none is named: they know English alone."""
        return sorted({*PAPER.values(), *SHIPPED.values(), NEIGHBOURS} & {*self.names.values()})

    @cached_property
    def masked(self) -> MaskedLM | None:
        """Fills the gaps of mask-then-infill moves."""
        return models.masked(self.names["masked"]) if "masked" in self.names else None

    @cached_property
    def fluency(self) -> CausalLM | None:
        """Tells how surprising a text is."""
        return models.causal(self.names["fluency"]) if "fluency" in self.names else None

    @cached_property
    def similarity(self) -> Encoder | None:
        """Gives sentences a vector."""
        return models.encoder(self.names["similarity"]) if "similarity" in self.names else None

    @cached_property
    def neighbours(self) -> Mapping[str, Sequence[str]]:
        """The word space."""
        return neighbours(self.names["neighbours"]) if "neighbours" in self.names else {}

    @property
    def signatures(self) -> dict[str, str]:
        """What each model is, for run.json and for refusing to go on with another of the same name."""
        made = {"masked": self.masked, "fluency": self.fluency, "similarity": self.similarity}
        found = {f"{which} model": model.signature for which, model in made.items() if model is not None}
        if "neighbours" in self.names:
            found["neighbours"] = neighbours_signature(self.names["neighbours"])
        return found
