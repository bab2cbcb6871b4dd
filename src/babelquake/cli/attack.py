"""`babelquake attack`: which small edits does a metric punish far too hard, or judge inconsistently?"""

from typing import TYPE_CHECKING, Annotated

from babelquake.cli import options as opt
from babelquake.cli.options import option
from babelquake.cli.shared import Shared, study_command
from babelquake.errors import UserError

if TYPE_CHECKING:
    import polars as pl

UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0}


@study_command
def attack(
    shared: Shared,
    recipe: Annotated[
        list[str], option("--recipe -r", "RECIPE", "clare, faster-genetic, input-reduction or deepwordbug; repeatable.")
    ],
    out: opt.Out,
    victim: Annotated[
        list[str] | None, option("--victim --scorer -m", "VICTIM", "A scorer to attack, QE included; repeatable.")
    ] = None,
    system: Annotated[
        list[str] | None, option("--system -s", "SYSTEM", "A system to attack, with --goal collapse; repeatable.")
    ] = None,
    goal: Annotated[
        str, option("--goal -g", "GOAL", "overpenalise, inconsistent, inflate or collapse, with [options].")
    ] = "overpenalise",
    constraint: Annotated[
        list[str] | None,
        option("--constraint", "CONSTRAINT", "In place of the goal's: perplexity[rise=10], words[share=0.2] … none."),
    ] = None,
    sample: Annotated[int | None, option("--sample", "N", "Attack this many sentences.", min=1)] = None,
    stratify: Annotated[
        str, option("--stratify", "COLUMNS", "Columns the sample is balanced over, such as system,year.")
    ] = "",
    by: Annotated[
        str | None, option("--by", "COLUMN", "The column tables are split by; default: year, if there is one.")
    ] = None,
    max_queries: Annotated[
        int | None, option("--max-queries", "N", "Questions to the victim per sentence.", min=1)
    ] = None,
    time_limit: Annotated[
        str | None, option("--time-limit", "TIME", "Stop after 90s, 30m or 2h; the same command goes on.")
    ] = None,
    masked_lm: Annotated[str | None, option("--masked-lm", "MODEL", "The masked language model of clare.")] = None,
    fluency_lm: Annotated[str | None, option("--fluency-lm", "MODEL", "The causal model behind perplexity.")] = None,
    neighbours: Annotated[str | None, option("--neighbours", "NAME", "Word neighbours: a name or a file.")] = None,
    similarity: Annotated[
        str | None, option("--similarity-encoder", "MODEL", "The encoder of the constraint similarity.")
    ] = None,
    ratings: Annotated[
        str | None, option("--ratings", "FILE", "Human ratings: a project of annotate, or a table (tuple, side, z).")
    ] = None,
    check: Annotated[
        str, option("--check", "WHEN", "Look at costly constraints after the victim, or before it as TextAttack.")
    ] = "after",
    pool: Annotated[int, option("--pool", "N", "Sentences attacked side by side.", min=1)] = 64,
    resamples: opt.Resamples = 10_000,
) -> None:
    """Search the edits that make a scorer fail: share of sentences, cost, kinds of edits, transfer, human ratings.

    Example: babelquake attack -r deepwordbug -m chrf -d tuples.tsv --constraint levenshtein[most=2] -o runs/attack
    """
    from babelquake.attacks.attack import Check
    from babelquake.models.settings import offline as no_hub
    from babelquake.studies.attack.study import attack as study

    if no_hub() and not shared.offline:  # HF_HUB_OFFLINE makes the same models the defaults
        opt.say_offline()
    material = shared.read()
    run = study(
        recipes=recipe,
        victims=victim or (),
        data=material,
        goal=goal,
        out=out,
        systems=system or (),
        constraints=constraint or None,
        masked_lm=masked_lm,
        fluency_lm=fluency_lm,
        neighbours=neighbours,
        similarity_encoder=similarity,
        offline=shared.offline,
        sample=sample,
        stratify=[name.strip() for name in stratify.split(",") if name.strip()],
        by=by,
        max_queries=max_queries,
        time_limit=seconds(time_limit),
        check=opt.one_of("--check", check, Check),
        ratings=ratings_of(ratings),
        pool=pool,
        resamples=resamples,
        **shared.how(),
    )
    if ratings:
        (run.folder / "report.html").unlink(missing_ok=True)
    before = run.info.facts.command
    shared.finish(run, offline=shared.offline, ratings=ratings or (before and before.ratings))


def ratings_of(given: str | None) -> "str | pl.DataFrame | None":
    """What people said: of a project the means of its tuples; a table is read by the study."""
    from babelquake.annotate.project import is_project

    if given is None or not is_project(given):
        return given
    from babelquake.annotate.analyse import tuple_ratings

    return tuple_ratings(given)


def seconds(text: str | None) -> float | None:
    """`90s`, `30m`, `2h`, or plain seconds."""
    if text is None:
        return None
    number, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1.0)
    try:
        found = float(number) * unit
    except ValueError:
        found = -1.0
    if not 0 < found < float("inf"):
        raise UserError(f"--time-limit {text}: expected a time such as 90s, 30m or 2h.") from None
    return found
