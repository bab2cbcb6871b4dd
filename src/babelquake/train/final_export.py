"""The last step of a run: export the best weights, measure them on the test split, and write the model card.

`python -m babelquake.train.final_export` does it for weights that were trained on another machine.
"""

import argparse
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from babelquake.train.config import Config, load
from babelquake.train.corpus import read_pairs, sha256, split_file
from babelquake.train.export import to_ctranslate2, unpack_int8
from babelquake.train.segmentation import segmentation
from babelquake.train.vocabulary import processor, vocabulary


def finish(
    weights: Path,
    history: Path,
    data: Path,
    cache: Path,
    out: Path,
    *,
    pieces: Path | None = None,
    data_source: str = "not stated",
    data_licence: str = "as stated by the owner of the data",
    hardware: str = "not stated",
    selection: str = "not stated",
) -> Path:
    """Write `out`: CTranslate2 int8 model, SentencePiece model and `card.json`, with BLEU if there is a test split.

    `pieces` is the SentencePiece model of weights that went on from another model's.
    """
    run = json.loads(history.read_text(encoding="utf-8"))
    config = load(run["config"])
    arrays = unpack_int8(weights)
    model = pieces or vocabulary(segmentation(config.segmentation).vocabulary, config.vocabulary, data, cache)
    to_ctranslate2(arrays, config.model, model, out)
    tested = bool(sorted(data.glob("test*.tsv*")))
    splits = ("train", "dev", "test") if tested else ("train", "dev")
    card: dict[str, Any] = {
        "name": config.name,
        "segmentation": config.segmentation,
        "parameters": int(sum(value.size for value in arrays.values())),
        "licence": "Apache-2.0",
        "data_source": data_source,
        "data_licence": data_licence,
        "data_sha256": {path.name: sha256(path) for path in (split_file(data, split) for split in splits)},
        "steps": run["step"],
        "best_step": run["best_step"],
        "dev_loss": round(run["best_loss"], 4),
        "training_tokens": run["tokens"],
        "training_seconds": round(run["seconds"], 1),
        "hardware": hardware,
        "bound": bound(config, run["step"]),
        "command": f"babelquake train nmt --config {config.name} --seed {config.seed} --data DIR --out DIR"
        + (f" --init {config.init}" if config.init else ""),
        "selection": selection,
        "config": config.to_dict() | {"steps": run["step"], "minutes": None},
        "history": run["history"],
    }
    if tested:
        card["test"] = evaluate(out, split_file(data, "test"))
    (out / "card.json").write_text(json.dumps(card, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return out


def bound(config: Config, steps: int) -> str:
    """What ended the run, and with it how closely the card's command repeats it."""
    if steps == config.steps:
        return "steps"
    return (
        "time: the learning rate fell to zero with the time left, and these were the steps done. The command repeats "
        "that with `steps` in the config and a learning rate that falls with the steps."
    )


def evaluate(folder: Path, test: Path) -> dict[str, Any]:
    """Case-insensitive BLEU (13a) of a model folder on a test file, with beam 4 and greedy."""
    import ctranslate2
    import sacrebleu

    pieces = processor(folder / "sentencepiece.model")
    translator = ctranslate2.Translator(str(folder), device="cpu", inter_threads=os.cpu_count() or 1, intra_threads=1)
    pairs = list(read_pairs(test))
    sources = [pieces.encode(source, out_type=str) for source, _ in pairs]
    references = [target for _, target in pairs]
    scores: dict[str, Any] = {"sentences": len(pairs), "metric": "BLEU, case-insensitive, 13a, int8 on CPU"}
    for name, beam in (("beam4", 4), ("greedy", 1)):
        results = translator.translate_batch(sources, beam_size=beam, max_batch_size=32, batch_type="examples")
        hypotheses = [pieces.decode(result.hypotheses[0]) for result in results]
        scores[name] = round(float(sacrebleu.corpus_bleu(hypotheses, [references], lowercase=True).score), 2)
    return scores


def main(arguments: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m babelquake.train.final_export", description=finish.__doc__)
    for name in ("weights", "history", "data", "cache", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    parser.add_argument("--pieces", type=Path, help="the SentencePiece model, where training began with --init")
    for name in ("data-source", "data-licence", "hardware", "selection"):
        parser.add_argument(f"--{name}", default=argparse.SUPPRESS, help="for the model card")
    print(finish(**vars(parser.parse_args(arguments))))


if __name__ == "__main__":
    main()
