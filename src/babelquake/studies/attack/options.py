"""What the attack study can be told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from babelquake.errors import UserError, setting
from babelquake.studies.options import Option, StudyOptions, Words

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

    recipes: Annotated[
        Words,
        Option(
            "--recipe",
            "-r",
            help="clare, faster-genetic, input-reduction, deepwordbug, or for inflate greedy-inflate, delete-disliked, "
            "reference-words, universal-suffix, universal-prefix; repeat for several.",
        ),
    ]
    victims: Annotated[
        Scorers,
        Option("--victim", "--scorer", "-m", help="Scorer to attack, QE included; repeat for several.", key="scorer"),
    ] = ()
    systems: Annotated[
        Systems, Option("--system", "-s", help="System to attack, with --goal collapse; repeat for several.")
    ] = ()
    goal: Annotated[
        str | Goal, Option("--goal", "-g", help="overpenalise, inconsistent, inflate or collapse, with [options].")
    ] = "overpenalise"
    constraints: Annotated[
        Words | None,
        Option(
            "--constraint",
            help="Instead of the goal's: perplexity[rise=10], quality[scorer=chrf], failures[new=1] … or none.",
        ),
    ] = None
    sample: Annotated[int | None, Option(help="Attack this many sentences.", min=1)] = None
    stratify: Annotated[
        Words, Option(metavar="COLUMNS", help="Balance the sample over these columns, such as system,year.")
    ] = ()
    by: Annotated[
        str | None, Option(metavar="COLUMN", help="Column to split tables by; default: year, if the data have it.")
    ] = None
    max_queries: Annotated[
        int | None, Option(help="Ask the victim at most this many questions per sentence.", min=1)
    ] = None
    time_limit: Annotated[
        float | str | None,
        Option(metavar="TIME", help="Stop after, e.g., 90s, 30m or 2h; the same command continues.", identity=False),
    ] = None
    masked_lm: Annotated[
        str | None, Option(metavar="MODEL", help="Masked language model for clare.", repeated=True)
    ] = None
    fluency_lm: Annotated[str | None, Option(metavar="MODEL", help="Language model that computes perplexity.")] = None
    neighbours: Annotated[str | None, Option(metavar="NAME", help="Word neighbours: a name or a file.")] = None
    similarity_encoder: Annotated[
        str | None, Option(metavar="MODEL", help="Encoder for the constraint `similarity`.")
    ] = None
    ratings: Annotated[
        Ratings | None,
        Option(
            metavar="FILE",
            help="Human ratings: a project of annotate, or a table (tuple, side, z).",
            identity=False,
            repeated=True,
        ),
    ] = None
    check: Annotated[
        Literal["auto", "after", "before"],
        Option(
            metavar="WHEN",
            help="Check costly constraints after asking the victim, or before, as TextAttack does; auto: before where "
            "the victim is a service that is paid for.",
        ),
    ] = "auto"
    pool: Annotated[int, Option(help="Sentences to attack at the same time.", min=1, identity=False)] = 64

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
