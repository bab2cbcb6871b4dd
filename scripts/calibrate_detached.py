"""What `detached` is worth with the weights installed: areas, false alarms, flags on WMT24 and their precision.

    python scripts/calibrate_detached.py areas DATA  # hallucinations: areas, also cross-validated, and flags
    python scripts/calibrate_detached.py references DATA        # false alarms on NTREX-128 and WMT24's references
    python scripts/calibrate_detached.py flags DATA             # flags on WMT24 beside the verdicts of judged.tsv

DATA is the folder with `hallucinations/`, `ntrex/` and `wmt24/`. To be run again whenever `vectors-multi` or `qe-multi`
change: `areas` shows whether the weights in `failures/detached.py` still suit, `references` whether the thresholds do,
and `flags` prints the precision by the verdicts there are and every flag that nobody has judged yet, to be read and
added to `tests/failures/judged.tsv`. `flags` looks at every third line and takes a few minutes.
"""

import csv
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl
from scipy.stats import rankdata

from babelquake.engine import Engine
from babelquake.failures import Failure, Pair, cards_for, failures_in
from babelquake.failures.detached import LOOP, SUSPECT, detached
from babelquake.failures.lengths import repetition
from babelquake.failures.pair import Views
from babelquake.languages import Language, LanguagePair
from babelquake.scorers import Questions, scorer
from babelquake.studies.detection import detached_among

JUDGED = Path(__file__).parents[1] / "tests" / "failures" / "judged.tsv"
LABELS = ["repetitions", "strong-unsupport", "full-unsupport"]
STRIDE = 3
HELD_OUT = 200
"""Last lines of NTREX-128, which no model that ships was trained on."""
WEIGHTS = (0.5, 1.0, 1.5, 2.0, 2.4, 2.8, 3.2, 4.0, 5.0, 7.0)
"""Of the cosine, of which cross-validation chooses one; that of the rating is 1."""
SHARES = (0.0, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
"""The scores of a pure loop of which it chooses one."""
BOUNDARY = 2.98
"""How far below the mean rating a translation of the cosine `SUSPECT` counts as detached, whatever the weight."""
FOLDS = 10
Lines = dict[str, list[str]]


def archive(file: Path) -> Lines:
    """The text files of an archive by name, as lines."""
    with tarfile.open(file) as members:
        return {
            member.name.removeprefix("./"): content.read().decode("utf-8").split("\n")
            for member in members
            if member.isfile() and member.name.endswith(".txt") and (content := members.extractfile(member))
        }


def flagged(sources: list[str], translations: list[str], pair: LanguagePair) -> Iterator[tuple[int, Failure]]:
    """Which translations are flagged, as `check` does it."""
    pairs = [Pair(*texts, pair.source, pair.target) for texts in zip(sources, translations, strict=True)]
    yield from detached_among(pairs, "vectors-multi", Engine(quiet=True))


def areas(data: Path) -> None:
    """Areas under the curve on Guerreiro et al.'s translations, and what the threshold finds there."""
    told = pl.read_csv(data / "hallucinations" / "guerreiro2022.csv", infer_schema_length=0)
    told = told.filter(pl.all_horizontal(pl.col(LABELS).is_in(["0", "1"])))
    marks = told.select(pl.col(LABELS) == "1").to_numpy()
    sources, translations = told["src"].to_list(), told["mt"].to_list()
    questions = Questions(translations, None, sources)
    engine = Engine(quiet=True)
    cosine, rating = (
        judge.score_rows(engine.judge(judge, questions, stored=False))
        for judge in map(scorer, ("embedding-similarity[model=vectors-multi]", "qe-multi"))
    )
    score = scorer("failure[kind=detached,languages=de-en,score=true]").segments(translations, sources=sources)
    for name, values in (("cosine", -cosine), ("rating", -rating), ("detached", score)):
        print(f"{name}: any {area(values, marks.any(axis=1)):.4f}, full {area(values, marks[:, 2]):.4f}")
    cross_validated(cosine, rating, sources, translations, marks)
    ours = (Language("de"), Language("en"))
    found = np.array(
        [
            detached(Pair(source, made, *ours, Views(near, rated))) is not None
            for source, made, near, rated in zip(sources, translations, cosine, rating, strict=True)
        ]
    )
    print(
        f"flagged {found.sum()}: {marks[found].any(axis=1).mean():.3f} right, {found[marks[:, 2]].mean():.3f} of full"
    )


def cross_validated(
    cosine: np.ndarray, rating: np.ndarray, sources: list[str], translations: list[str], marks: np.ndarray
) -> None:
    """Areas where the weights of cosine and of repetition are chosen on nine tenths of the sources for the tenth.

    Ten divisions into ten parts, the scores of each part ranked among those of the segments it was not chosen on; both
    weights maximise the sum of the areas of any hallucination and of full detachment.
    """
    ours = (Language("de"), Language("en"))
    again = np.array([repetition(Pair(*texts, *ours)) for texts in zip(sources, translations, strict=True)])
    loops = np.minimum(1.0, again / LOOP)
    grid = [(weight, share) for weight in WEIGHTS for share in SHARES]
    scores = {}
    for weight, share in grid:
        apart = 1 / (1 + np.exp(2 * (rating + BOUNDARY + weight * (cosine - SUSPECT))))
        scores[weight, share] = np.maximum(apart, share * loops)
    some, full = marks.any(axis=1), marks[:, 2]
    known = {text: place for place, text in enumerate(dict.fromkeys(sources))}
    group = np.array([known[text] for text in sources])
    areas, chosen = [], Counter[tuple[float, float]]()
    for seed in range(FOLDS):
        part = np.random.default_rng(seed).permutation(np.arange(len(known)) % FOLDS)[group]
        held_out = np.empty(len(sources))
        for number in range(FOLDS):
            inside = part != number
            best = max(
                grid,
                key=lambda one: area(scores[one][inside], some[inside]) + area(scores[one][inside], full[inside]),
            )
            chosen[best] += 1
            told = np.sort(scores[best][inside])
            held_out[~inside] = np.searchsorted(told, scores[best][~inside]) / len(told)
        areas.append((area(held_out, some), area(held_out, full)))
    means, spread = np.mean(areas, axis=0), np.std(areas, axis=0)
    print(f"cross-validated: any {means[0]:.4f} ± {spread[0]:.4f}, full {means[1]:.4f} ± {spread[1]:.4f}")
    print("chosen weight of the cosine and score of a loop, times:", dict(chosen.most_common()))


def area(scores: np.ndarray, marked: np.ndarray) -> float:
    """The area under the ROC curve."""
    count = marked.sum()
    return float((rankdata(scores)[marked].sum() - count * (count + 1) / 2) / (count * (~marked).sum()))


def references(data: Path) -> None:
    """How many references are flagged, by kind: `detached` on texts that no model was trained on, others on all."""
    alarms, total, unseen = Counter[str](), 0, 0
    for pair, sources, made, held_out in _references(data):
        cards = cards_for(pair.source, pair.target)
        found = Counter[str]()
        for texts in zip(sources, made, strict=True):
            found.update(failure.kind for failure in failures_in(Pair(*texts, pair.source, pair.target), cards))
        found["detached"] = len(list(flagged(sources[-held_out:], made[-held_out:], pair)))
        alarms, total, unseen = alarms + found, total + len(sources), unseen + held_out
        print(f"{pair}: {len(sources)} references; {dict(+found)}", flush=True)
    for kind, count in alarms.most_common():
        of = unseen if kind == "detached" else total
        print(f"{kind}: {count} of {of} references ({100 * count / of:.3f} %)")


def _references(data: Path) -> Iterator[tuple[LanguagePair, list[str], list[str], int]]:
    """Sources with their references, and how many at the end were never seen in training."""
    ntrex = {Path(name).stem: lines[:-1] for name, lines in archive(data / "ntrex" / "ntrex-27.tar.xz").items()}
    english = ntrex.pop("eng")
    for language, lines in ntrex.items():
        yield LanguagePair(f"en-{language}"), english, lines, HELD_OUT
        yield LanguagePair(f"{language}-en"), lines, english, HELD_OUT
    for pair in ("en-cs", "en-es"):
        release = archive(data / "wmt24" / f"wmt24-{pair}.tar.xz")
        both = zip(release[f"txt-ts/sources/{pair}.txt"], release[f"txt-ts/references/{pair}.refA.txt"], strict=True)
        told = [(source, made) for source, made in both if made and made != "NO TRANSLATION AVAILABLE"]
        yield LanguagePair(pair), [source for source, _ in told], [made for _, made in told], len(told)
    chinese, made = (
        (data / "wmt23" / name).read_text("utf-8").splitlines()
        for name in ("sources/zh-en.txt", "references/zh-en.refA.txt")
    )
    yield LanguagePair("zh-en"), chinese, made, len(made)


def flags(data: Path) -> None:
    """Flags on WMT24's outputs, right ones by the verdicts there are, and what is still to be judged."""
    with JUDGED.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file, delimiter="\t") if row["kind"] == "detached"]
    verdicts: dict[tuple[str, str, str], int] = {}
    told: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for name in ("en-cs", "en-es"):
        pair, release = LanguagePair(name), archive(data / "wmt24" / f"wmt24-{name}.tar.xz")
        sources = release[f"txt-ts/sources/{name}.txt"]
        outputs = {Path(key).stem: lines for key, lines in release.items() if f"system-outputs/{name}/" in key}
        for row in rows:
            if row["language_pair"] == name:
                line = int(row["line"])
                verdicts[name, sources[line], outputs[row["system"]][line]] = int(row["right"])
        seen: set[tuple[str, str]] = set()
        for system, lines in outputs.items():
            places = [
                place
                for place in range(0, len(sources), STRIDE)
                if lines[place].strip() and (sources[place], lines[place]) not in seen
            ]
            seen.update((sources[place], lines[place]) for place in places)
            found = flagged([sources[place] for place in places], [lines[place] for place in places], pair)
            for number, failure in found:
                place = places[number]
                verdict = verdicts.get((name, sources[place], lines[place]))
                word = "to judge" if verdict is None else ("wrong", "right")[verdict]
                told[f"{name} {system}"][word] += 1
                if verdict is None:
                    print(
                        name, system, place, failure.evidence[:60], sources[place][:200], lines[place][:200], sep="\t"
                    )
    for where, counts in told.items():
        print(where, dict(counts))
    total = sum(told.values(), Counter[str]())
    precision = total["right"] / max(1, total["right"] + total["wrong"])
    print(f"in all {dict(total)}; precision of those judged {precision:.3f}")


if __name__ == "__main__":
    {"areas": areas, "references": references, "flags": flags}[sys.argv[1]](Path(sys.argv[2]))
