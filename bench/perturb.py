"""Misspellings per second beside nlpaug's and TextAttack's, on the same sentences in one run.

    python bench/perturb.py --peers-python /path/to/venv/bin/python     writes bench/results/perturb.json

The peers need not live in this environment: `--peers-python` names an interpreter that can import them, and the same
file runs there. Each figure is the processor time of the best of several rounds on one core, per sentence.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

ROUNDS = 60
LEVEL = 0.1
RESULTS = Path(__file__).parent / "results" / "perturb.json"
SUBJECTS = ("The new government", "A spokesman for the ministry", "Our committee", "Every member of parliament")
VERBS = ("has announced that", "did not expect that", "will decide next Monday whether", "argued in 2019 that")
CLAUSES = (
    "the agreement with neighbouring countries can be signed before winter",
    "taxes on fuel should fall by 3.5 percent, although nobody knows who would pay for it",
    "schools, hospitals and courts need more people",
    "the hearing in this case continues without the former director",
)
SENTENCES = [f"{subject} {verb} {clause}." for subject in SUBJECTS for verb in VERBS for clause in CLAUSES]
Candidate = tuple[str, Callable[[str], object], list[str]]
"""A name, what changes a sentence, and the sentences it is timed on."""
GOALS = {"nlpaug": 8.0, "textattack": 100.0}


def seconds(candidates: list[Candidate]) -> dict[str, float]:
    """Best processor time per sentence; rounds alternate, so that a slow spell of the machine meets all alike."""
    best = dict.fromkeys((name for name, _, _ in candidates), float("inf"))
    for _, change, sentences in candidates:
        change(sentences[0])
    for _ in range(ROUNDS):
        for name, change, sentences in candidates:
            start = time.process_time()
            for sentence in sentences:
                change(sentence)
            best[name] = min(best[name], (time.process_time() - start) / len(sentences))
    return best


def ours() -> Iterable[Candidate]:
    """babelquake's two, a fresh keyed stream for every sentence included."""
    from babelquake.perturb import Perturbation

    for name in ("misspell", "keyboard-typo"):
        change = Perturbation(name, level=LEVEL)
        yield f"babelquake {name}", partial(change.apply, lang="en"), SENTENCES


def peers() -> Iterable[Candidate]:
    """The peers that this interpreter can import, set to change one character in a tenth of the words."""
    try:
        import nlpaug.augmenter.char as nlpaug

        settings = {"aug_char_max": 1, "aug_char_min": 1, "aug_word_p": LEVEL, "aug_word_max": None}
        yield "nlpaug keyboard", nlpaug.KeyboardAug(**settings).augment, SENTENCES
        for action in ("insert", "substitute", "delete"):
            yield f"nlpaug random {action}", nlpaug.RandomCharAug(action=action, **settings).augment, SENTENCES
    except ImportError as error:
        print(f"nlpaug left out: {error}", file=sys.stderr)
    try:
        from textattack.augmentation import Augmenter
        from textattack.transformations import WordSwapQWERTY

        swap = Augmenter(transformation=WordSwapQWERTY(), pct_words_to_swap=LEVEL, transformations_per_example=1)
        yield "textattack qwerty", swap.augment, SENTENCES[:16]
    except ImportError as error:
        print(f"textattack left out: {error}", file=sys.stderr)


def main() -> None:
    """Time both sides, print the ratios, write the results."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--peers-python", help="run under an interpreter that can import the peers")
    arguments = parser.parse_args()
    if arguments.peers_python:
        source = Path(__file__).resolve().parents[1] / "src"
        settings = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "PYTHONPATH": str(source)}
        sys.exit(subprocess.run([arguments.peers_python, __file__], env=settings).returncode)
    times = seconds([*ours(), *peers()])
    mine = {name: taken for name, taken in times.items() if name.startswith("babelquake")}
    theirs = {name: taken for name, taken in times.items() if name not in mine}
    ratios = {f"{peer} / {name}": theirs[peer] / mine[name] for peer in theirs for name in mine}
    for name, time_taken in (mine | theirs).items():
        print(f"{name:28} {1e6 * time_taken:10.1f} µs a sentence")
    for name, ratio in ratios.items():
        goal = GOALS[name.split()[0]]
        print(f"{name:50} {ratio:8.1f} × (goal {goal:g}: {'met' if ratio >= goal else 'missed'})")
    RESULTS.parent.mkdir(exist_ok=True)
    microseconds = {name: round(1e6 * time_taken, 1) for name, time_taken in (mine | theirs).items()}
    record = {
        "sentences": len(SENTENCES),
        "level": LEVEL,
        "microseconds_per_sentence": microseconds,
        "times_faster": {name: round(ratio, 1) for name, ratio in ratios.items()},
        "goals": GOALS,
        "load_average": round(os.getloadavg()[0], 1),
    }
    RESULTS.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
