"""What an MT study would still have to send, and what that costs, before anything is sent.

Texts whose translations are already in the cache count as sent, so the forecast of an interrupted study is what is left
of it.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from babelquake.data import Given, dataset
from babelquake.engine import Cache, Engine
from babelquake.errors import UserError
from babelquake.perturb.suite import Suite
from babelquake.runs.run import Run
from babelquake.studies.given_variants import stored_systems
from babelquake.studies.mt.sources import sources_of, suite_for, texts_to_translate
from babelquake.studies.resolve import AnySystem, several
from babelquake.studies.variants import fillers_of
from babelquake.systems import System
from babelquake.systems import system as system_of


@dataclass(frozen=True)
class Unsent:
    """What one system still has to translate for one language pair."""

    system: str
    language_pair: str | None
    remote: bool
    texts: int
    characters: int
    dollars: float | None
    """At the provider's list price; None where there is none."""


@dataclass(frozen=True)
class Forecast:
    """The size of a study."""

    segments: int
    texts: int
    """Distinct sources, clean and perturbed."""
    systems: tuple[Unsent, ...]

    def told(self) -> list[str]:
        """In words."""
        lines = [f"{self.segments} segments, {self.texts} distinct sources, clean and perturbed."]
        for row in self.systems:
            pair = f" {row.language_pair}" if len({other.language_pair for other in self.systems}) > 1 else ""
            price_tag = f", about ${row.dollars:.2f}" if row.dollars is not None else ""
            lines.append(f"{row.system}{pair}: {row.texts} still to send, {row.characters:,} characters{price_tag}")
        return lines

    def keep_within(self, budget: int) -> None:
        """Refuse a study that would send more than the budget allows."""
        keep_within(budget, self)


def forecast(
    systems: AnySystem | Sequence[AnySystem],
    data: Given,
    suite: str | Suite | Sequence[str] | None = None,
    *,
    seed: int = 0,
    replicates: int | None = None,
    vocabulary: str | None = None,
    sample: int | None = None,
    engine: Engine | None = None,
) -> Forecast:
    """Count what every system has to translate for every language pair; nothing is sent."""
    engine = engine or Engine(Cache())
    material = dataset(data)
    segments, _ = sources_of(material)
    chosen = suite_for(suite, material, replicates, vocabulary).with_model(None)
    stored = {item.name for found in stored_systems(material, segments).values() for item in found}
    named: list[AnySystem] = several(systems)
    asked = [item for item in named if item not in stored]
    to_translate = texts_to_translate(segments, chosen, seed, fillers_of(engine), sample)
    counted: dict[str, set[str]] = {}
    found = []
    for pair in sorted(to_translate, key=str):
        for what in asked:
            with closing(system_of(what, pair)) as item:
                before = counted.setdefault(item.signature, set())
                unsent = [text for text in engine.untranslated(item, to_translate[pair]) if text not in before]
            before.update(unsent)
            found.append(_unsent(item, pair, unsent))
    distinct = {text for texts in to_translate.values() for text in texts}
    return Forecast(segments.height, len(distinct), tuple(found))


def translated(folder: Path | str | None, restart: bool) -> bool:
    """Whether a run folder already holds every translation, so that a study that goes on with it sends nothing."""
    if folder is None or restart or not (Path(folder) / "run.json").is_file():
        return False
    return Run.open(folder).has("translations")


def keep_within(budget: int, expected: Forecast) -> None:
    """Refuse a study that would send more characters to remote systems than the budget allows."""
    remote = [row for row in expected.systems if row.remote and row.characters]
    characters = sum(row.characters for row in remote)
    if characters <= budget:
        return
    where = ", ".join(f"{row.system} {row.language_pair or ''}".strip() + f" {row.characters:,}" for row in remote)
    priced = [row.dollars for row in remote if row.dollars is not None]
    cost = f"about ${sum(priced):.2f}" if priced else "at a price that is not known"
    if len(priced) not in (0, len(remote)):
        cost += " and what those without a list price charge"
    raise UserError(
        f"{characters:,} characters are still to be sent ({where}), {cost}; --budget allows {budget:,}. Nothing was "
        "sent. Allow more, or take fewer segments, perturbations or replicates."
    )


def _unsent(item: System, pair: str | None, texts: Sequence[str]) -> Unsent:
    characters = sum(map(len, texts))
    price = item.price_per_million
    dollars = characters / 1e6 * price if price is not None else None
    return Unsent(item.name, pair, item.remote, len(texts), characters, dollars)
