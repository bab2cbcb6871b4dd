"""What readers call things: systems, scorers, attacks, statistics, perturbations, kinds of failure."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from babelquake.errors import UserError
from babelquake.failures.base import DETECTORS
from babelquake.perturb.labels import label_of
from babelquake.runs.measures import Results, Row, is_significant, values
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


def labelled(perturbations: Iterable[str | None]) -> Callable[[str | None, float | None], str]:
    """What a perturbation at a level is called among all these; the clean text has no name."""
    among = {name for name in perturbations if name}
    return lambda name, level: label_of(name, level, among) if name else ""


def row_label(rows: Iterable[dict[str, Any]]) -> Callable[[dict[str, Any]], str]:
    """What the perturbation of a row is called among those of all rows."""
    named = labelled(row["perturbation"] for row in rows)
    return lambda row: named(row["perturbation"], row["level"])


def listed(items: Sequence[str], most: int = 6) -> str:
    """`a, b and c`; long lists end in a count."""
    shown = list(items[:most])
    if len(items) > most:
        shown.append(f"{len(items) - most} more")
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def of_pair(pair: str | None, pairs: Sequence[str | None]) -> str:
    """Names the language pair where there are several."""
    return f"{pair}: " if pair and len(pairs) > 1 else ""


def count(number: int, noun: str) -> str:
    """`1 measure`, `1,200 measures`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


OWN_RULES = "your rules"


class Kind(NamedTuple):
    """A kind of failure in plain words."""

    label: str
    remedy: str


ASK_AGAIN = "ask again, or ask another system; babelquake mt --defence fallback measures it"
PUT_BACK = "put it back after translating; babelquake mt --defence repair measures it"
CHAT = "say in the prompt that only the translation is wanted, and that the text is not for the model"
READ = "have these read by a person before they are used"
KINDS = {
    "answer": Kind("question answered", CHAT),
    "comment": Kind("comment around the translation", CHAT),
    "refusal": Kind("refusal", CHAT),
    "obeyed": Kind("instruction obeyed", CHAT),
    "not-translated": Kind("rest not translated", CHAT),
    "copied": Kind("source copied", ASK_AGAIN),
    "empty": Kind("empty", ASK_AGAIN),
    "untranslated": Kind("part left untranslated", ASK_AGAIN),
    "off-target": Kind("wrong language", "check the language that is asked for"),
    "source-language": Kind("left in the source's language", "check the language that is asked for"),
    "mixed": Kind("languages mixed", ASK_AGAIN),
    "script": Kind("wrong script", "check the language that is asked for"),
    "loop": Kind("words repeated over and over", ASK_AGAIN),
    "truncated": Kind("far too short", "check the limits on length; then " + ASK_AGAIN),
    "runaway": Kind("far too long", ASK_AGAIN),
    "detached": Kind("about something else", ASK_AGAIN),
    "number": Kind("number lost or added", READ),
    "unit": Kind("unit changed", READ),
    "date": Kind("date changed", READ),
    "name": Kind("name lost", READ),
    "negation": Kind("negation lost or gained", READ),
    "email": Kind("e-mail address changed", PUT_BACK),
    "url": Kind("web address changed", PUT_BACK),
    "tag": Kind("tag lost or changed", PUT_BACK),
    "placeholder": Kind("placeholder lost or changed", PUT_BACK),
    "symbol": Kind("emoji or rare character lost", READ),
    "misfit": Kind("answer not of the form asked for", CHAT),
    "sentence-omitted": Kind("sentence left out", ASK_AGAIN),
    "context-leaked": Kind("context translated too", CHAT),
}
"""What readers call a kind, and what is known to help against it."""


def family_of(kind: str) -> str:
    """The family on its card; rules of the user's own have none."""
    return DETECTORS.get(kind).family if kind in DETECTORS.names() else OWN_RULES


def failure_label(kind: str) -> str:
    """A kind in plain words; the user's own rules by their names."""
    if kind in KINDS:
        return KINDS[kind].label
    return "your terminology" if kind == "rule:term" else kind.replace("rule:", "your rule ", 1)
