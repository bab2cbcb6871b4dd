"""`hf[…]` with a Marian model: CTranslate2, the default on a CPU, against transformers' `generate`.

    python bench/marian.py                                               random weights of OPUS-MT's size: speed
    python bench/marian.py PACKAGE SOURCES REFERENCES [COUNT [PART]]     OPUS-MT zh-en (see opus.py): speed and BLEU

Both write bench/results/marian.json. Time is the processor time of all threads. Sentences go in the order of their
length, as the engine sends them, and only sentences of equal length are decoded together, by either library. Parts of
the real model's sentences are kept in build/marian-opus.json, so that a bench that was cut off goes on.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from tests.systems.tiny_models import marian_model, sentences

from babelquake.scorers import Questions, scorer
from babelquake.stats.bootstrap import bootstrap
from babelquake.systems import System, system
from opus import opus_model

ROUNDS, COUNT, STEPS = 2, 24, 24
PART, REAL = 128, 768
"""Sentences of one call, and of all calls."""
HERE = Path(__file__).parent
RESULTS, UNFINISHED = HERE / "results" / "marian.json", HERE.parent / "build" / "marian-opus.json"
PLAIN = "transformers"
ENGINES = {
    PLAIN: "engine=transformers",
    "ctranslate2 int8": "engine=ctranslate2",
    "ctranslate2 float32": "engine=ctranslate2,dtype=float32",
}
COMPARED = (PLAIN, "ctranslate2 int8")
"""On the real model: `generate` and what a user gets without a word."""


def grown(folder: Path) -> Path:
    """The tiny checkpoint of the tests with layers of OPUS-MT's size."""
    import torch
    import transformers

    tiny = marian_model(folder)
    config = transformers.MarianConfig.from_pretrained(tiny)
    config.update({"d_model": 512, "encoder_ffn_dim": 2048, "decoder_ffn_dim": 2048, "init_std": 0.1})
    config.update(
        {"encoder_layers": 6, "decoder_layers": 6, "encoder_attention_heads": 8, "decoder_attention_heads": 8}
    )
    torch.manual_seed(1)
    transformers.MarianMTModel(config).save_pretrained(tiny)
    return tiny


def engines(model: Path, options: str = "", names: Iterable[str] = tuple(ENGINES)) -> dict[str, System]:
    """The same model several times, loaded and converted."""
    made = {name: system(f"hf[model={model},device=cpu,threads=1,{ENGINES[name]}{options}]") for name in names}
    for one in made.values():
        one.translate(["a"])
    return made


def timed(made: System, texts: list[str]) -> tuple[float, list[str]]:
    """Processor time and translations."""
    started = time.process_time()
    found = made.translate(texts)
    return time.process_time() - started, found


def keep(what: str, found: dict[str, Any]) -> None:
    """Put results beside those that are there."""
    before = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    found["load"] = round(os.getloadavg()[0], 1)
    RESULTS.write_text(json.dumps({**before, what: found}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def ratios(seconds: dict[str, float], count: int) -> dict[str, Any]:
    """Speeds, and how many times faster than `generate`."""
    return {
        "sentences_per_processor_second": {name: round(count / taken, 2) for name, taken in seconds.items()},
        "ratio": {name: round(seconds[PLAIN] / taken, 1) for name, taken in seconds.items() if name != PLAIN},
    }


def random_weights(folder: Path) -> None:
    """Speed alone: both decode the same number of steps, which is what takes the time."""
    texts = list(dict.fromkeys(sentences(4 * COUNT)))[:COUNT]
    made = engines(grown(folder / "model"), f",max_new_tokens={STEPS}")
    best = dict.fromkeys(made, float("inf"))
    for _ in range(ROUNDS):
        for name, one in made.items():
            best[name] = min(best[name], timed(one, texts)[0])
            print(name, round(best[name], 2), flush=True)
    keep("random weights", ratios(best, len(texts)))


def real_weights(folder: Path, files: list[Path], count: int = REAL, part: int = PART) -> None:
    """Speed and BLEU of the same sentences, `part` of them in a call, the engines taking turns."""
    package, sources, references = files
    both = [path.read_text("utf-8").splitlines() for path in (sources, references)]
    every = len(both[0]) / count
    chosen = [(both[0][int(place * every)], both[1][int(place * every)]) for place in range(count)]
    texts, official = map(list, zip(*sorted(chosen, key=lambda pair: len(pair[0])), strict=True))
    done: dict[str, list[dict[str, Any]]] = json.loads(UNFINISHED.read_text()) if UNFINISHED.exists() else {}
    done = {name: done.get(name, []) for name in COMPARED}
    parts = -(-len(texts) // part)
    left = any(len(some) < parts for some in done.values())
    made = engines(opus_model(package, folder), "", COMPARED) if left else {}
    for start in range(0, len(texts), part):
        for name, one in made.items():
            if len(done[name]) <= start // part:
                taken, found = timed(one, texts[start : start + part])
                done[name].append({"seconds": taken, "translations": found})
                print(name, start, round(taken, 1), flush=True)
                UNFINISHED.parent.mkdir(exist_ok=True)
                UNFINISHED.write_text(json.dumps(done))
    done = {name: some[:parts] for name, some in done.items()}
    seconds = {name: sum(one["seconds"] for one in some) for name, some in done.items()}
    texts_of = {name: [text for one in some for text in one["translations"]] for name, some in done.items()}
    bleu = scorer("bleu")
    rows = {name: bleu.statistics(Questions(some, [[one] for one in official])) for name, some in texts_of.items()}
    plain = rows.pop(PLAIN)
    apart = {}
    for name, some in rows.items():
        drawn = bootstrap(lambda a, b: bleu.aggregate(a) - bleu.aggregate(b), [some, plain], 2000).estimate()
        same = np.mean([a == b for a, b in zip(texts_of[name], texts_of[PLAIN], strict=True)])
        apart[name] = {
            "bleu": round(float(bleu.aggregate(some.sum(axis=0))), 2),
            "bleu_difference": round(drawn.value, 2),
            "low": round(drawn.low, 2),
            "high": round(drawn.high, 2),
            "same_translations": round(float(same), 3),
        }
    found = {
        "sentences": len(texts),
        "sentences_in_a_call": part,
        "bleu_of_generate": round(float(bleu.aggregate(plain.sum(axis=0))), 2),
    }
    keep("OPUS-MT zh-en", {**found, **ratios(seconds, len(texts)), "beside_generate": apart})
    UNFINISHED.unlink()


def main() -> None:
    """Measure, print, keep."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder, "cache"))
        if len(sys.argv) < 4:
            random_weights(Path(folder))
        else:
            real_weights(Path(folder), list(map(Path, sys.argv[1:4])), *map(int, sys.argv[4:6]))
    print(RESULTS.read_text())


if __name__ == "__main__":
    main()
