"""Systems, scorers and statistics as readers know them."""

from collections.abc import Callable, Iterable

from babelquake.errors import UserError
from babelquake.runs.results import Results, Row, is_significant, values
from babelquake.runs.run import Run
from babelquake.scorers import SCORERS
from babelquake.spec import parse
from babelquake.studies.agreement import AGREEMENTS
from babelquake.systems import SYSTEMS

DISPLAY = {
    "bleu": "BLEU",
    "chrf": "chrF",
    "ter": "TER",
    "comet": "COMET",
    "bleurt": "BLEURT",
    "bertscore": "BERTScore",
    "transquest": "TransQuest",
    "sentsim": "SentSim",
    "openkiwi": "OpenKiwi",
}
"""Scorers as the field writes them."""


RECIPES = {
    "input-reduction": "Input Reduction",
    "deepwordbug": "DeepWordBug",
    "clare": "CLARE",
    "faster-genetic": "Faster Genetic",
    "greedy-inflate": "greedy inflation",
    "delete-disliked": "deletion of disliked words",
    "reference-words": "words of the reference",
    "universal-suffix": "one suffix for all",
    "universal-prefix": "one prefix for all",
}
"""Attacks as their papers write them, ours in plain words."""


def recipe_text(recipe: str | None, among: Iterable[str | None] | None = None) -> str:
    """An attack as its paper writes it; its options behind it, but where no other of its name is among those given."""
    name, _, options = (recipe or "").partition("[")
    said = RECIPES.get(name, name)
    alone = among is not None and {base_name(other or "") for other in among if other != recipe}.isdisjoint({name})
    return said if alone or not options else f"{said} ({options.removesuffix(']').replace(',', ', ')})"


def results_of(run: Run) -> Results:
    """The measures of a run, its systems under short names."""
    results = Results.of(run)
    short = short_names(row["system"] for row in results.rows if row["system"] is not None)
    for row in results.rows:
        if row["system"] is not None:
            row["system"], row["other"] = (short.get(row[name], row[name]) for name in ("system", "other"))
    return results


def level_text(level: float | None) -> str:
    """A level as tables show it."""
    return "" if level is None else f"{level:g}"


def short_names(systems: Iterable[str]) -> dict[str, str]:
    """`bundled[model=de-en-bpe]` is de-en-bpe where no other system would be called so; a defence is named after it."""
    short = {}
    for whole in dict.fromkeys(systems):
        name, plus, chain = whole.partition(" + ")
        try:
            options = dict(parse(name).options)
        except UserError:
            options = {}
        model = options.get("model") or (name.rpartition(":")[2] if not options else name)
        shown = options.get("name") or (model if "[" in model else model.rstrip("/").rpartition("/")[2]) or name
        short[whole] = shown + plus + chain
    taken = list(short.values())
    return {name: shown if taken.count(shown) == 1 else name for name, shown in short.items()}


def base_name(name: str) -> str:
    """A name without its options."""
    return name.partition("[")[0]


def scorer_text(scorer: str, among: Iterable[str] = ()) -> str:
    """A scorer as the field writes it, with its options only where they tell it from another one."""
    name, bracket, options = scorer.partition("[")
    if name in SYSTEMS.names() and name not in SCORERS.names():  # the victim of an attack on a system
        return short_names([scorer])[scorer]
    shown = DISPLAY.get(name, name)
    alone = sum(base_name(other) == name for other in among) <= 1
    return shown if alone else shown + bracket + options


def named(rows: Iterable[Row], column: str = "scorer") -> Callable[[Row], str]:
    """What the scorer of a row is called among those of all rows."""
    among = values(rows, column)
    return lambda row: scorer_text(row[column], among)


def tested_text(row: Row) -> str:
    """What charts say of a test."""
    return "significant" if is_significant(row) else "not significant"


def statistic_text(measure: str) -> str:
    """An agreement statistic as papers name it."""
    return AGREEMENTS[measure].label if measure in AGREEMENTS else measure.replace("_", " ")
