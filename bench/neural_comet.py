"""COMET against unbabel-comet's predict: 1 reference × 20 variants, the same weights, the same values.

    python bench/neural_comet.py OFFICIAL [REFERENCES]

OFFICIAL is the Python of an environment with unbabel-comet (`make parity` builds one). A checkpoint with random
weights is made once; both sides score the same segments in alternating rounds, in processes of their own.
"""

import json
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "scripts" / "parity"))
VARIANTS, ROUNDS, THREADS = 20, 2, 1
OFFICIAL = """
import json, sys, time, warnings, logging
import torch
warnings.filterwarnings("ignore"); logging.disable(logging.CRITICAL)
torch.set_num_threads({threads})
from comet import load_from_checkpoint
samples = json.load(open(sys.argv[2]))
model = load_from_checkpoint(sys.argv[1] + "/checkpoints/model.ckpt")
device = torch.cuda.is_available()
model.predict(samples[:8], batch_size=8, gpus=int(device), num_workers=0, progress_bar=False)
began = time.perf_counter()
scores = model.predict(samples, batch_size=32, gpus=int(device), num_workers=0, progress_bar=False).scores
print("RESULT", json.dumps([time.perf_counter() - began, scores]))
"""


def checkpoint(folder: Path) -> Path:
    """A COMET checkpoint of a base encoder's shape: 12 layers of 256 numbers."""
    import checkpoints
    from checkpoints_comet import comet

    checkpoints.WIDTH, checkpoints.LAYERS, checkpoints.HEADS = 256, 12, 8
    import checkpoints_comet

    checkpoints_comet.WIDTH, checkpoints_comet.LAYERS = 256, 12
    return comet("wmt22-comet-da", folder)


def samples(references: int) -> list[dict[str, str]]:
    """Variants of translations that share a source and a reference."""
    from judged_segments import SENTENCES

    found = []
    for number in range(references):
        source, reference = SENTENCES[number % len(SENTENCES)]
        source, reference = f"{source} {source} {number}", f"{reference} {reference} {number}"
        words = reference.split()
        for variant in range(VARIANTS):
            at = variant % len(words)
            changed = [*words[:at], words[at][::-1] + str(variant), *words[at + 1 :]]
            found.append({"src": source, "mt": " ".join(changed), "ref": reference})
    return found


def ours(folder: Path, rows: list[dict[str, str]]) -> tuple[float, list[float]]:
    """Through the engine, as a study does; the model is loaded before the clock starts."""
    from babelquake.engine import Engine
    from babelquake.scorers import Questions, scorer

    made = scorer("comet", model=folder)
    columns = ([row[key] for row in rows] for key in ("mt", "ref", "src"))
    translations, references, sources = columns
    questions = Questions(translations, [[text] for text in references], sources)
    Engine(quiet=True).judge(made, questions.rows(0, 8))
    began = time.perf_counter()
    rows_found = Engine(quiet=True).judge(made, questions)
    return time.perf_counter() - began, rows_found[:, 0].tolist()


def main(official: str, references: int) -> None:
    """Alternate, compare, write."""
    import torch

    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as place:
        folder = checkpoint(Path(place) / "comet")
        rows = samples(references)
        table = Path(place) / "samples.json"
        table.write_text(json.dumps(rows))
        times: dict[str, list[float]] = {"babelquake": [], "unbabel-comet": []}
        for _ in range(ROUNDS):
            seconds, mine = ours(folder, rows)
            times["babelquake"].append(seconds)
            code = OFFICIAL.format(threads=THREADS)
            done = subprocess.run([official, "-c", code, str(folder), str(table)], capture_output=True, text=True)
            line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
            if line is None:
                raise SystemExit(done.stderr)
            seconds, theirs = json.loads(line.removeprefix("RESULT "))
            times["unbabel-comet"].append(seconds)
    difference = max(abs(a - b) for a, b in zip(mine, theirs, strict=True))
    best = {name: min(found) for name, found in times.items()}
    result = {
        "references": references,
        "variants": VARIANTS,
        "device": torch.cuda.get_device_name() if torch.cuda.is_available() else "CPU, one thread",
        "seconds": {name: round(found, 2) for name, found in best.items()},
        "ratio": round(best["unbabel-comet"] / best["babelquake"], 2),
        "largest difference": difference,
        "torch": version("torch"),
    }
    print(json.dumps(result, indent=2))
    kind = "gpu" if torch.cuda.is_available() else "cpu"
    (ROOT / "bench" / "results" / f"neural_comet_{kind}.json").write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 500)
