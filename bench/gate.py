"""How often is the gate wrong? Comparisons with known truth: false alarms, and falls that it finds.

    python bench/gate.py SUITE WORLDS FIRST_SEED      adds to bench/results/gate.json

Segments are made of words. Two systems translate them with the same expected quality and robustness, so that nothing is
worse or better; or the new one keeps 3 % less of its quality (ROBUST by chrF). A suite is its shape: how many of the
segments each perturbation applies to. Translations are judged by chrF and BLEU; what follows is what `compare` does.

Every world has its own words, systems and segments, and 40 comparisons of each truth (20 of a worse system). The tests
were chosen on worlds of seeds 0 to 6 and 101 to 103; the stored results are of others, from 11 on.

- `retrained`: the new system makes mistakes of its own, half of them in other places, as a model trained again does.
- `damaged`: the new system is the old one, and loses further words of perturbed sentences.
- `shattered`: as `retrained`, but what it loses it loses in few sentences, which fall apart.
"""

import json
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from babelquake.scorers import Questions, scorer
from babelquake.scorers.base import Array, Scorer
from babelquake.stats.resampling import Places, keys_by_place
from babelquake.studies.cells import Cell, Place
from babelquake.studies.compare import compared_cells, judge
from babelquake.studies.comparison import Change
from babelquake.studies.mt.cells import fill, hurt, quality
from babelquake.studies.mt.study import MT

RESULTS = Path(__file__).parent / "results" / "gate.json"
SUITES: dict[str, tuple[float, ...]] = {
    "niu2020": (1.0, 1.0),
    "everyday": (1.0, 0.6, 1.0, 1.0, 0.9, 1.0, 0.95, 0.1, 0.85, 0.05, 1.0, 0.6, 1.0, 1.0),
}
"""The share of segments that each perturbation of a suite applies to."""
IN_A_WORLD = 40
POOL = 1000
"""Segments from which comparisons draw theirs."""
RESAMPLES = 399
VOCABULARY = 5000
HIT, SEVERE = 0.5, 0.04
"""The share of perturbed sentences whose translation changes, and of those the share that falls apart."""
FALL = 3.0
"""Points of ROBUST by chrF that a worse system loses."""
SIDES = ("clean", "perturbed", "hurt", "forward", "backward")
Words = list[str]
Counts = dict[str, float]
Statistics = Mapping[tuple[str, int, str], Array]
"""By scorer, perturbation and side; a row for every segment of the pool."""


class World:
    """A pool of segments, and systems that translate them."""

    def __init__(self, suite: str, scorers: Sequence[Scorer], seed: int = 0, pool: int = POOL) -> None:
        self.scorers, self.rng, self.keys = scorers, np.random.default_rng(seed), np.sort(keys_by_place(pool))
        self.popularity = 1 / np.arange(1, VOCABULARY + 1)
        self.popularity /= self.popularity.sum()
        letters = np.array(list("abcdefghiklmnoprstuvw"))
        self.vocabulary = ["".join(self.rng.choice(letters, size)) for size in self.rng.integers(2, 10, VOCABULARY)]
        lengths = np.clip(self.rng.lognormal(np.log(18), 0.5, pool).astype(int), 4, 60)
        self.references = [self._drawn(length) for length in lengths]
        self.difficulty = self.rng.beta(1.6, 3.0, pool)
        self.chance = [self.rng.random(length) for length in lengths]
        self.applies = [self.rng.random(pool) < share for share in SUITES[suite]]

    def _drawn(self, count: int) -> Words:
        return [self.vocabulary[place] for place in self.rng.choice(VOCABULARY, count, p=self.popularity)]

    def _corrupted(self, text: Words, wrong: Array) -> Words:
        others = iter(self._drawn(int(wrong.sum())))
        return [next(others) if bad else word for word, bad in zip(text, wrong, strict=True)]

    def clean(self) -> list[Words]:
        """A system's translations of the clean sources: half of the mistakes are everybody's."""
        found = []
        for reference, chance, difficulty in zip(self.references, self.chance, self.difficulty, strict=True):
            own = np.where(self.rng.random(len(chance)) < 0.5, chance, self.rng.random(len(chance)))
            found.append(self._corrupted(reference, own < 0.8 * difficulty))
        return found

    def noisy(self, clean: list[Words]) -> list[list[Words]]:
        """Translations of the perturbed sources: half of them the clean ones, some a little different, few unusable."""
        return [[self._shaken(text) for text in clean] for _ in self.applies]

    def _shaken(self, text: Words) -> Words:
        if self.rng.random() > HIT:
            return text
        rate = 0.8 if self.rng.random() < SEVERE else self.rng.beta(1.2, 6)
        return self._corrupted(text, self.rng.random(len(text)) < rate)

    def damaged(self, noisy: list[list[Words]], rate: float) -> list[list[Words]]:
        """The same translations with further words lost, each with this probability."""
        return [[self._corrupted(text, self.rng.random(len(text)) < rate) for text in texts] for texts in noisy]

    def shattered(self, noisy: list[list[Words]], rate: float) -> list[list[Words]]:
        """The same translations, each with this probability unusable."""
        return [
            [self._corrupted(text, self.rng.random(len(text)) < 0.8 * (self.rng.random() < rate)) for text in texts]
            for texts in noisy
        ]

    def damage(
        self,
        old: tuple[list[Words], list[list[Words]]],
        new: tuple[list[Words], list[list[Words]]],
        damaged: Callable[[list[list[Words]], float], list[list[Words]]],
    ) -> float:
        """The rate at which the new system's overall ROBUST on the pool is `FALL` below the old one's."""
        before, rate = self._robust(*old), 0.05
        already = before - self._robust(*new)
        for _ in range(2):
            fallen = before - self._robust(new[0], damaged(new[1], rate))
            rate *= (FALL - already) / (fallen - already)
        return rate

    def _robust(self, clean: list[Words], noisy: list[list[Words]]) -> float:
        """Overall ROBUST by chrF on the whole pool."""
        chrf, references = scorer("chrf"), _texts(self.references)
        whole, *kept = (_score(chrf, _texts(texts), references) for texts in (clean, *noisy))
        return 100 * float(np.mean(kept)) / whole

    def judged(self, clean: list[Words], noisy: list[list[Words]]) -> Statistics:
        """The statistics that a run stores."""
        references, first, found = _texts(self.references), _texts(clean), {}
        for one in self.scorers:
            before = _statistics(one, first, references)
            for number, texts in enumerate(map(_texts, noisy)):
                pairs = ((texts, references), (texts, first), (first, texts))
                after, *both = (_statistics(one, *pair) for pair in pairs)
                sides = (before, after, hurt(one, partial(np.copy, before), partial(np.copy, after)), *both)
                found |= {(one.name, number, side): rows for side, rows in zip(SIDES, sides, strict=True)}
        return found

    def cells(self, statistics: Callable[[str, int, str], Array], rows: Places) -> list[Cell]:
        """The cells of a run on some of the segments."""
        found = []
        for one in self.scorers:
            for number, applies in enumerate(self.applies):
                here = rows[applies[rows]]
                place = Place("de-en", one.name, f"perturbation {number}", None, "system")
                cell = Cell(place, self.keys[here], len(here), len(here))
                if len(here):
                    fill(
                        cell,
                        one,
                        {side: partial(_rows, statistics, one.name, number, side, here) for side in SIDES},
                        RESAMPLES,
                        0,
                    )
                    found.append(cell)
            clean = Cell(Place("de-en", one.name, system="system"), self.keys[rows], len(rows))
            clean.compute({"quality": partial(quality, one)}, [statistics(one.name, 0, "clean")[rows]], RESAMPLES, 0)
            found.append(clean)
        return found

    def compared(self, old: Statistics, new: Statistics, n: int, swapped: bool) -> list[Change]:
        """What `compare` says of two runs on n segments; where `swapped`, chance decides which is which in each."""
        rows = np.sort(self.rng.choice(len(self.keys), n, replace=False))
        other = (self.rng.random(len(self.keys)) < 0.5) & swapped

        def chosen(first: Statistics, second: Statistics) -> Callable[[str, int, str], Array]:
            return lambda *place: np.where(other[:, None], second[place], first[place])

        befores, afters = self.cells(chosen(old, new), rows), self.cells(chosen(new, old), rows)
        found = compared_cells(MT, befores, afters)
        return list(judge([one for one in found if one.measure != "quality" or one.place.perturbation is None]))


def _rows(statistics: Callable[[str, int, str], Array], name: str, number: int, side: str, rows: Places) -> Array:
    return statistics(name, number, side)[rows]


def _texts(words: list[Words]) -> list[str]:
    return [" ".join(text) for text in words]


def _statistics(one: Scorer, texts: list[str], references: list[str]) -> Array:
    return one.statistics(Questions(texts, [[text] for text in references], references))


def _score(one: Scorer, texts: list[str], references: list[str]) -> float:
    return float(one.aggregate(_statistics(one, texts, references).sum(axis=0)))


def counts(found: Sequence[list[Change]]) -> Counts:
    """In how many comparisons a gate was closed, in how many anything was called worse or better."""
    claims = ("worse", "better", "collapsed")
    robust = [
        change.new - change.old
        for changes in found
        for change in changes
        if change.measure == "overall_robust" and change.scorer == "chrf" and change.new is not None
    ]
    return {
        "comparisons": len(found),
        "closed": sum(any(change.regression for change in changes) for changes in found),
        "any claim": sum(any(change.outcome in claims for change in changes) for changes in found),
        "tests": sum(len(changes) for changes in found),
        "change of overall ROBUST (chrF)": sum(robust),
    }


def shares(counted: Mapping[str, float]) -> dict[str, float]:
    """The same as shares of the comparisons, with their 95 % intervals (Wilson)."""
    n = counted["comparisons"]
    found: dict[str, float] = {"comparisons": n, "tests in each": counted["tests"] / n}
    found["mean change of overall ROBUST (chrF)"] = counted["change of overall ROBUST (chrF)"] / n
    for name in ("closed", "any claim"):
        share, z = counted[name] / n, 1.96
        middle, half = share + z**2 / 2 / n, z * np.sqrt(share * (1 - share) / n + z**2 / 4 / n**2)
        found |= {name: share}
        found |= {f"{name}, low": (middle - half) / (1 + z**2 / n), f"{name}, high": (middle + half) / (1 + z**2 / n)}
    return {name: round(float(value), 4) for name, value in found.items()}


def simulate(suite: str, seed: int, comparisons: int, done: Callable[[str], bool]) -> Iterator[tuple[str, Counts]]:
    """Comparisons of every truth in one world but of those that are done."""
    world = World(suite, [scorer("chrf"), scorer("bleu")], seed)
    clean, again = world.clean(), world.clean()
    noisy, other = world.noisy(clean), world.noisy(again)
    old, new = world.judged(clean, noisy), world.judged(again, other)
    for n in (100, 400):
        if not done(name := f"nothing changed, {suite}, n = {n}"):
            yield name, counts([world.compared(old, new, n, True) for _ in range(comparisons)])
    truths = (
        ("damaged", noisy, clean, world.damaged, (200,)),
        ("retrained", other, again, world.damaged, (200, 300)),
        ("shattered", other, again, world.shattered, (200, 400)),
    )
    for kind, texts, whole, damaged, sizes in truths:
        names = {f"ROBUST −{FALL:g}, {kind}, {suite}, n = {n}": n for n in sizes}
        left = {name: n for name, n in names.items() if not done(name)}
        if left:
            rate = world.damage((clean, noisy), (whole, texts), damaged)
            worse = world.judged(whole, damaged(texts, rate))
            for name, n in left.items():
                yield name, counts([world.compared(old, worse, n, False) for _ in range(comparisons // 2)])


def main(suite: str, worlds: int, first: int) -> None:
    """Worlds of consecutive seeds; what is known is stored after every truth of every world."""
    known = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    sums = {name: found["counts"] for name, found in known.items()}
    for seed in range(first, first + worlds):

        def done(name: str, seed: int = seed) -> bool:
            return seed in sums.get(name, {}).get("seeds", ())

        for name, found in simulate(suite, seed, IN_A_WORLD, done):
            before = sums.get(name, {"seeds": []})
            sums[name] = {key: before.get(key, 0) + value for key, value in found.items()}
            sums[name]["seeds"] = [*before["seeds"], seed]
            print(seed, name, shares(sums[name]), flush=True)
            results = {name: {"counts": counted, "shares": shares(counted)} for name, counted in sorted(sums.items())}
            RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1], *(int(number) for number in sys.argv[2:4])) if len(sys.argv) == 4 else sys.exit(__doc__)
