"""How fast neural scorers judge many variants of few references, against the official packages on the same weights.

    python bench/neural.py [--encoder minilm-en] [--causal gpt-en] [--perplexity-module FILE] [--parts FOLDER]

Writes bench/results/neural-DEVICE.json, anew after each part. The task: every reference with 20 variants of its
translation, one word dropped, doubled or swapped in each. `bert_score` is called once per set of variants, as a
perturbation study does, and once with everything. The encoder of twelve layers has the shape of bert-base and random
weights. Ratios are of processor time on a CPU, where other work on the machine hardly counts, and of wall-clock time on
a GPU, the best of alternating rounds; values must agree. What is finished is kept in `--parts`: the same command goes
on from there. `make parity` says where the official packages come from.
"""

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.data import read
from babelquake.engine import Engine
from babelquake.models import configure
from babelquake.models.int8_weights import export
from babelquake.models.shipped import folder as card_folder
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


class Stopwatch:
    """Times work, and keeps each time and its values in a folder so that a long bench can go on where it stopped."""

    def __init__(self, device: str, folder: Path, rounds: int) -> None:
        self.rounds = rounds
        self.clock = time.process_time if device == "cpu" else time.perf_counter
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def __call__(self, name: str, work: Callable[[], np.ndarray]) -> tuple[float, np.ndarray]:
        """Seconds and values."""
        file = self.folder / f"{name.replace(' ', '-')}.npz"
        if not file.is_file():
            before = self.clock()
            values = work()
            np.savez(file, seconds=self.clock() - before, values=values)
        found = np.load(file)
        print(f"{name}: {float(found['seconds']):.3f} s", flush=True)
        return float(found["seconds"]), found["values"]

    def alternating(
        self, what: str, work: dict[str, Callable[[], np.ndarray]], once: str = ""
    ) -> tuple[dict[str, list[float]], dict[str, np.ndarray]]:
        """Times of each piece of work in turn, and what it gave; one of them may be too long to be repeated."""
        times: dict[str, list[float]] = {name: [] for name in work}
        values: dict[str, np.ndarray] = {}
        for turn in range(self.rounds):
            for name, run in work.items():
                if turn == 0 or name != once:
                    seconds, values[name] = self(f"{what} {name} {turn + 1}", run)
                    times[name].append(seconds)
        return times, values


def plain(name: str, folder: Path) -> str:
    """A folder that every package reads: the one given, or a model that ships, in float32."""
    if Path(name).is_dir():
        return name
    from safetensors.torch import load_file, save_file

    file = export(card_folder(name), folder / name) / "model.safetensors"
    weights = {key: value.float() for key, value in load_file(file).items()}
    save_file(weights, file, metadata={"format": "pt"})
    config = folder / name / "config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "dtype": "float32"}))
    return str(folder / name)


def of_twelve(encoder: str, folder: Path) -> str:
    """An encoder of bert-base's shape with random weights, and the tokenizer of another."""
    from transformers import AutoTokenizer, BertConfig, BertModel

    AutoTokenizer.from_pretrained(encoder).save_pretrained(folder / "twelve")
    BertModel(BertConfig()).save_pretrained(folder / "twelve")
    return str(folder / "twelve")


def ours(scorers: list[Scorer], sets: list[list[str]], references: list[str]) -> np.ndarray:
    """Rows of every scorer on all variants, by a fresh engine without a cache."""
    translations = [text for one in sets for text in one]
    questions = Questions(translations, [[text] for text in references] * len(sets))
    return np.stack([rows[:, 0] for rows in Engine(quiet=True).judge_all(scorers, questions)])


def official(made: Any, sets: list[list[str]], references: list[str]) -> np.ndarray:
    """bert_score's F, one call per set."""
    return np.concatenate([made.score(one, references)[2].numpy() for one in sets])


def bertscore(options: argparse.Namespace, watch: Stopwatch) -> dict[str, Any]:
    """Against bert_score, its model loaded before, and five layers against one."""
    from bert_score import BERTScorer

    sets, references = material(options.references, options.variants)
    layer = options.layer
    one = scorer("bertscore", model=options.encoder, layer=layer)
    several = [scorer("bertscore", model=options.encoder, layer=number) for number in range(layer - 4, layer + 1)]
    made = BERTScorer(model_type=options.encoder, num_layers=layer, device=options.device, batch_size=64)
    whole = [text for some in sets for text in some]
    ours([one], [sets[0][:40]], references[:40])
    official(made, [sets[0][:40]], references[:40])
    times, values = watch.alternating(
        "bertscore",
        {
            "ours": lambda: ours([one], sets, references)[0],
            "bert_score at once": lambda: official(made, [whole], references * len(sets)),
            "five layers": lambda: ours(several, sets, references)[-1],
            "bert_score per set": lambda: official(made, sets, references),
        },
        once="bert_score per set",  # by far the longest
    )
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


def layers(options: argparse.Namespace, watch: Stopwatch) -> dict[str, Any]:
    """`first` against `best` on an encoder of twelve layers."""
    sets, references = material(max(20, options.references // 5), options.variants)
    first, best = (scorer("bertscore", model=options.twelve, layer=layer) for layer in ("first", "9"))
    ours([first, best], [sets[0][:40]], references[:40])
    times, _ = watch.alternating(
        "layers",
        {"first": lambda: ours([first], sets, references), "best (9)": lambda: ours([best], sets, references)},
    )
    seconds = {name: min(found) for name, found in times.items()}
    return {
        "seconds": seconds,
        "rounds": times,
        "ratios": {"first_layer_against_best": seconds["best (9)"] / seconds["first"]},
    }


def perplexity(options: argparse.Namespace, watch: Stopwatch) -> dict[str, Any]:
    """Against evaluate's module, called once per set of variants; the time in which it loads the model is left out."""
    sys.path.insert(0, str(Path(options.perplexity_module).parent))
    import perplexity as module

    sets, _ = material(max(20, options.references // 5), options.variants)
    made = scorer("perplexity", model=options.causal)
    texts = [text for one in sets for text in one]
    made.segments(texts[:40])
    load = module.AutoModelForCausalLM.from_pretrained
    model = load(options.causal)
    assert str(model.dtype) == "torch.float32", f"{options.causal} loads as {model.dtype}: save it in float32 first"
    module.AutoModelForCausalLM.from_pretrained = lambda name: model

    def theirs() -> np.ndarray:
        metric = module.Perplexity()
        asked = {"model_id": options.causal, "device": options.device}
        return np.concatenate([metric._compute(predictions=one, **asked)["perplexities"] for one in sets])

    times, values = watch.alternating(
        "perplexity",
        {"ours": lambda: Engine(quiet=True).judge(made, Questions(texts))[:, 0], "evaluate": theirs},
        once="evaluate",
    )
    module.AutoModelForCausalLM.from_pretrained = load
    seconds = {name: min(found) for name, found in times.items()}
    return {
        "seconds": seconds,
        "rounds": times,
        "largest_relative_difference": float(np.abs(values["ours"] / values["evaluate"] - 1).max()),
        "ratios": {"perplexity": seconds["evaluate"] / seconds["ours"]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--encoder", default="minilm-en", help="a model that ships, or a folder; five layers or more")
    parser.add_argument("--layer", type=int, default=6)
    parser.add_argument("--twelve", help="a folder with an encoder of twelve layers; else one is made")
    parser.add_argument("--causal", default="gpt-en", help="a model that ships, or a folder")
    parser.add_argument("--perplexity-module", help="evaluate's metrics/perplexity/perplexity.py")
    parser.add_argument("--references", type=int, default=500)
    parser.add_argument("--variants", type=int, default=20)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--rounds", type=int, default=3, help="how often each side is timed; the best counts")
    parser.add_argument("--parts", type=Path, help="a folder that keeps what is finished")
    parser.add_argument("--out", type=Path, help="the result; else bench/results/neural-DEVICE.json")
    options = parser.parse_args()
    import torch

    torch.set_num_threads(1 if options.device == "cpu" else 8)
    configure(device=options.device)
    name = torch.cuda.get_device_name() if options.device == "cuda" else f"one core of {os.cpu_count()}"
    found: dict[str, Any] = {"device": name, "references": options.references, "variants": options.variants}
    out = options.out or RESULTS / f"neural-{options.device}.json"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        options.encoder = plain(options.encoder, folder)
        options.twelve = options.twelve or of_twelve(options.encoder, folder)
        options.causal = plain(options.causal, folder)
        watch = Stopwatch(options.device, options.parts or folder / "parts", options.rounds)
        for part in (bertscore, layers, perplexity):
            if part is not perplexity or options.perplexity_module:
                found[part.__name__] = part(options, watch)
                found["goals"] = goals(found)
                found["load_average"] = round(os.getloadavg()[0], 1)
                out.write_text(json.dumps(found, indent=2) + "\n")
                print(json.dumps(found["goals"], indent=2), flush=True)


def goals(found: dict[str, Any]) -> dict[str, Any]:
    """What was measured beside what was wanted."""
    ratios = {
        key: value
        for part in found.values()
        if isinstance(part, dict) and "ratios" in part
        for key, value in part["ratios"].items()
    }
    return {
        key: {
            "measured": round(value, 2),
            "goal": GOALS[key],
            "met": value <= GOALS[key] if key.startswith("five") else value >= GOALS[key],
        }
        for key, value in ratios.items()
    }


if __name__ == "__main__":
    main()
