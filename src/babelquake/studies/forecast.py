"""What a plan would still have to ask, and what that costs, before anything is asked.

Answers that are already in the cache count as given, so the forecast of an interrupted study is what is left of it.
Time is what earlier calls of the same system or scorer took; where there were none, it is not known.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from babelquake.engine import Engine
from babelquake.engine.progress import duration
from babelquake.errors import UserError, setting
from babelquake.models.chat import Cost
from babelquake.perturb.suite import Suite
from babelquake.scorers.base import Question, Scorer
from babelquake.studies.plan import Plan
from babelquake.studies.variants import Piece, any_filler, blocks_of, variants_of
from babelquake.systems import System
from babelquake.systems.files import Stored

N = TypeVar("N", int, float)
STAND_IN = Question("", ("",), "")
"""To see whether a scorer counts tokens."""


@dataclass(frozen=True)
class Unasked:
    """What one system still has to translate for one language pair, or one scorer to judge."""

    name: str
    language_pair: str | None
    remote: bool
    texts: int
    characters: int | None
    """None where the texts do not exist yet: scorers of translations that are still to be made."""
    dollars: float | None
    """At the provider's list price, or at the user's; None where there is none."""
    seconds: float | None
    """At the speed of earlier calls; None where there were none."""
    tokens: int | None = None
    """Of prompts, texts and answers, about; None where nobody counts tokens."""
    what: str = field(default="texts to score", compare=False)
    """What is counted in `texts`."""


@dataclass(frozen=True)
class Forecast:
    """The size of a study."""

    segments: int
    """In the data."""
    selected: int
    """That are perturbed, attacked or judged."""
    variants: int
    """Perturbed texts."""
    texts: int
    """Distinct texts to translate, or questions to scorers."""
    systems: tuple[Unasked, ...]
    scorers: tuple[Unasked, ...]
    searches: int | None = None
    """Attacks on single sentences; what these ask is not known beforehand."""
    most_questions: int | None = None
    """The most that attacks may ask on single sentences, where there is a limit."""
    shared_questions: int = 0
    """The most that they ask beside that, for one text for all sentences."""

    @property
    def rows(self) -> tuple[Unasked, ...]:
        """Systems, then scorers."""
        return (*self.systems, *self.scorers)

    @property
    def dollars(self) -> float | None:
        """What is known of the price of everything."""
        return _sum(row.dollars for row in self.rows)

    @property
    def tokens(self) -> int | None:
        """How many tokens go to chat models and come back, about."""
        return _sum(row.tokens for row in self.rows)

    @property
    def seconds(self) -> float | None:
        """How long everything takes, as far as it is known."""
        return _sum(row.seconds for row in self.rows)

    def __str__(self) -> str:
        """In words, a line for each system and scorer."""
        perturbed = f", {self.variants:,} perturbed texts" if self.variants else ""
        lines = [f"{self.segments:,} segments, {self.selected:,} used{perturbed}."]
        pairs = {row.language_pair for row in self.systems}
        for row in self.rows:
            pair = f" {row.language_pair}" if len(pairs) > 1 and row.language_pair else ""
            characters = "" if row.characters is None else f", {row.characters:,} characters"
            characters += "" if row.tokens is None else f", about {row.tokens:,} tokens"
            price = "" if row.dollars is None else f", about {price_of(row.dollars)}"
            time = "" if row.seconds is None else f", about {duration(row.seconds)}"
            lines.append(f"{row.name}{pair}: {row.texts:,} {row.what}{characters}{price}{time}")
        if self.searches is not None:
            most = "" if self.most_questions is None else f", {self.most_questions:,} questions at most"
            shared = f"; {self.shared_questions:,} for one text for all sentences" if self.shared_questions else ""
            lines.append(f"{self.searches:,} searches{most}{shared}")
        return "\n".join(lines)

    def keep_within(self, budget: int) -> None:
        """Refuse a study that would send more characters to remote systems and judges than the budget allows."""
        refuse_beyond(budget, [row for row in self.rows if row.remote and row.characters])


def _sum(numbers: Iterable[N | None]) -> N | None:
    """What is known of it together."""
    known = [number for number in numbers if number is not None]
    return sum(known) if known else None


def price_of(dollars: float) -> str:
    """Dollars and cents; less than ten cents with two digits that count."""
    return f"${dollars:.2f}" if dollars >= 0.1 or not dollars else f"${max(dollars, 1e-4):.2g}"


def refuse_beyond(budget: int, remote: Sequence[Unasked]) -> None:
    """Refuse to send more than the budget allows."""
    characters = sum(row.characters or 0 for row in remote)
    if characters <= budget:
        return
    where = ", ".join(f"{row.name} {row.language_pair or ''}".strip() + f" {row.characters:,}" for row in remote)
    priced = [row.dollars for row in remote if row.dollars is not None]
    cost = f"about {price_of(sum(priced))}" if priced else "at an unknown price"
    if len(priced) not in (0, len(remote)):
        cost += " and what those without a list price charge"
    raise UserError(
        f"{characters:,} characters are still to be sent ({where}), {cost}; {setting('budget')} allows {budget:,}. "
        "Nothing was sent. Allow more, or use fewer segments, perturbations or replicates."
    )


def keep_within_budget(plan: Plan) -> None:
    """Refuse, before a run folder is made, what would send more than the budget allows.

    A run that exists may hold part of the answers: its budget is kept when it is continued.
    """
    options = plan.options
    budget = getattr(options, "budget", None)
    begun = options.out is not None and (Path(options.out) / "run.json").is_file() and not options.restart
    if budget is not None and not begun:
        forecast(plan).keep_within(budget)


def forecast(plan: Plan, engine: Engine | None = None) -> Forecast:
    """Count what every system and scorer has to answer; nothing is asked."""
    engine = engine or plan.options.made_engine()
    costly = plan.systems is not None or any(scorer.costly or scorer.remote for scorer in plan.scorers)
    texts, sent, variants = _texts(plan, engine) if costly else (set(), {}, _counted(plan))
    systems = () if plan.systems is None else tuple(_of_systems(plan, sent, engine))
    scorers, asked = _of_scorers(plan, engine, variants)
    scorers = (*scorers, *plan.local())
    everything = len(texts) if plan.systems is not None else asked
    limit = getattr(plan.options, "max_queries", None)
    return Forecast(
        segments=len(plan.data),
        selected=plan.segments.height,
        variants=variants,
        texts=everything,
        systems=systems,
        scorers=scorers,
        searches=plan.searches,
        most_questions=plan.searches * limit if plan.searches is not None and limit else None,
        shared_questions=plan.shared_questions,
    )


Sending = dict[tuple[str | None, int], dict[str, None]]
"""By language pair and number of the system, what it is sent, each once."""


def _texts(plan: Plan, engine: Engine) -> tuple[set[str], Sending, int]:
    """All clean and perturbed texts that are not blank, what each system is sent, and how many texts are perturbed."""
    texts: set[str] = set()
    sent: Sending = {}
    count = 0
    for block, variants in plan.variants(engine):
        material = plan.perturbed
        texts.update(block.segments[material.column].fill_null(""), variants["text"])
        count += variants.height
        for number, system in enumerate((plan.systems or {}).get(block.language_pair, ())):
            if not isinstance(system, Stored):
                asking = material.asking(system)
                here = sent.setdefault((block.language_pair, number), {})
                here.update(dict.fromkeys(asking.everything(block.segments, variants)))
    return {text for text in texts if text.strip()}, sent, count


def _counted(plan: Plan) -> int:
    """How many perturbed texts there would be: each perturbation is tried once and counted as often as it repeats."""
    if plan.material is None:
        return 0
    if plan.material.given is not None:
        return sum(variants.height for _, variants in plan.variants(Engine(quiet=True)))
    suite, material = plan.perturbations, plan.material
    once = Suite("", suite.perturbations, replicates=1)
    repeats = {perturbation.cell: suite.repeats(perturbation) for perturbation in suite.perturbations}
    total = 0
    for block in blocks_of(material.segments, once):
        piece = Piece(block, material.lang(block.language_pair), plan.words.get(block.language_pair))
        made = variants_of(material.column, once, plan.seed, False, piece, any_filler)
        counts = made.group_by(["perturbation", "level"]).len()
        total += sum(count * repeats.get((label, level), 1) for label, level, count in counts.iter_rows())
    return total


def _of_systems(plan: Plan, sent: Sending, engine: Engine) -> Iterable[Unasked]:
    """What each system still has to translate."""

    def asked() -> Iterable[tuple[System, str | None, list[str]]]:
        for pair, number in sorted(sent, key=lambda key: (str(key[0]), key[1])):
            with closing((plan.systems or {})[pair][number]) as system:
                yield system, pair, list(sent[pair, number])

    return unsent_by(asked(), engine)


def unsent_by(asked: Iterable[tuple[System, str | None, list[str]]], engine: Engine) -> list[Unasked]:
    """What systems are still to be sent, and what that costs: the same text is sent to one system once.

    What a defended system is asked counts as the system's own, what its defences ask as theirs.
    """
    known: dict[str, set[str]] = {}
    rows: dict[tuple[str, str | None], tuple[System, list[str]]] = {}
    for defended, pair, texts in asked:
        for system, unsent in engine.unsent(defended, texts):
            before = known.setdefault(system.signature, set())
            _, mine = rows.setdefault((system.signature, pair), (system, []))
            mine += [text for text in unsent if text not in before]
            before.update(unsent)
    return [_unsent(system, pair, texts, engine) for (_, pair), (system, texts) in rows.items()]


def _unsent(system: System, pair: str | None, texts: Sequence[str], engine: Engine) -> Unasked:
    cost, seconds, what = system.cost(texts), engine.seconds(system.signature, len(texts)), "texts to translate"
    told = (cost.characters, cost.dollars, seconds, cost.tokens)
    return Unasked(system.name, pair, system.remote, len(texts), *told, what=what)


def _of_scorers(plan: Plan, engine: Engine, variants: int) -> tuple[tuple[Unasked, ...], int]:
    """What each scorer still has to judge; of those that compute, how many texts there are.

    Of translations that are still to be made, texts stand in for their translations.
    """
    asking = [scorer for scorer in plan.scorers if scorer.costly or scorer.remote]
    counts: Counter[str] = Counter()
    costs: dict[str, Cost] = {}
    if plan.systems is not None:
        times = max(map(len, plan.systems.values()), default=0)
        texts = (plan.segments.height + variants) * times
        judges = [scorer for scorer in asking if scorer.cost([STAND_IN]).tokens is not None]
        for block, made in plan.variants(engine) if judges else ():
            stand_ins = plan.perturbed.questions(block, plan.perturbed.paired(block, made))
            for scorer in judges:
                for way in scorer.ways:
                    _add(costs, scorer, way.cost(stand_ins.one_by_one(scorer.needs) * times))
        about = {name: cost._replace(characters=None) for name, cost in costs.items()}
        return tuple(_unjudged(one, texts * len(one.ways), about.get(one.name), engine) for one in plan.scorers), texts
    total = sum(len(some) for some in plan.beside()) + (plan.segments.height + variants if plan.material else 0)
    for questions in plan.questions(engine) if asking else ():
        for scorer in asking:
            for way in scorer.ways:
                unjudged = engine.unjudged(way, questions)
                counts[scorer.name] += len(unjudged)
                _add(costs, scorer, way.cost(unjudged))
    rows = [
        _unjudged(scorer, counts[scorer.name], costs.get(scorer.name, Cost(0)), engine)
        if scorer in asking
        else _unjudged(scorer, total, None, engine)
        for scorer in plan.scorers
    ]
    return tuple(rows), total


def _add(costs: dict[str, Cost], scorer: Scorer, cost: Cost) -> None:
    """Add to what a scorer's answers cost; what is not known stays so."""
    before = costs.get(scorer.name)
    sums: Any = (None if None in pair else sum(pair) for pair in zip(before or (), cost, strict=False))
    costs[scorer.name] = cost if before is None else Cost(*sums)


def _unjudged(scorer: Scorer, texts: int, cost: Cost | None, engine: Engine) -> Unasked:
    cost = cost or Cost(None)
    seconds = engine.seconds(scorer.ways[0].signature, texts)
    return Unasked(scorer.name, None, scorer.remote, texts, cost.characters, cost.dollars, seconds, tokens=cost.tokens)
