"""What a run found about chat models: whether they obey texts, agree with themselves, and how much the prompt matters.

None of it is about quality: it is said of systems that translate badly too.
"""

from collections.abc import Iterator

from babelquake.perturb.labels import known_card
from babelquake.runs.findings import Finding, Number
from babelquake.runs.results import Results, distinct, values


def chat_findings(results: Results, pair: str | None) -> Iterator[Finding]:
    """Per system of a language pair, whatever the run has measured of it."""
    yield from _obeys(results, pair)
    yield from _prompts_matter(results, pair)
    yield from _agrees_with_itself(results, pair)


def _obeys(results: Results, pair: str | None) -> Iterator[Finding]:
    """The form of instruction that a system obeys most, the others after it, with what it translated all the same."""
    rows = results.known("obeyed", language_pair=pair)
    for system in values(rows, "system"):
        mine = sorted((row for row in rows if row["system"] == system), key=lambda row: -float(row["value"]))
        translated = results.beside(mine[0], "translated")
        numbers = [Number.of(row) for row in (*mine, *([translated] if translated else []))]
        yield Finding(
            what="obeys",
            weight="answer",
            who=system,
            language_pair=pair,
            perturbation=mine[0]["perturbation"],
            level=mine[0]["level"],
            numbers=tuple(numbers),
        )


def _prompts_matter(results: Results, pair: str | None) -> Iterator[Finding]:
    """Whether scores vary more with the prompt or with the source; decided where the intervals do not meet."""
    rows = results.known("sd_prompts", language_pair=pair)
    for system in values(rows, "system"):
        prompts = next(row for row in rows if row["system"] == system)
        sources = results.beside(prompts, "sd_sources")
        if sources is None:
            continue
        one, other = Number.of(prompts), Number.of(sources)
        known = None not in (one.low, one.high, other.low, other.high)
        more = "undecided"
        if known and (one.high or 0) < (other.low or 0):
            more = "source"
        elif known and (one.low or 0) > (other.high or 0):
            more = "prompt"
        yield Finding(
            what="prompts_matter",
            weight="answer",
            who=system,
            scorer=prompts["scorer"],
            language_pair=pair,
            numbers=(one, other),
            facts={"more": more},
        )


def _agrees_with_itself(results: Results, pair: str | None) -> Iterator[Finding]:
    """How far a system asked again says the same, and under which perturbations it says less of it."""
    rows = results.known("self_agreement", language_pair=pair)
    for system, scorer in distinct(rows, "system", "scorer")[: len(values(rows, "system"))]:
        own = next(row for row in rows if (row["system"], row["scorer"]) == (system, scorer))
        below = [
            Number.of(row)
            for row in results.known("consis_beyond_noise", language_pair=pair, system=system, scorer=scorer)
        ]
        yield Finding(
            what="agrees_with_itself",
            weight="answer",
            who=system,
            scorer=scorer,
            language_pair=pair,
            numbers=(Number.of(own), *sorted(below, key=lambda one: one.known)),
        )


def only_injects(results: Results, pair: str | None) -> bool:
    """Whether every perturbation of a run puts an instruction into the source."""
    labels = values(results.where("consis", "delta", language_pair=pair), "perturbation")
    cards = [known_card(label) for label in labels if label]
    return bool(cards) and all(card is not None and card.injects is not None for card in cards)
