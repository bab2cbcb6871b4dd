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
ROUNDS = 3
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


def official(made: Any, sets: list[list[str]], references: list[str]) -> np.ndarray:
    """bert_score's F, one call per set."""
    return np.concatenate([made.score(one, references)[2].numpy() for one in sets])


def bertscore(options: argparse.Namespace, clock: Callable[[], float]) -> dict[str, Any]:
    """Against bert_score, its model loaded before, and five layers against one; the best of alternating rounds."""
    from bert_score import BERTScorer

    sets, references = material(options.references, options.variants)
    layer = options.layer
    one = scorer("bertscore", model=options.encoder, layer=layer)
    several = [scorer("bertscore", model=options.encoder, layer=number) for number in range(layer - 4, layer + 1)]
    made = BERTScorer(model_type=options.encoder, num_layers=layer, device=options.device, batch_size=64)
    whole = [text for some in sets for text in some]
    work = {
        "ours": lambda: ours([one], sets, references)[0],
        "bert_score at once": lambda: official(made, [whole], references * len(sets)),
        "five layers": lambda: ours(several, sets, references)[-1],
        "bert_score per set": lambda: official(made, sets, references),
    }
    ours([one], [sets[0][:8]], references[:8])
    official(made, [sets[0][:8]], references[:8])
    times: dict[str, list[float]] = {name: [] for name in work}
    values: dict[str, np.ndarray] = {}
    for turn in range(ROUNDS):
        for name, run in work.items():
            if turn == 0 or name != "bert_score per set":  # by far the longest: once
                seconds, values[name] = timed(run, clock)
                times[name].append(seconds)
    best = {name: min(found) for name, found in times.items()}
    return {
        "seconds": best,
        "rounds": times,
        "largest_difference": float(max(np.abs(values["ours"] - other).max() for other in values.values())),
        "ratios": {
            "bertscore_per_variant_set": best["bert_score per set"] / best["ours"],
            "bertscore_everything_at_once": best["bert_score at once"] / best["ours"],
            "five_layers_against_one": best["five layers"] / best["ours"],
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
    """Against evaluate's module, called once per set of variants; the time in which it loads the model is left out."""
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

    loading = 0.0
    load = module.AutoModelForCausalLM.from_pretrained

    def loaded(name: str) -> Any:
        nonlocal loading
        seconds, model = timed(lambda: load(name), clock)
        loading += seconds
        assert str(model.dtype) == "torch.float32", f"{name} loads as {model.dtype}: save it in float32 first"
        return model

    module.AutoModelForCausalLM.from_pretrained = loaded
    official_seconds, expected = timed(theirs, clock)
    module.AutoModelForCausalLM.from_pretrained = load
    return {
        "seconds": {"ours": mine, "evaluate": official_seconds, "of which it loads the model": loading},
        "largest_relative_difference": float(np.abs(values / expected - 1).max()),
        "ratios": {"perplexity": (official_seconds - loading) / mine},
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
