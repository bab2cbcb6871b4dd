"""How fast neural scorers judge many variants of few references, against the official packages on the same weights.

    python bench/neural.py --encoder FOLDER [--twelve FOLDER] [--causal FOLDER] [--perplexity-module FILE]

Writes bench/results/neural-DEVICE.json. The task: every reference with 20 variants of its translation, one word
dropped, doubled or swapped in each. `bert_score` is called once per set of variants, as a perturbation study does, and
once with everything. Ratios are of processor time on a CPU, where other work on the machine hardly counts, and of
wall-clock time on a GPU; values must agree. `make parity` says where the official packages come from.
"""

import argparse
import json
import os
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.models import configure
from babelquake.scorers import Questions, Scorer, scorer

RESULTS = Path(__file__).parent / "results"
GOALS = {
    "bertscore_per_variant_set": 3.0,
    "bertscore_everything_at_once": 1.5,
    "first_layer_against_best": 3.0,
    "five_layers_against_one": 1.3,
    "perplexity": 3.0,
}


def material(references: int, variants: int) -> tuple[list[list[str]], list[str]]:
    """Variants by set (set v holds variant v of every translation), and the references."""
    rng = random.Random(1)
    texts = list(dict.fromkeys(some[0] for some in read("sample").segments["references"].to_list()))
    count = len(texts)
    chosen = [f"{texts[n % count]} {texts[(n + 1 + n // count) % count]}" for n in range(references)]
    return [[_edited(text, rng) for text in chosen] for _ in range(variants)], chosen


def _edited(text: str, rng: random.Random) -> str:
    words = text.split()
    place = rng.randrange(len(words) - 1)
    match rng.randrange(3):
        case 0:
            del words[place]
        case 1:
            words.insert(place, words[place])
        case _:
            words[place], words[place + 1] = words[place + 1], words[place]
    return " ".join(words)


def timed(work: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    """Seconds and result."""
    before = clock()
    found = work()
    return clock() - before, found


def ours(scorers: list[Scorer], sets: list[list[str]], references: list[str]) -> np.ndarray:
    """Rows of every scorer on all variants, by a fresh engine without a cache."""
    translations = [text for one in sets for text in one]
    questions = Questions(translations, [[text] for text in references] * len(sets))
    return np.stack([rows[:, 0] for rows in Engine(quiet=True).judge_all(scorers, questions)])


def official(model: str, layer: int, sets: list[list[str]], references: list[str], device: str) -> np.ndarray:
    """bert_score's F, one call per set, the model loaded once."""
    from bert_score import BERTScorer

    made = BERTScorer(model_type=model, num_layers=layer, device=device, batch_size=64)
    return np.concatenate([made.score(one, references)[2].numpy() for one in sets])


def at_once(model: str, layer: int, sets: list[list[str]], references: list[str], device: str) -> np.ndarray:
    """bert_score's F, one call with everything."""
    return official(model, layer, [[text for one in sets for text in one]], references * len(sets), device)


def bertscore(options: argparse.Namespace, clock: Callable[[], float]) -> dict[str, Any]:
    """Against bert_score, and five layers against one."""
    sets, references = material(options.references, options.variants)
    layer = options.layer
    one = scorer("bertscore", model=options.encoder, layer=layer)
    ours([one], [sets[0][:8]], references[:8])
    mine, values = timed(lambda: ours([one], sets, references), clock)
    per_set, theirs = timed(lambda: official(options.encoder, layer, sets, references, options.device), clock)
    together, again = timed(lambda: at_once(options.encoder, layer, sets, references, options.device), clock)
    several = [scorer("bertscore", model=options.encoder, layer=number) for number in range(layer - 4, layer + 1)]
    five, _ = timed(lambda: ours(several, sets, references), clock)
    return {
        "seconds": {"ours": mine, "bert_score per set": per_set, "bert_score at once": together, "five layers": five},
        "largest_difference": float(max(np.abs(values[0] - theirs).max(), np.abs(values[0] - again).max())),
        "ratios": {
            "bertscore_per_variant_set": per_set / mine,
            "bertscore_everything_at_once": together / mine,
            "five_layers_against_one": five / mine,
        },
    }


def layers(options: argparse.Namespace, clock: Callable[[], float]) -> dict[str, Any]:
    """`first` against `best` on an encoder of twelve layers."""
    sets, references = material(max(20, options.references // 5), options.variants)
    first, best = (scorer("bertscore", model=options.twelve, layer=layer) for layer in ("first", "9"))
    ours([first], [sets[0][:8]], references[:8])
    low, _ = timed(lambda: ours([first], sets, references), clock)
    high, _ = timed(lambda: ours([best], sets, references), clock)
    return {"seconds": {"first": low, "best (9)": high}, "ratios": {"first_layer_against_best": high / low}}


def perplexity(options: argparse.Namespace, clock: Callable[[], float]) -> dict[str, Any]:
    """Against evaluate's module, called once per set of variants."""
    sys.path.insert(0, str(Path(options.perplexity_module).parent))
    import perplexity as module

    sets, _ = material(max(20, options.references // 5), options.variants)
    made = scorer("perplexity", model=options.causal)
    texts = [text for one in sets for text in one]
    made.segments(texts[:4])
    mine, values = timed(lambda: Engine(quiet=True).judge(made, Questions(texts))[:, 0], clock)

    def theirs() -> np.ndarray:
        metric = module.Perplexity()
        return np.concatenate(
            [
                metric._compute(predictions=one, model_id=options.causal, device=options.device)["perplexities"]
                for one in sets
            ]
        )

    official_seconds, expected = timed(theirs, clock)
    return {
        "seconds": {"ours": mine, "evaluate": official_seconds},
        "largest_relative_difference": float(np.abs(values / expected - 1).max()),
        "ratios": {"perplexity": official_seconds / mine},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", required=True, help="a folder with an encoder of at least five layers")
    parser.add_argument("--layer", type=int, default=6)
    parser.add_argument("--twelve", help="a folder with an encoder of twelve layers")
    parser.add_argument("--causal", help="a folder with a causal language model")
    parser.add_argument("--perplexity-module", help="evaluate's metrics/perplexity/perplexity.py")
    parser.add_argument("--references", type=int, default=500)
    parser.add_argument("--variants", type=int, default=20)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1 if options.device == "cpu" else 8)
    configure(device=options.device)
    clock = time.process_time if options.device == "cpu" else time.perf_counter
    name = torch.cuda.get_device_name() if options.device == "cuda" else f"one core of {os.cpu_count()}"
    found: dict[str, Any] = {"device": name, "references": options.references, "variants": options.variants}
    found["bertscore"] = bertscore(options, clock)
    if options.twelve:
        found["layers"] = layers(options, clock)
    if options.causal and options.perplexity_module:
        found["perplexity"] = perplexity(options, clock)
    ratios = {key: value for part in found.values() if isinstance(part, dict) for key, value in part["ratios"].items()}
    found["goals"] = {
        key: {
            "measured": round(value, 2),
            "goal": GOALS[key],
            "met": value <= GOALS[key] if key.startswith("five") else value >= GOALS[key],
        }
        for key, value in ratios.items()
    }
    found["load_average"] = round(os.getloadavg()[0], 1)
    (RESULTS / f"neural-{options.device}.json").write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found["goals"], indent=2))


if __name__ == "__main__":
    main()
