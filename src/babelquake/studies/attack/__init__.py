"""What the attack study can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from babelquake.errors import UserError, setting
from babelquake.studies.options import StudyOptions, Words, about, option

if TYPE_CHECKING:
    from babelquake.attacks.goal import Goal
    from babelquake.studies.resolve import Ratings, Scorers, Systems


UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@dataclass(frozen=True, kw_only=True)
class AttackOptions(StudyOptions):
    """Search for edits that make a scorer fail: share of sentences, cost, kinds of edits, transfer, human ratings.

    Example: babelquake attack -r deepwordbug -m chrf -d tuples.tsv --constraint levenshtein[most=2] -o runs/attack
    """

    default_models_need_a_hub: ClassVar[bool] = True

    recipes: Words = field(
        metadata=about(
            "clare, faster-genetic, input-reduction, deepwordbug, or for inflate greedy-inflate, delete-disliked, "
            "reference-words, universal-suffix, universal-prefix; repeat for several.",
            "--recipe",
            "-r",
        )
    )
    victims: Scorers = option(
        (), "Scorer to attack, QE included; repeat for several.", "--victim", "--scorer", "-m", key="scorer"
    )
    systems: Systems = option((), "System to attack, with the goal collapse; repeat for several.", "--system", "-s")
    goal: str | Goal = option(
        "overpenalise", "overpenalise, inconsistent, inflate or collapse, with [options].", "--goal", "-g"
    )
    constraints: Words | None = option(
        None,
        "Instead of the goal's: perplexity[rise=10], quality[scorer=chrf], failures[new=1] … or none.",
        "--constraint",
    )
    sample: int | None = option(None, "Attack this many sentences.", min=1)
    stratify: Words = option((), "Balance the sample over these columns, such as system,year.", metavar="COLUMNS")
    by: str | None = option(None, "Column to split tables by; default: year, if the data have it.", metavar="COLUMN")
    max_queries: int | None = option(None, "Ask the victim at most this many questions per sentence.", min=1)
    time_limit: float | str | None = option(
        None, "Stop after, e.g., 90s, 30m or 2h; the same command continues.", metavar="TIME", identity=False
    )
    masked_lm: str | None = option(None, "Masked language model for clare.", metavar="MODEL", repeated=True)
    fluency_lm: str | None = option(None, "Language model that computes perplexity.", metavar="MODEL")
    neighbours: str | None = option(None, "Word neighbours: a name or a file.", metavar="NAME")
    similarity_encoder: str | None = option(None, "Encoder for the constraint `similarity`.", metavar="MODEL")
    ratings: Ratings | None = option(
        None,
        "Human ratings: a project of annotate, or a table (tuple, side, z).",
        metavar="FILE",
        identity=False,
        repeated=True,
    )
    check: Literal["auto", "after", "before"] = option(
        "auto",
        "Check costly constraints after asking the victim, or before, as TextAttack does; auto: before where "
        "the victim is a service that is paid for.",
        metavar="WHEN",
    )
    pool: int = option(64, "Sentences to attack at the same time.", min=1, identity=False)

    @property
    def seconds(self) -> float | None:
        """The time limit: `90s`, `30m`, `2h`, or plain seconds."""
        if self.time_limit is None:
            return None
        text = str(self.time_limit)
        number, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1.0)
        try:
            found = float(number) * unit
        except ValueError:
            found = -1.0
        if not 0 < found < float("inf"):
            raise UserError(f"{setting('time_limit', text)}: expected a time such as 90s, 30m or 2h.") from None
        return found
