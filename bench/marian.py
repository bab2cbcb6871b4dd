"""`hf[…]` with a Marian model of OPUS-MT's size: CTranslate2, the default on a CPU, against transformers' `generate`.

    python bench/marian.py     writes bench/results/marian.json

No public Marian checkpoint can be had from a package registry, so the weights are random (6 + 6 layers of width 512, 8
heads, as OPUS-MT has them): both engines decode the same number of steps, which is what takes the time.
"""

import json
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from tests.systems.tiny_models import marian_model, sentences

from babelquake.systems import system

ROUNDS, COUNT, STEPS = 2, 24, 24
RESULTS = Path(__file__).parent / "results" / "marian.json"


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


def main() -> None:
    """Measure, print, keep."""
    texts = list(dict.fromkeys(sentences(4 * COUNT)))[:COUNT]
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = str(Path(folder, "cache"))
        model = grown(Path(folder, "model"))
        engines = {
            name: system(f"hf[model={model},device=cpu,max_new_tokens={STEPS},{options}]")
            for name, options in {
                "transformers": "engine=transformers",
                "ctranslate2 int8": "engine=ctranslate2",
                "ctranslate2 float32": "engine=ctranslate2,dtype=float32",
            }.items()
        }
        for made in engines.values():
            made.translate(texts[:2])
        for _ in range(ROUNDS):
            for name, made in engines.items():
                started = time.perf_counter()
                made.translate(texts)
                speed = len(texts) / (time.perf_counter() - started)
                best[name] = max(best.get(name, 0), round(speed, 2))
                print(name, round(speed, 2), flush=True)
    plain = best["transformers"]
    ratios = {name: round(speed / plain, 1) for name, speed in best.items() if name != "transformers"}
    load = round(os.getloadavg()[0], 1)
    RESULTS.write_text(json.dumps({"sentences_per_second": best, "ratio": ratios, "load": load}, indent=2) + "\n")


if __name__ == "__main__":
    main()
